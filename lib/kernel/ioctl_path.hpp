// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// NVMe passthrough by ioctl(2).
#pragma once

#include <memory>

#include "kernel/memory.hpp"
#include "kernel/nvme_device.hpp"

namespace kdp::kernel {

inline constexpr unsigned ioctl_depth_max = 256;  ///< threads

/// The ioctl returns when the command is done. So with depth 1 submit() itself does the I/O,
/// and poll() and wait() only hand out what is done; with depth N, N threads do it, and each
/// I/O pays for two hand-overs between threads: that is the price of a synchronous interface.
/// @p depth: 1 to ioctl_depth_max. EAGAIN when there cannot be so many threads.
[[nodiscard]] Result<std::unique_ptr<DataPath>> open_ioctl_path(NvmeDevice device,
                                                                NamespaceInfo info, Memory memory,
                                                                unsigned depth);

}  // namespace kdp::kernel
