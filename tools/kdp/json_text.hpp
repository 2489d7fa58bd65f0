// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// JSON, as the tool prints it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace kdp::tool {

/// Indented by 2, always UTF-8. NQNs and names come from targets and files, in any bytes: what is
/// no UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& json)
{
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// The same on one line.
[[nodiscard]] inline std::string json_line(const nlohmann::ordered_json& json)
{
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kdp::tool
