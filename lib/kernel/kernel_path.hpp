// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// NVMe passthrough on a namespace's character device: /dev/kdpg0n1, or the in-tree driver's
/// /dev/ng0n1, whose ABI is the same (<linux/nvme_ioctl.h>), but for regions.
#pragma once

#include <memory>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace kdp {

/// Open @p uri.device in the way that uri.mode, uri.buffers and uri.sqpoll say.
///
/// Errors: EINVAL for a depth that is out of range; what open(2) gave; ENOTTY when the device is
/// no NVMe namespace, or has no regions though buffers=region wants them; EIO with the NVMe status
/// when Identify failed; EOPNOTSUPP for a namespace with metadata, for a driver without io_uring
/// commands, and for mode=uring-poll without poll queues; those of io_uring_setup(2).
[[nodiscard]] Result<std::unique_ptr<DataPath>> open_kernel_path(const PathUri& uri,
                                                                 const OpenOptions& options);

}  // namespace kdp
