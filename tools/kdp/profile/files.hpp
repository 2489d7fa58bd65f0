// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Files of /proc, as a whole.
#pragma once

#include <string>

#include <kdp/result.hpp>

namespace kdp::tool::profile {

/// All of @p path. Errors: errno of opening and reading, with the file's name.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

}  // namespace kdp::tool::profile
