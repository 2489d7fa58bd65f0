// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/results.hpp"

#include <algorithm>

namespace kdp::tool::bench {

Latencies Latencies::of(const Histogram& histogram)
{
    return {histogram.mean(), histogram.percentile(50), histogram.percentile(99),
            histogram.percentile(99.9), histogram.max()};
}

Histogram PathResult::latency() const
{
    Histogram all = reads;
    all.merge(writes);
    return all;
}

bool RunReport::has_figures() const noexcept
{
    return std::any_of(points.begin(), points.end(), [](const PointReport& point) {
        return std::any_of(point.results.begin(), point.results.end(),
                           [](const PathResult& result) { return !result.turns.empty(); });
    });
}

std::optional<profile::Breakdown> whole_breakdown(const PathResult& result)
{
    std::optional<profile::Breakdown> whole;
    for (const Turn& turn : result.turns) {
        if (!turn.breakdown)
            continue;
        if (whole)
            *whole += *turn.breakdown;
        else
            whole = turn.breakdown;
    }
    return whole;
}

}  // namespace kdp::tool::bench
