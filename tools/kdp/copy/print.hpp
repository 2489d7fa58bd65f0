// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a copy did, for people and as JSON; the schema is described in kdp-copy(8).
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "copy/copy.hpp"

namespace kdp::tool::copy {

/// Grows when a member changes its meaning or goes; new members leave it.
inline constexpr int copy_schema = 1;

[[nodiscard]] nlohmann::ordered_json to_json(const Options& options, const Report& report);
[[nodiscard]] std::string to_text(const Options& options, const Report& report);

}  // namespace kdp::tool::copy
