// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The figures of a turn: one list, from which both the table and the JSON are made.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/runner.hpp"

namespace kdp::tool::bench {

struct Figure {
    std::string_view key;      ///< in JSON: "lat_p99_us"
    std::string_view heading;  ///< in the table, with the unit
    /// nullopt: not known for this path or in this run. Never 0 for that.
    std::optional<double> (*value)(const Turn& turn);
};

[[nodiscard]] std::span<const Figure> figures() noexcept;

/// Over the rounds. Not known in one round counts as not there.
struct Summary {
    double median = 0;  ///< of an even number: the mean of the middle two
    double min = 0;
    double max = 0;
};

/// nullopt for no values.
[[nodiscard]] std::optional<Summary> summarise(std::vector<double> values);
[[nodiscard]] std::optional<Summary> summarise(const Figure& figure, std::span<const Turn> turns);

}  // namespace kdp::tool::bench
