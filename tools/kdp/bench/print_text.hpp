// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A benchmark's results as a table for people.
#pragma once

#include <string>

#include "bench/environment.hpp"
#include "bench/options.hpp"
#include "bench/results.hpp"

namespace kdp::tool::bench {

/// Header, legend, tables, notes. One point: a figure a row, a path a column. Several points: the
/// figures that matter most, a point and path a row. The mean over the rounds, with half of its
/// 95 % interval. What is not known is a dash.
[[nodiscard]] std::string to_text(const Options& options, const Environment& environment,
                                  const RunReport& report);

/// Break @p text at blanks so that no line is longer than @p width; further lines begin with
/// @p indent blanks. No newline at the end.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace kdp::tool::bench
