// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The counters of queues as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kdp/control.hpp>

namespace kdp::tool {

/// A line a queue: commands, bytes, and the rest per command.
[[nodiscard]] std::string queues_to_table(const std::vector<control::Queue>& queues);

/// Every counter as it is; schema in kdp-stats(8).
[[nodiscard]] nlohmann::ordered_json queues_to_json(const std::vector<control::Queue>& queues);

/// What @p now counts beyond @p before. A queue that was not there before, or was connected anew
/// and so counts less, stands as it is.
[[nodiscard]] std::vector<control::Queue> queue_differences(
    const std::vector<control::Queue>& before, std::vector<control::Queue> now);

}  // namespace kdp::tool
