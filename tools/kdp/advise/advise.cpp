// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/advise.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kdp::tool::advise {
namespace {

using document::Bench;
using document::Point;

/// Without a core to spare the CPU figures speak first.
std::vector<Figure> figures_by_weight(const std::vector<Need>& needs)
{
    std::vector<Figure> figures(all_figures.begin(), all_figures.end());
    if (std::find(needs.begin(), needs.end(), Need::no_spare_core) != needs.end())
        std::rotate(figures.begin(), std::find(figures.begin(), figures.end(), Figure::cpu),
                    figures.end());
    return figures;
}

Comparison compare(Figure figure, const document::Load& load, const Bench& bench,
                   const std::vector<std::size_t>& paths)
{
    Comparison comparison;
    comparison.figure = figure;
    comparison.load = load;
    for (const Point& point : bench.points) {
        if (point.load != load)
            continue;
        Verdict verdict = judge(figure, point, paths);
        comparison.winners += verdict.finding == Finding::winner;
        comparison.ties += verdict.finding == Finding::tie;
        comparison.process_cpu_only =
            comparison.process_cpu_only ||
            (verdict.finding != Finding::nothing && verdict.key == "cpu_process_us_per_io");
        comparison.verdicts.push_back(std::move(verdict));
    }
    comparison.regions = merge(comparison.verdicts);
    comparison.crossings = crossings(comparison.verdicts);
    return comparison;
}

std::string point_name(const Point& point)
{
    return fmt::format("{}, {}, depth {}", document::load_name(point.load),
                       document::size_name(point.bs), point.depth);
}

/// Of the paths that do not have all points: at how many they lack, and why.
void tell_gaps(const Bench& bench, std::size_t path, std::vector<std::string>& limits)
{
    std::size_t missing = 0, failed = 0, single = 0;
    const Point* where = nullptr;
    std::string why;
    for (const Point& point : bench.points) {
        const document::PathResult* result = point.find(path);
        if (!result || (result->rounds == 0 && !result->failure)) {
            missing++;
        } else if (result->failure) {
            if (failed++ == 0) {
                where = &point;
                why = result->failure->text;
            }
        } else if (result->rounds == 1) {
            single++;
        }
    }
    const std::string& name = bench.paths[path].name;
    const std::size_t all = bench.points.size();
    if (failed != 0)
        limits.push_back(
            fmt::format("{} failed at {} of {} points and is not compared there; at "
                        "{}: {}",
                        name, failed, all, point_name(*where), why));
    if (missing != 0)
        limits.push_back(
            fmt::format("{} was not measured at {} of {} points.", name, missing, all));
    if (single != 0)
        limits.push_back(
            fmt::format("{} has one round only at {} of {} points: without an "
                        "interval no difference can be shown. Measure with --rounds "
                        "3 or more.",
                        name, single, all));
}

std::vector<std::string> limits_of(const Bench& bench, const std::vector<std::size_t>& eligible)
{
    std::vector<std::string> limits;
    if (bench.paths.empty() || bench.points.empty()) {
        limits.emplace_back("Nothing was measured.");
    } else if (eligible.empty()) {
        limits.emplace_back("No path that was measured meets these needs.");
    } else if (eligible.size() == 1) {
        limits.push_back(fmt::format("{} alone is left: there is nothing to compare it with.",
                                     bench.paths[eligible.front()].name));
    }
    if (bench.failure)
        limits.push_back(fmt::format("The run ended early: {}{}{}", bench.failure->subject,
                                     bench.failure->subject.empty() ? "" : ": ",
                                     bench.failure->text));
    if (bench.interrupted)
        limits.emplace_back("The run was interrupted: what was measured by then is all there is.");
    for (const std::size_t path : eligible)
        tell_gaps(bench, path, limits);
    return limits;
}

}  // namespace

std::vector<std::size_t> Advice::eligible() const
{
    std::vector<std::size_t> paths;
    for (const Candidate& candidate : candidates)
        if (candidate.excluded.empty())
            paths.push_back(candidate.path);
    return paths;
}

Advice advise(const Bench& bench, const std::vector<Need>& needs)
{
    Advice advice;
    advice.claim = claim_of(bench);
    advice.needs = needs;
    for (std::size_t path = 0; path < bench.paths.size(); path++) {
        Candidate candidate{.path = path, .excluded = {}};
        for (const Need need : needs)
            if (const auto why = why_not(need, bench.paths[path].uri))
                candidate.excluded.push_back(fmt::format("{}: {}", need_name(need), *why));
        advice.candidates.push_back(std::move(candidate));
    }
    const std::vector<std::size_t> eligible = advice.eligible();
    for (const document::Load& load : bench.loads())
        for (const Figure figure : figures_by_weight(needs))
            advice.comparisons.push_back(compare(figure, load, bench, eligible));
    advice.limits = limits_of(bench, eligible);
    return advice;
}

}  // namespace kdp::tool::advise
