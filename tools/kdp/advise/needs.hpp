// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What overrules the figures: a path that cannot do what is needed is no candidate, however fast.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kdp::tool::advise {

enum class Need : std::uint8_t {
    filesystem,     ///< or the page cache
    sharing,        ///< several processes use the namespace at once
    crash_safe,     ///< the application may crash
    no_spare_core,  ///< none can be given to polling
    isolation,      ///< the target may touch memory during an I/O only
};

inline constexpr std::array all_needs = {Need::filesystem, Need::sharing, Need::crash_safe,
                                         Need::no_spare_core, Need::isolation};

/// As on the command line: "crash-safe".
[[nodiscard]] std::string_view need_name(Need need) noexcept;
[[nodiscard]] std::optional<Need> parse_need(std::string_view text) noexcept;

/// What it means, as half a sentence: "a filesystem or the page cache is needed".
[[nodiscard]] std::string_view need_condition(Need need) noexcept;

/// What is to be kept in mind where the need is given or may come: whole sentences.
[[nodiscard]] std::string_view need_caveat(Need need) noexcept;

/// Why the path of @p uri cannot meet @p need; nullopt if it can. Of a URI with an unknown scheme
/// nothing is known, so it cannot.
[[nodiscard]] std::optional<std::string> why_not(Need need, std::string_view uri);

}  // namespace kdp::tool::advise
