// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The clock of all latencies.
#pragma once

#include <ctime>

#include <cstdint>

namespace kdp::tool::bench {

/// CLOCK_MONOTONIC, in ns.
[[nodiscard]] inline std::uint64_t now_ns() noexcept
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// What one now_ns() costs here, in ns: the mean of many.
[[nodiscard]] inline double clock_cost_ns() noexcept
{
    constexpr int calls = 2000;
    const std::uint64_t begin = now_ns();
    std::uint64_t last = begin;
    for (int i = 0; i < calls; i++)
        last = now_ns();
    return static_cast<double>(last - begin) / calls;
}

}  // namespace kdp::tool::bench
