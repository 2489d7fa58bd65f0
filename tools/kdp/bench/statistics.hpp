// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What several rounds say about one figure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace kdp::tool::bench {

struct Summary {
    double mean = 0;
    /// The mean's 95 % interval is mean ± half_width, if rounds scatter as draws from one normal
    /// distribution do (Student's t). nullopt for one value, which says nothing about its scatter.
    std::optional<double> half_width;
    double median = 0;  ///< of an even number: the mean of the middle two
    double min = 0;
    double max = 0;
};

/// nullopt for no values.
[[nodiscard]] std::optional<Summary> summarise(std::vector<double> values);

/// The 97.5 % quantile of Student's t distribution: what the standard error is multiplied by for a
/// 95 % interval. Right to three places for any @p degrees of freedom; 0 ones count as 1.
[[nodiscard]] double student_t_975(std::size_t degrees) noexcept;

}  // namespace kdp::tool::bench
