// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a namespace behind a character device is like.
#pragma once

#include <string>

#include "kernel/nvme_device.hpp"

namespace kdp::kernel {

/// By Identify, and from the disk beside the character device. max_transfer is the least of the
/// controller's MDTS, 1 MiB, and the limits of the disk, or with @p regions, which is null if
/// memory is mapped for each command, what commands in regions may have.
/// Errors: EIO with the NVMe status; EOPNOTSUPP for a namespace with metadata.
[[nodiscard]] Result<NamespaceInfo> describe(const NvmeDevice& device, const std::string& name,
                                             const kdp_features* regions);

}  // namespace kdp::kernel
