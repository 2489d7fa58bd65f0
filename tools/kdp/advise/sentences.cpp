// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/sentences.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace kdp::tool::advise {
namespace {

using document::Bench;
using document::size_name;

std::string sizes(const Range& range)
{
    return range.from == range.to
               ? size_name(range.from)
               : fmt::format("{}–{}", size_name(range.from), size_name(range.to));
}

std::string depths(const Range& range)
{
    return range.from == range.to ? fmt::format("depth {}", range.from)
                                  : fmt::format("depth {}–{}", range.from, range.to);
}

/// "a", "a and b", "a, b and c".
std::string listed(const Bench& bench, const std::vector<std::size_t>& paths)
{
    std::string text;
    for (std::size_t i = 0; i < paths.size(); i++) {
        if (i != 0)
            text += i + 1 == paths.size() ? " and " : ", ";
        text += bench.paths[paths[i]].name;
    }
    return text;
}

/// 0.1234 as "12", 0.0123 as "1.2", 0.00012 as "0.01".
std::string percent(double part)
{
    const double value = part * 100;
    return fmt::format("{:.{}f}", value, value >= 9.95 ? 0 : value >= 0.095 ? 1 : 2);
}

std::string gain_of(const Region& region)
{
    if (!region.gain)
        return "";
    const std::string least = percent(region.gain->least), most = percent(region.gain->most);
    std::string text = fmt::format(", {} % {} than the next",
                                   least == most ? least : fmt::format("{}–{}", least, most),
                                   less_is_better(region.figure) ? "lower" : "higher");
    const std::string sure = percent(std::max(region.gain->sure, 0.0));
    if (sure != least)
        text += fmt::format(" (at least {} % by the intervals)", sure);
    return text;
}

}  // namespace

std::string area(const Region& region)
{
    return fmt::format("{}, {}", sizes(region.bs), depths(region.depth));
}

std::string statement(const Bench& bench, const Region& region)
{
    switch (region.finding) {
        case Finding::winner:
            return listed(bench, region.leaders) + gain_of(region);
        case Finding::tie: {
            std::string text =
                fmt::format("no difference shown between {}", listed(bench, region.leaders));
            if (!region.behind.empty())
                text += fmt::format("; {} {} behind", listed(bench, region.behind),
                                    region.behind.size() == 1 ? "is" : "are");
            if (!region.uncertain.empty())
                text += region.uncertain.size() == region.leaders.size()
                            ? " (one round: no intervals)"
                            : fmt::format(" (no interval of {})", listed(bench, region.uncertain));
            return text;
        }
        case Finding::alone:
            return fmt::format("{} alone was measured: nothing to compare with",
                               listed(bench, region.leaders));
        case Finding::nothing:
            break;
    }
    return "not known of any path";
}

std::string statement(const Bench& bench, const Crossing& crossing)
{
    const std::string& before = bench.paths[crossing.before].name;
    const std::string& after = bench.paths[crossing.after].name;
    const Range& between = crossing.between;
    std::string text =
        crossing.along_depth
            ? fmt::format("at {}: {} up to depth {}, {} from depth {}", sizes(crossing.at), before,
                          between.from, after, between.to)
            : fmt::format("at {}: {} up to {}, {} from {}", depths(crossing.at), before,
                          size_name(between.from), after, size_name(between.to));
    if (crossing.ties_between)
        text += " (no difference shown between)";
    return text;
}

std::string sureness(const Comparison& comparison)
{
    const unsigned judged = comparison.winners + comparison.ties;
    unsigned rounds = 0;
    for (const Region& region : comparison.regions)
        if (region.finding == Finding::winner || region.finding == Finding::tie)
            rounds = rounds == 0 ? region.rounds : std::min(rounds, region.rounds);
    if (judged == 0)
        return "nothing to compare";
    return fmt::format("a best path is shown at {} of {} {}, {} {}{}", comparison.winners, judged,
                       judged == 1 ? "point" : "points", rounds, rounds == 1 ? "round" : "rounds",
                       comparison.verdicts.size() > 1 ? " at least" : "");
}

std::string in_short(const Bench& bench, const Comparison& comparison)
{
    std::map<std::size_t, unsigned> wins;
    for (const Verdict& verdict : comparison.verdicts)
        if (verdict.finding == Finding::winner)
            wins[verdict.leaders.front()]++;
    const unsigned judged = comparison.winners + comparison.ties;
    if (judged == 0)
        return "nothing to compare";
    std::vector<std::pair<std::size_t, unsigned>> order(wins.begin(), wins.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [path, times] : order)
        text += fmt::format("{}{} at {}{}", text.empty() ? "" : ", ", bench.paths[path].name, times,
                            text.empty() ? fmt::format(" of {}", judged) : "");
    if (text.empty())
        return judged == 1 ? "no difference shown"
                           : fmt::format("no difference shown at any of {} points", judged);
    if (comparison.ties != 0)
        text += fmt::format("; no difference shown at {}", comparison.ties);
    return text;
}

std::string heading(const Comparison& comparison)
{
    std::string text(figure_name(comparison.figure));
    if (comparison.process_cpu_only)
        text += " (of this process alone: the kernel's own threads are not in it)";
    return text;
}

std::string_view rule() noexcept
{
    return "A path is called better only where the 95 % intervals of the means, over the rounds, "
           "do not touch. Between measured sizes and depths nothing is known.";
}

}  // namespace kdp::tool::advise
