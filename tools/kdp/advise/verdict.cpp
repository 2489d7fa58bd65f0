// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/verdict.hpp"

#include <algorithm>

namespace kdp::tool::advise {
namespace {

using document::Estimate;

struct Standing {
    std::size_t path = 0;
    Estimate estimate;
};

/// Best mean first.
std::vector<Standing> standings(Figure figure, std::string_view key, const document::Point& point,
                                const std::vector<std::size_t>& paths)
{
    std::vector<Standing> all;
    for (const std::size_t path : paths) {
        const document::PathResult* result = point.find(path);
        if (!result || result->failure)
            continue;
        if (const Estimate* estimate = result->find(key))
            all.push_back({path, as_measured(*result, key, *estimate)});
    }
    std::stable_sort(all.begin(), all.end(), [&](const Standing& a, const Standing& b) {
        return less_is_better(figure) ? a.estimate.mean < b.estimate.mean
                                      : a.estimate.mean > b.estimate.mean;
    });
    return all;
}

/// How much better @p better is, as a part of @p worse: 0.12.
std::optional<double> part_of(Figure figure, double better, double worse)
{
    if (worse <= 0 || better < 0)
        return std::nullopt;
    return less_is_better(figure) ? 1 - better / worse : better / worse - 1;
}

void measure_gain(Verdict& verdict, const std::vector<Standing>& all)
{
    const Estimate& winner = all.front().estimate;
    const bool less = less_is_better(verdict.figure);
    verdict.gain = part_of(verdict.figure, winner.mean, all[1].estimate.mean);
    for (std::size_t i = 1; i < all.size(); i++) {
        const Estimate& other = all[i].estimate;
        const auto least = part_of(verdict.figure, less ? winner.high() : winner.low(),
                                   less ? other.low() : other.high());
        if (i == 1)
            verdict.gain_at_least = least;
        else if (least && verdict.gain_at_least)
            verdict.gain_at_least = std::min(*least, *verdict.gain_at_least);
    }
}

}  // namespace

bool apart(const Estimate& a, const Estimate& b) noexcept
{
    return a.half_width && b.half_width && (a.high() < b.low() || b.high() < a.low());
}

Verdict judge(Figure figure, const document::Point& point, const std::vector<std::size_t>& paths)
{
    Verdict verdict;
    verdict.figure = figure;
    verdict.key = summary_key(figure, point, paths);
    verdict.load = point.load;
    verdict.bs = point.bs;
    verdict.depth = point.depth;
    const std::vector<Standing> all = standings(figure, verdict.key, point, paths);
    if (all.empty())
        return verdict;
    verdict.rounds = all.front().estimate.rounds;
    for (const Standing& one : all) {
        verdict.rounds = std::min(verdict.rounds, one.estimate.rounds);
        const bool worse = apart(one.estimate, all.front().estimate);
        (worse ? verdict.behind : verdict.leaders).push_back(one.path);
        if (!one.estimate.half_width)
            verdict.uncertain.push_back(one.path);
    }
    if (all.size() == 1)
        verdict.finding = Finding::alone;
    else if (verdict.leaders.size() > 1)
        verdict.finding = Finding::tie;
    else {
        verdict.finding = Finding::winner;
        measure_gain(verdict, all);
    }
    return verdict;
}

}  // namespace kdp::tool::advise
