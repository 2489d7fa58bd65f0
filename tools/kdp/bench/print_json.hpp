// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A benchmark's results as JSON; Documentation/bench-json.md is the schema.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/environment.hpp"
#include "bench/options.hpp"
#include "bench/results.hpp"

namespace kdp::tool::bench {

/// Grows when a member changes its meaning or goes; new members leave it.
inline constexpr int bench_schema = 2;

[[nodiscard]] nlohmann::ordered_json to_json(const Options& options, const Environment& environment,
                                             const RunReport& report);

}  // namespace kdp::tool::bench
