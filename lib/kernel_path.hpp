// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// NVMe passthrough by ioctl(2) on a namespace's character device: /dev/kdpg0n1, or the in-tree
/// driver's /dev/ng0n1, whose ABI is the same (<linux/nvme_ioctl.h>).
#pragma once

#include <memory>
#include <string>

#include <kdp/data_path.hpp>

namespace kdp {

/// The ioctl returns when the command is done. So with depth 1 submit() itself does the I/O,
/// and poll() and wait() only hand out what is done; with depth N, N threads do it, and each
/// I/O pays for two hand-overs between threads: that is the price of a synchronous interface.
///
/// max_transfer is the least of the controller's MDTS, the limits of the disk beside the
/// character device, and 1 MiB.
/// Errors: what open(2) gave; ENOTTY when the device is no NVMe namespace; EIO with the NVMe
/// status when Identify failed; EOPNOTSUPP for a namespace with metadata.
[[nodiscard]] Result<std::unique_ptr<DataPath>> open_kernel_path(const std::string& device,
                                                                 const OpenOptions& options);

}  // namespace kdp
