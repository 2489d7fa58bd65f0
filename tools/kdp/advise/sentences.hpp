// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Advice in words, for the terminal and for the page.
#pragma once

#include <string>

#include "advise/advise.hpp"

namespace kdp::tool::advise {

/// "4k–16k, depth 1–4".
[[nodiscard]] std::string area(const Region& region);

/// "verbs:10.0.0.1, 12–18 % lower than the next (at least 9 %)", or "no difference shown between
/// ...; ... is behind".
[[nodiscard]] std::string statement(const document::Bench& bench, const Region& region);

/// "at 4k, verbs:10.0.0.1 up to depth 4, kernel:kdpg0n1 from depth 16".
[[nodiscard]] std::string statement(const document::Bench& bench, const Crossing& crossing);

/// "shown at 6 of 8 points, 3 rounds or more each".
[[nodiscard]] std::string sureness(const Comparison& comparison);

/// In one sentence, for a summary: "verbs:10.0.0.1 at 6 of 8 points; no difference shown at 2".
[[nodiscard]] std::string in_short(const document::Bench& bench, const Comparison& comparison);

/// The heading of a comparison: "CPU time per I/O (this process alone)".
[[nodiscard]] std::string heading(const Comparison& comparison);

/// The rule by which a difference counts as shown.
[[nodiscard]] std::string_view rule() noexcept;

}  // namespace kdp::tool::advise
