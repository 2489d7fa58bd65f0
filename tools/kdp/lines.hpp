// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Text for a terminal: lines of a fixed width, nothing that a terminal takes for a command.
#pragma once

#include <string>
#include <string_view>

namespace kdp::tool {

inline constexpr std::size_t terminal_width = 100;

/// How many places UTF-8 text takes; each code point counts as one.
[[nodiscard]] std::size_t places(std::string_view text);

/// @p lead after @p indent blanks, then @p text, broken at blanks so that no line is longer than
/// terminal_width, if that can be; further lines begin below the text. Ends in a newline.
[[nodiscard]] std::string filled(std::string_view lead, std::size_t indent, std::string_view text);

/// Control characters other than newline become '?': names come from files and targets, and a
/// terminal would obey them.
[[nodiscard]] std::string printable(std::string text);

}  // namespace kdp::tool
