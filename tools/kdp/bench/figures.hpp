// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The figures of a turn: one list, from which both the table and the JSON are made.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/options.hpp"
#include "bench/results.hpp"
#include "bench/statistics.hpp"

namespace kdp::tool::bench {

struct Figure {
    std::string_view key;      ///< in JSON: "lat_p99_us"
    std::string_view heading;  ///< in the table, with the unit
    /// nullopt: not known for this path or in this run. Never 0 for that.
    std::optional<double> (*value)(const Turn& turn);
    bool only_mixed = false;     ///< there where reads and writes are mixed, and nowhere else
    bool only_profiled = false;  ///< there with --profile, and nowhere else
};

/// Of which points of a latency distribution are shown, percent; 100 is the maximum.
inline constexpr double percents[] = {1,  5,  10,   25,   50,    75,    90,
                                      95, 99, 99.5, 99.9, 99.95, 99.99, 100};

[[nodiscard]] std::span<const Figure> figures() noexcept;

/// Over the rounds in which it is known; nullopt if there are none. A round that ended early counts
/// only where no other is there.
[[nodiscard]] std::optional<Summary> summarise(const Figure& figure, std::span<const Turn> turns);

/// What a path would do on the fabric that was asked for (`--fabric`); nullopt without one, or
/// without a profile.
[[nodiscard]] std::optional<profile::Projection> projection_of(const Options& options,
                                                               const Shape& shape,
                                                               const PathResult& result);

}  // namespace kdp::tool::bench
