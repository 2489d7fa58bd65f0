// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// From points to regions of block size and depth, and to the places where the best path changes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "advise/verdict.hpp"

namespace kdp::tool::advise {

/// From and to, both measured; between measured values nothing is known.
struct Range {
    std::uint64_t from = 0;
    std::uint64_t to = 0;

    bool operator==(const Range&) const = default;
};

/// Points next to each other in block size and depth with the same finding.
struct Region {
    Figure figure = Figure::latency;
    document::Load load;
    Range bs;
    Range depth;
    unsigned points = 0;
    Finding finding = Finding::nothing;
    std::vector<std::size_t> leaders;    ///< in the order of the paths; a winner alone
    std::vector<std::size_t> behind;     ///< at every point
    std::vector<std::size_t> uncertain;  ///< without an interval at any point
    struct Gain {
        double least = 0, most = 0;  ///< of the means, over the points
        double sure = 0;             ///< what the intervals leave at the worst point
    };
    std::optional<Gain> gain;  ///< of a winner
    unsigned rounds = 0;       ///< the fewest
};

/// One figure of one load: each judged point is in one region. Rectangles, the larger ones first
/// towards small sizes and depths.
[[nodiscard]] std::vector<Region> merge(std::span<const Verdict> verdicts);

/// Between two points next to each other, or with ties between them, the winner changes.
struct Crossing {
    Figure figure = Figure::latency;
    document::Load load;
    bool along_depth = false;  ///< or along block size
    Range at;                  ///< of the other of the two: sizes, if along depth
    Range between;             ///< the last value at which `before` wins, the first for `after`
    std::size_t before = 0;
    std::size_t after = 0;
    bool ties_between = false;
};

[[nodiscard]] std::vector<Crossing> crossings(std::span<const Verdict> verdicts);

}  // namespace kdp::tool::advise
