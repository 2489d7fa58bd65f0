// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a profile says beside its figures, for people: the projection, and how sure it is.
#pragma once

#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/results.hpp"

namespace kdp::tool::bench {

/// With --fabric: what each path at each point would do there, the formula with its numbers below
/// it; marked as no measurement. Else empty.
[[nodiscard]] std::string projections(const Options& options, const RunReport& report);

/// Sentences on the profile: how many samples, what was lost, or why there is none.
[[nodiscard]] std::vector<std::string> notes_on_profile(const Options& options,
                                                        const RunReport& report);

}  // namespace kdp::tool::bench
