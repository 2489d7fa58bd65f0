// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A benchmark's results as a table for people.
#pragma once

#include <string>

#include "bench/environment.hpp"
#include "bench/options.hpp"
#include "bench/runner.hpp"

namespace kdp::tool::bench {

/// Header, legend, table (a figure a row, a path a column; the median over the rounds, then the
/// least and the most in parentheses), notes. What is not known is a dash.
[[nodiscard]] std::string to_text(const Options& options, const Environment& environment,
                                  const RunReport& report);

/// Break @p text at blanks so that no line is longer than @p width; further lines begin with
/// @p indent blanks. No newline at the end.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace kdp::tool::bench
