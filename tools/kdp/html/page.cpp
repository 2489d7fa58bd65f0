// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "html/page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "html/assets.hpp"
#include "html/escape.hpp"
#include "html/sections.hpp"

namespace kdp::tool::html {
namespace {

using namespace document;

/// One document's part of the page, and what its charts are drawn from.
struct Part {
    std::string title;
    std::string html;
    Json charts = Json::array();
};

std::string paths_html(const Bench& bench)
{
    std::string out =
        "<div class=\"scroll\"><table class=\"wide\"><caption>Paths</caption><thead><tr>"
        "<th scope=\"col\">path</th><th scope=\"col\">URI</th><th scope=\"col\">device</th>"
        "<th scope=\"col\">RDMA device</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < bench.paths.size(); i++) {
        const BenchPath& path = bench.paths[i];
        out += fmt::format(
            "<tr><th scope=\"row\">{}</th><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n",
            path_html(bench, i), escape(path.uri), escape(path.device),
            path.rdma_device.empty() ? "–" : escape(path.rdma_device));
    }
    return out + "</tbody></table></div>\n";
}

std::string failures_html(const Bench& bench)
{
    std::string out;
    if (bench.failure)
        out += callout_html(
            true, "The run failed; what was measured before it stands.",
            fmt::format("{}{}{}{}", bench.failure->subject,
                        bench.failure->subject.empty() ? "" : ": ", bench.failure->text,
                        bench.failure->errno_name.empty()
                            ? ""
                            : fmt::format(" ({})", bench.failure->errno_name)));
    if (bench.interrupted)
        out += callout_html(true, "The run was interrupted.",
                            "What was measured by then is all there is.");
    return out;
}

std::string projection_html(const Bench& bench)
{
    std::string tables;
    for (const Load& load : bench.loads())
        for (Table& table : projection_tables(bench, load)) {
            table.title = fmt::format("{}: {}", load_name(load), table.title);
            tables += table_html(table);
        }
    if (tables.empty())
        return "";
    std::string list;
    for (const std::string& formula : bench.formulas())
        list += fmt::format("<li><code>{}</code></li>\n", escape(formula));
    return fmt::format(
        "<h2>Projection</h2>\n<section class=\"projection\"><h3><span class=\"stamp\">PROJECTION"
        "</span>Computed, not measured</h3>\n<p class=\"lead small\">What the same paths would "
        "give on a fabric that does its transport in hardware, from what they cost here without "
        "the provider, by</p>\n<ul class=\"notes\">{}</ul>\n<div class=\"tables\">{}</div>"
        "</section>\n",
        list, tables);
}

std::string figures_html(const Bench& bench)
{
    std::string out =
        "<h2>All figures</h2>\n<p class=\"lead\">Means of the rounds ± half of their "
        "95 % interval; – is not known.</p>\n";
    for (const Load& load : bench.loads()) {
        std::string first, further;
        for (const Table& table : tables_of(bench, load))
            (table.main ? first : further) += table_html(table);
        if (const Table table = percentile_table(bench, load); !table.rows.empty())
            further += table_html(table);
        out += fmt::format("<h3>{}</h3>\n<div class=\"tables\">{}</div>\n", escape(load_name(load)),
                           first);
        if (!further.empty())
            out += fmt::format(
                "<details><summary>Further figures of {}</summary><div class=\"tables\">{}</div>"
                "</details>\n",
                escape(load_name(load)), further);
    }
    return out;
}

std::string environment_html(const Environment& environment, const std::vector<Fact>& options)
{
    std::string out = "<h2>Where and how it was measured</h2>\n";
    std::vector<Fact> all = facts(environment);
    std::string asked;
    for (const Fact& fact : options)
        asked += fmt::format("{}{} {}", asked.empty() ? "" : "; ", fact.name, fact.value);
    if (!asked.empty())
        all.push_back({"options", asked});
    out += facts_html(all);
    if (!environment.distortions.empty())
        out += "<h3>What this environment does to the figures</h3>\n" +
               notes_html(environment.distortions);
    return out;
}

std::string lead_of(const Bench& bench)
{
    std::string loads;
    for (const Load& load : bench.loads())
        loads += (loads.empty() ? "" : "; ") + load_name(load);
    return fmt::format("{} {} side by side. {}", bench.paths.size(),
                       bench.paths.size() == 1 ? "path" : "paths",
                       loads.empty() ? "Nothing was measured." : fmt::format("Load: {}.", loads));
}

void keep(Part& part, const std::vector<Chart>& charts)
{
    for (const Chart& chart : charts)
        part.charts.push_back(chart.data);
}

Part part_of(const Bench& bench, const std::string& prefix, const std::vector<advise::Need>& needs)
{
    Part part;
    part.title = "Data paths, side by side";
    const advise::Advice advice = advise::advise(bench, needs);
    const auto charts = charts_of(bench, prefix);
    keep(part, charts);
    part.html = fmt::format("<p class=\"lead\">{}</p>\n", escape(lead_of(bench)));
    part.html += failures_html(bench);
    if (!advice.claim.headline.empty())
        part.html += callout_html(false, advice.claim.headline, advice.claim.explanation);
    if (!bench.paths.empty())
        part.html += paths_html(bench);
    if (!bench.points.empty()) {
        part.html += charts_html(charts);
        part.html += advice_html(bench, advice);
        part.html += projection_html(bench);
        part.html += figures_html(bench);
    }
    part.html += environment_html(bench.environment, option_facts(bench));
    std::vector<std::string> notes;
    for (const std::string& why : {bench.system_calls_unavailable, bench.profile_unavailable})
        if (!why.empty())
            notes.push_back(why);
    part.html += notes_html(notes);
    return part;
}

Part part_of(const Experiment& experiment, const std::string& prefix,
             const std::vector<advise::Need>&)
{
    Part part;
    part.title = experiment.title;
    const auto charts = charts_of(experiment, prefix);
    keep(part, charts);
    part.html = fmt::format("<p class=\"lead\">Experiment: {}</p>\n", escape(experiment.name));
    part.html += notes_html(experiment.notes) + charts_html(charts);
    part.html += "<h2>All figures</h2>\n<div class=\"tables\">";
    for (const Table& table : tables_of(experiment))
        part.html += table_html(table);
    part.html += "</div>\n";
    if (experiment.environment)
        part.html += environment_html(*experiment.environment, {});
    return part;
}

std::string navigation(const std::vector<Part>& parts)
{
    if (parts.size() < 2)
        return "";
    std::string out = "<nav aria-label=\"Contents\"><ul>";
    for (std::size_t i = 0; i < parts.size(); i++)
        out += fmt::format("<li><a href=\"#d{}\">{}</a></li>", i + 1, escape(parts[i].title));
    return out + "</ul></nav>\n";
}

}  // namespace

std::string page(std::span<const NamedDocument> documents, const std::vector<advise::Need>& needs)
{
    std::vector<Part> parts;
    Json charts = Json::array();
    for (const NamedDocument& named : documents) {
        const std::string prefix = fmt::format("d{}-", parts.size() + 1);
        parts.push_back(std::visit([&](const auto& one) { return part_of(one, prefix, needs); },
                                   named.document));
        for (const Json& chart : parts.back().charts)
            charts.push_back(chart);
    }
    std::string body = navigation(parts);
    for (std::size_t i = 0; i < parts.size(); i++)
        body += fmt::format(
            "<article class=\"document\" id=\"d{}\">\n<p class=\"kicker\">kdp report{}</p>\n"
            "<h1>{}</h1>\n{}</article>\n",
            i + 1, documents[i].name.empty() ? "" : fmt::format(" · {}", escape(documents[i].name)),
            escape(parts[i].title), parts[i].html);
    // Nothing may be loaded, whatever a text in here should manage to ask for.
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>\n{}\n{}</style>\n</head>\n<body>\n<main>\n{}</main>\n"
        "<footer><p>Written by kdp. Charts: uPlot, © Leon Sorokin, MIT licence.</p></footer>\n"
        "<script type=\"application/json\" id=\"kdp-data\">{}</script>\n"
        "<script>{}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
        escape(parts.size() == 1 ? parts.front().title + " – kdp" : "kdp report"), uplot_css,
        report_css, body, script_json(charts), uplot_js, report_js);
}

Result<std::string> bench_page(const Json& bench, const std::vector<advise::Need>& needs)
{
    auto read = read_bench(bench);
    if (!read)
        return read.error();
    const NamedDocument named{"", std::move(*read)};
    return page(std::span(&named, 1), needs);
}

}  // namespace kdp::tool::html
