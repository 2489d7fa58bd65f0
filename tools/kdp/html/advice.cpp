// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "advise/sentences.hpp"
#include "html/escape.hpp"
#include "html/sections.hpp"

namespace kdp::tool::html {
namespace {

using namespace advise;
using document::Bench;

std::string gain_text(const Verdict& verdict)
{
    if (!verdict.gain)
        return "";
    const double percent = *verdict.gain * 100;
    return fmt::format("{:.{}f} % {}", percent, percent < 9.95 ? 1 : 0,
                       less_is_better(verdict.figure) ? "lower" : "higher");
}

std::string verdict_html(const Bench& bench, const Verdict* verdict)
{
    if (!verdict || verdict->finding == Finding::nothing)
        return "<td class=\"tie\">–</td>";
    const std::size_t first = verdict->leaders.front();
    if (verdict->finding == Finding::winner)
        return fmt::format("<td class=\"win s{}\">{}<span class=\"gain\">{}</span></td>", first % 8,
                           path_html(bench, first), gain_text(*verdict));
    if (verdict->finding == Finding::alone)
        return fmt::format("<td class=\"tie\">{}<span class=\"gain\">alone</span></td>",
                           path_html(bench, first));
    std::string who;
    if (!verdict->behind.empty())
        for (const std::size_t path : verdict->leaders)
            who += (who.empty() ? "" : ", ") + escape(bench.paths[path].name);
    return fmt::format(
        "<td class=\"tie\">no difference shown{}</td>",
        who.empty() ? "" : fmt::format("<span class=\"gain\">between {}</span>", who));
}

/// Block sizes down, depths across, the best path in each cell.
std::string best_html(const Bench& bench, const Comparison& comparison)
{
    std::set<std::uint64_t> sizes, depths;
    for (const Verdict& verdict : comparison.verdicts) {
        sizes.insert(verdict.bs);
        depths.insert(verdict.depth);
    }
    std::string out = "<div class=\"scroll\"><table class=\"best\"><thead><tr><th></th>";
    for (const std::uint64_t depth : depths)
        out += fmt::format("<th scope=\"col\">depth {}</th>", depth);
    out += "</tr></thead><tbody>\n";
    for (const std::uint64_t bs : sizes) {
        out += fmt::format("<tr><th scope=\"row\">{}</th>", document::size_name(bs));
        for (const std::uint64_t depth : depths) {
            const auto it = std::find_if(
                comparison.verdicts.begin(), comparison.verdicts.end(),
                [&](const Verdict& one) { return one.bs == bs && one.depth == depth; });
            out += verdict_html(bench, it == comparison.verdicts.end() ? nullptr : &*it);
        }
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string statements_html(const Bench& bench, const Comparison& comparison)
{
    std::string out = "<ul class=\"statements small\">";
    const auto add = [&](const std::string& where, const std::string& what) {
        out +=
            fmt::format("<li><span>{}</span><span>{}</span></li>\n", escape(where), escape(what));
    };
    for (const Region& region : comparison.regions)
        add(area(region), statement(bench, region));
    for (const Crossing& crossing : comparison.crossings)
        add("crossing", statement(bench, crossing));
    return out + "</ul>\n";
}

std::string comparison_html(const Bench& bench, const Comparison& comparison)
{
    return fmt::format("<div><h3>{}: {}</h3>\n<p class=\"small soft\">{}</p>\n{}{}</div>\n",
                       escape(document::load_name(comparison.load)), escape(heading(comparison)),
                       escape(sureness(comparison)), best_html(bench, comparison),
                       statements_html(bench, comparison));
}

std::string short_html(const Bench& bench, const Advice& advice)
{
    std::string out = "<ul class=\"statements short\">";
    for (const Comparison& comparison : advice.comparisons)
        out += fmt::format("<li><span>{}, {}</span><span>{}</span></li>\n",
                           escape(document::load_name(comparison.load)),
                           escape(figure_name(comparison.figure)),
                           escape(in_short(bench, comparison)));
    return out + "</ul>\n";
}

std::string needs_html(const Bench& bench, const Advice& advice)
{
    std::string out = "<h3>What overrules the figures</h3>\n<ul class=\"statements small\">";
    for (const Need need : all_needs) {
        const bool given =
            std::find(advice.needs.begin(), advice.needs.end(), need) != advice.needs.end();
        std::string left;
        for (std::size_t path = 0; path < bench.paths.size(); path++)
            if (!why_not(need, bench.paths[path].uri))
                left += (left.empty() ? "" : ", ") + bench.paths[path].name;
        out += fmt::format("<li><span>{}{}</span><span>{} Candidates here: {}.</span></li>\n",
                           given ? "Given: " : "If ", escape(need_condition(need)),
                           escape(need_caveat(need)), left.empty() ? "none" : escape(left));
    }
    return out + "</ul>\n";
}

std::string excluded_html(const Bench& bench, const Advice& advice)
{
    std::vector<std::string> sentences;
    for (const Candidate& candidate : advice.candidates)
        for (const std::string& why : candidate.excluded)
            sentences.push_back(
                fmt::format("{} is no candidate. {}.", bench.paths[candidate.path].name, why));
    return notes_html(sentences);
}

}  // namespace

std::string advice_html(const Bench& bench, const Advice& advice)
{
    std::string out = "<h2>Which path</h2>\n";
    out += fmt::format("<p class=\"lead\">{}</p>\n", escape(rule()));
    out += notes_html(advice.limits) + excluded_html(bench, advice);
    if (advice.eligible().size() > 1) {
        out += short_html(bench, advice) + "<div class=\"advice\">\n";
        for (const Comparison& comparison : advice.comparisons)
            if (comparison.winners + comparison.ties != 0)
                out += comparison_html(bench, comparison);
        out += "</div>\n";
    }
    return out + needs_html(bench, advice);
}

}  // namespace kdp::tool::html
