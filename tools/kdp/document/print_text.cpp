// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <algorithm>

#include <fmt/format.h>

#include "document/tables.hpp"
#include "lines.hpp"
#include "text_table.hpp"

namespace kdp::tool::document {
namespace {

std::string table_text(const Table& table)
{
    std::vector<TextTable::Column> columns;
    for (const std::string& head : table.heads)
        columns.push_back({head, table.heads.size() > 1 ? Align::right : Align::left});
    for (const std::string& column : table.columns)
        columns.push_back({column, Align::right});
    TextTable text(std::move(columns));
    for (const Table::Row& row : table.rows) {
        std::vector<std::string> cells = row.heads;
        for (const Cell& cell : row.cells)
            cells.push_back(cell.half_width.empty()
                                ? cell.mean
                                : fmt::format("{} ± {}", cell.mean, cell.half_width));
        text.add_row(std::move(cells));
    }
    return fmt::format("{}{}\n{}\n", table.title,
                       table.unit.empty() ? "" : fmt::format(", {}", table.unit), text.to_string());
}

std::string facts_text(const std::vector<Fact>& facts)
{
    std::string out;
    for (const Fact& fact : facts)
        out += filled(fmt::format("{:<10}", fact.name), 0, fact.value);
    return out;
}

std::string environment_text(const Environment& environment)
{
    std::string out = facts_text(facts(environment));
    for (const std::string& sentence : environment.distortions)
        out += filled("note      ", 0, sentence);
    return out;
}

std::string load_text(const Bench& bench, const Load& load)
{
    std::string out = fmt::format("== {}\n\n", load_name(load));
    for (const Table& table : tables_of(bench, load))
        out += table_text(table);
    if (const Table table = percentile_table(bench, load); !table.rows.empty())
        out += table_text(table);
    for (const Table& table : projection_tables(bench, load))
        out += "PROJECTION, not measured: " + table_text(table);
    return out;
}

std::string failure_text(const RunFailure& failure)
{
    return filled("! ", 0,
                  fmt::format("the run ended early: {}{}{}", failure.subject,
                              failure.subject.empty() ? "" : ": ", failure.text));
}

std::string formulas_text(const Bench& bench)
{
    std::string out;
    for (const std::string& formula : bench.formulas())
        out += filled("* projection: ", 0, formula);
    return out;
}

}  // namespace

std::string to_text(const Bench& bench)
{
    std::string out = environment_text(bench.environment);
    std::string load;
    for (const Fact& fact : option_facts(bench))
        load += fmt::format("{}{} {}", load.empty() ? "" : "; ", fact.name, fact.value);
    out += filled("options   ", 0, load) + "\n";
    if (bench.failure)
        out += failure_text(*bench.failure) + "\n";
    if (bench.interrupted)
        out += "! the run was interrupted: what was measured by then is all there is\n\n";
    for (std::size_t i = 0; i < bench.paths.size(); i++)
        out += fmt::format("[{}] {}   {}\n", i + 1, bench.paths[i].name, bench.paths[i].uri);
    out += bench.paths.empty() ? "" : "\n";
    if (bench.points.empty())
        out += "nothing was measured\n";
    else
        out += filled("", 0, "Means of the rounds ± half of their 95 % interval; – is not known.") +
               "\n";
    for (const Load& one : bench.loads())
        out += load_text(bench, one);
    for (const std::string& why : {bench.system_calls_unavailable, bench.profile_unavailable})
        if (!why.empty())
            out += filled("* ", 0, why);
    return printable(out + formulas_text(bench));
}

std::string to_text(const Experiment& experiment)
{
    std::string out = fmt::format("{}: {}\n\n", experiment.name, experiment.title);
    if (experiment.environment)
        out += environment_text(*experiment.environment);
    for (const std::string& note : experiment.notes)
        out += filled("note      ", 0, note);
    out += experiment.environment || !experiment.notes.empty() ? "\n" : "";
    for (const Table& table : tables_of(experiment))
        out += table_text(table);
    return printable(out);
}

}  // namespace kdp::tool::document
