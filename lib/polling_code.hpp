// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where this library polls for completions: a profile tells by it what is spent on polls that
/// find nothing, which is no part of what an I/O costs.
///
/// Functions that are marked KDP_POLLS stand together in a section of their own. What runs in
/// them, or was called by them and has no mark (the provider's ibv_poll_cq(), sched_yield()),
/// polls. What handles a completion must be a function of its own, not marked and not inlined.
#pragma once

#include <cstdint>
#include <utility>

#define KDP_POLLS [[gnu::section("kdp_polls"), gnu::noinline]]

extern "C" {
// The linker's, of the section; null if nothing is marked.
extern const char __start_kdp_polls[] __attribute__((weak, visibility("hidden")));
extern const char __stop_kdp_polls[] __attribute__((weak, visibility("hidden")));
}

namespace kdp {

/// The addresses of that code, first and behind the last; equal if there is none.
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t> polling_code() noexcept
{
    return {reinterpret_cast<std::uint64_t>(__start_kdp_polls),
            reinterpret_cast<std::uint64_t>(__stop_kdp_polls)};
}

}  // namespace kdp
