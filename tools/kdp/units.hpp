// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Sizes and times on the command line and for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kdp::tool {

/// "4k", "64K", "1M", "2GiB", "512": bytes, with powers of 1024. nullopt for anything else,
/// 0 included, and for what does not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// "4 KiB", "1.50 GiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// Four significant digits, no exponent: "12.35", "1234", "0.01235".
[[nodiscard]] std::string format_figure(double value);

}  // namespace kdp::tool
