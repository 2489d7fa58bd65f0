// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A benchmark's results as comma-separated values, for a spreadsheet or a statistics program.
#pragma once

#include <string>

#include "bench/results.hpp"

namespace kdp::tool::bench {

/// A heading, then one line for each point, path and figure (RFC 4180, but for lines that end in a
/// newline alone). What is not known is an empty field; the columns are in
/// Documentation/bench-json.md.
[[nodiscard]] std::string to_csv(const RunReport& report);

}  // namespace kdp::tool::bench
