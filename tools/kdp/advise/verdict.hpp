// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One figure at one point: which path is better, if that is shown.
///
/// The rule: a path is better than another only if the 95 % intervals of the two means do not
/// touch. That asks for more than a test of the difference would: of two paths that are the same,
/// with the same scatter, it calls one better about once in two hundred times (0.4 % with three
/// rounds, 0.6 % with many), not once in twenty. Many comparisons are made at once here, rounds
/// are few, and whoever reads the report can see the rule kept with his own eyes in the charts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "advise/figures.hpp"
#include "document/bench.hpp"

namespace kdp::tool::advise {

enum class Finding : std::uint8_t {
    winner,   ///< one path is better than every other
    tie,      ///< no difference shown between the leaders
    alone,    ///< one path only has the figure here: nothing to compare with
    nothing,  ///< none has
};

struct Verdict {
    Figure figure = Figure::latency;
    std::string_view key;  ///< the summary's
    document::Load load;
    std::uint64_t bs = 0;
    std::uint64_t depth = 0;
    Finding finding = Finding::nothing;
    /// Best mean first: the winner alone, or those between which no difference is shown.
    std::vector<std::size_t> leaders;
    std::vector<std::size_t> behind;     ///< shown to be worse than the first leader, best first
    std::vector<std::size_t> uncertain;  ///< leaders without an interval: one round
    /// A winner's distance to the next best mean, as a part of the latter's: 0.12 is 12 % lower
    /// (of IOPS: higher). And the least that the intervals leave, over all others.
    std::optional<double> gain;
    std::optional<double> gain_at_least;
    unsigned rounds = 0;  ///< the fewest of any path compared
};

/// Whether the intervals do not touch. An estimate without an interval is apart from nothing.
[[nodiscard]] bool apart(const document::Estimate& a, const document::Estimate& b) noexcept;

/// Among @p paths. One that failed at this point is not compared.
[[nodiscard]] Verdict judge(Figure figure, const document::Point& point,
                            const std::vector<std::size_t>& paths);

}  // namespace kdp::tool::advise
