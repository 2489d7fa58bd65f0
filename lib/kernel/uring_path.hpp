// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// NVMe passthrough by io_uring: NVME_URING_CMD_IO.
#pragma once

#include <memory>

#include "kernel/memory.hpp"
#include "kernel/nvme_device.hpp"

namespace kdp::kernel {

inline constexpr unsigned uring_depth_max = 4096;

struct UringSetup {
    unsigned depth = 1;      ///< 1 to uring_depth_max
    bool polled = false;     ///< whoever waits polls the device
    bool sq_thread = false;  ///< a kernel thread takes what is submitted
    bool fixed = false;      ///< register_buffer() registers with the ring
    unsigned segments = 1;   ///< pages of one command at most
};

/// Needs Linux 5.19; with fixed buffers or polled 6.1. Errors: those of Ring::start().
[[nodiscard]] Result<std::unique_ptr<DataPath>> open_uring_path(NvmeDevice device,
                                                                NamespaceInfo info, Memory memory,
                                                                const UringSetup& setup);

}  // namespace kdp::kernel
