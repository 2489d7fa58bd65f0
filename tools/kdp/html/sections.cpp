// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "html/sections.hpp"

#include <fmt/format.h>

#include "html/escape.hpp"

namespace kdp::tool::html {
namespace {

using namespace document;

std::string cell_html(const Cell& cell)
{
    if (cell.half_width.empty())
        return fmt::format("<td class=\"n{}\">{}</td>", cell.value ? "" : " none",
                           escape(cell.mean));
    return fmt::format("<td class=\"n\">{} <span class=\"pm\">± {}</span></td>", escape(cell.mean),
                       escape(cell.half_width));
}

std::string figure_html(const Chart& chart)
{
    std::string choice;
    if (chart.variants.size() == 1) {
        choice = fmt::format("<span class=\"variant\">{}</span>", escape(chart.variants.front()));
    } else {
        std::string options;
        for (std::size_t i = 0; i < chart.variants.size(); i++)
            options +=
                fmt::format("<option value=\"{}\">{}</option>", i, escape(chart.variants[i]));
        choice = fmt::format("<select aria-label=\"{}: which load\">{}</select>",
                             escape(chart.title), options);
    }
    return fmt::format(
        "<figure id=\"{0}\"><figcaption><h3>{1}</h3>{2}</figcaption><ul class=\"legend\"></ul>"
        "<div class=\"plot\" role=\"img\" aria-label=\"Chart: {1}. The figures stand in the tables "
        "as well.\"><noscript>The charts need JavaScript; the tables below have their "
        "figures.</noscript></div>{3}</figure>\n",
        escape(chart.id), escape(chart.title), choice,
        chart.hint.empty() ? "" : fmt::format("<p class=\"hint\">{}</p>", escape(chart.hint)));
}

}  // namespace

std::string table_html(const Table& table)
{
    std::string out = fmt::format(
        "<div class=\"scroll\"><table class=\"wide\"><caption>{}{}</caption><thead><tr>",
        escape(table.title),
        table.unit.empty() ? "" : fmt::format(" <span>{}</span>", escape(table.unit)));
    for (const std::string& head : table.heads)
        out += fmt::format("<th scope=\"col\">{}</th>", escape(head));
    for (const std::string& column : table.columns)
        out += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", escape(column));
    out += "</tr></thead><tbody>\n";
    for (const Table::Row& row : table.rows) {
        out += "<tr>";
        for (const std::string& head : row.heads)
            out += fmt::format("<th scope=\"row\">{}</th>", escape(head));
        for (const Cell& cell : row.cells)
            out += cell_html(cell);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string facts_html(const std::vector<Fact>& facts)
{
    std::string out = "<dl class=\"facts\">";
    for (const Fact& fact : facts)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(fact.name), escape(fact.value));
    return out + "</dl>\n";
}

std::string notes_html(const std::vector<std::string>& sentences)
{
    if (sentences.empty())
        return "";
    std::string out = "<ul class=\"notes\">";
    for (const std::string& sentence : sentences)
        out += fmt::format("<li>{}</li>\n", escape(sentence));
    return out + "</ul>\n";
}

std::string charts_html(const std::vector<Chart>& charts)
{
    if (charts.empty())
        return "";
    std::string out = "<div class=\"charts\">\n";
    for (const Chart& chart : charts)
        out += figure_html(chart);
    return out + "</div>\n";
}

std::string callout_html(bool bad, const std::string& headline, const std::string& text)
{
    return fmt::format(
        "<div class=\"callout{}\" role=\"note\"><p><strong>{}</strong>{}</p></div>\n",
        bad ? " bad" : "", escape(headline), escape(text));
}

std::string path_html(const Bench& bench, std::size_t path)
{
    return fmt::format("<span data-swatch=\"{}\">{}</span>", path, escape(bench.paths[path].name));
}

}  // namespace kdp::tool::html
