// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// How many interrupts the machine has taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kdp::tool::bench {

/// The sum over all CPUs and all kinds in the text of /proc/interrupts: devices, timers, calls from
/// CPU to CPU. Not ERR and MIS, which are no interrupts but complaints about them. nullopt if the
/// text is none of that kind.
[[nodiscard]] std::optional<std::uint64_t> sum_of_interrupts(std::string_view text);

/// Of this machine since it was booted.
[[nodiscard]] std::optional<std::uint64_t> interrupts_so_far();

}  // namespace kdp::tool::bench
