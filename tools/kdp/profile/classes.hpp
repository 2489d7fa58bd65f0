// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What CPU time is spent on, as `kdp bench --profile` tells it apart. How a sample is put into a
/// class is written in classify.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kdp::tool::profile {

enum class Class : std::uint8_t {
    application,       ///< this process in user space, libraries included, but the provider's
    kernel_path,       ///< system calls, block layer, io_uring, kdp's and the in-tree drivers
    provider_calls,    ///< called from the path: the RDMA provider's library and module
    provider_threads,  ///< the provider at work by itself: its threads, work items, soft interrupts
    waiting,           ///< polls that find nothing: CPU time, but no work
    target,            ///< the target and its disk, where it is on this machine
    interrupts,        ///< hardware interrupts, and soft ones that are nobody's in particular
    other,             ///< everything else, and what could not be attributed
    idle,              ///< nothing ran; never part of a cost
};

inline constexpr std::size_t class_count = 9;

/// Those that cost something, in the order in which they are shown.
inline constexpr std::array busy_classes{
    Class::application, Class::kernel_path, Class::provider_calls, Class::provider_threads,
    Class::waiting,     Class::target,      Class::interrupts,     Class::other};

[[nodiscard]] constexpr std::string_view class_name(Class c) noexcept
{
    constexpr std::array<std::string_view, class_count> names{
        "application",      "kernel_path", "provider_calls",
        "provider_threads", "waiting",     "target",
        "interrupts",       "other",       "idle"};
    return names[static_cast<std::size_t>(c)];
}

}  // namespace kdp::tool::profile
