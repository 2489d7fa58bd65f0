// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Controllers as JSON: the schema of kdp list --json, described in kdp-list(8).
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <kdp/control.hpp>

namespace kdp::tool {

/// Grows when a member changes its meaning or goes; new members leave it.
inline constexpr int list_schema = 1;

[[nodiscard]] nlohmann::ordered_json controllers_to_json(
    const std::vector<control::Controller>& controllers);

}  // namespace kdp::tool
