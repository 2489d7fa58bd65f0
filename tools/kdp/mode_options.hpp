// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The options of connect and of set that say who takes completions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace kdp::tool {

/// Add --cq-mode and --spin-us; the last two say in words what holds without them.
void add_mode_options(CLI::App& sub, std::string& cq_mode, std::optional<std::int32_t>& spin_us,
                      const std::string& default_mode, const std::string& default_spin);

}  // namespace kdp::tool
