// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// For faults of kernels that no probing finds without harm.
#pragma once

#include <sys/utsname.h>

#include <cstdio>
#include <tuple>

namespace kdp::kernel {

/// Whether this machine's kernel is older; true when it cannot be told.
[[nodiscard]] inline bool kernel_before(unsigned major, unsigned minor) noexcept
{
    utsname name{};
    unsigned here_major = 0, here_minor = 0;
    if (uname(&name) < 0 || std::sscanf(name.release, "%u.%u", &here_major, &here_minor) != 2)
        return true;
    return std::tie(here_major, here_minor) < std::tie(major, minor);
}

}  // namespace kdp::kernel
