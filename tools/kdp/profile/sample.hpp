// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One look at what a CPU was doing: who ran, and the call chain in the kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kdp::tool::profile {

/// A function of the kernel. The texts belong to whoever made the sample (KernelSymbols, the text
/// that was parsed).
struct Frame {
    std::string_view symbol;  ///< "rxe_post_send"; empty: an address without a symbol
    std::string_view module;  ///< "rdma_rxe"; empty: the kernel's own image
    friend bool operator==(const Frame&, const Frame&) = default;
};

enum class Task : std::uint8_t {
    idle,   ///< the idle task of a CPU; an interrupt may lie on top of it
    path,   ///< a thread of the process that drives the path
    other,  ///< kernel threads and other processes
};

/// Whose code in user space: it ran, or it made the system call that the kernel was in.
enum class UserCode : std::uint8_t {
    none,         ///< not known, or no user space at all (a kernel thread)
    application,  ///< the program, libkdp, libibverbs
    provider,     ///< the user-space library of the RDMA device, or the C library on its behalf
    polling,      ///< either of them, in a poll of a completion queue, or in a pause between two
};

struct Sample {
    Task task = Task::other;
    std::uint32_t thread = 0;
    UserCode user = UserCode::none;
    std::vector<Frame> kernel;  ///< innermost first; empty in user space
};

}  // namespace kdp::tool::profile
