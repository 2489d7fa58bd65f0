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

}  // namespace kdp::tool::bench
