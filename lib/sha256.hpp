// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// SHA-256 (FIPS 180-4), for identifiers derived from secrets such as the machine ID.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kdp {

/// The digest of @p text, which is short: the whole message is copied once.
[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::string_view text);

}  // namespace kdp
