// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What lies below a block or NVMe character device, as far as the kernel tells.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kdp {

struct DeviceOrigin {
    std::string provider;     ///< RDMA device, "rxe0"; empty when not known
    std::string description;  ///< "rdma 192.0.2.1:4420 nqn…" for an NVMe disk; else empty
};

/// The kernel's name of the block device @p device, "nvme0n1"; of a partition its disk's.
/// Empty when it cannot be told.
[[nodiscard]] std::string disk_name(dev_t device);

/// The disk that shares queue limits with an NVMe character device:
/// "nvme0n1" for "ng0n1", "kdp0n1" for "kdpg0n1"; empty for another name.
[[nodiscard]] std::string disk_of_char_device(std::string_view name);

/// Look the disk @p name up: kdp_host's by netlink, others in sysfs.
[[nodiscard]] DeviceOrigin origin_of_disk(const std::string& name);

/// A number from /sys/block/@p disk/queue/@p limit; @p otherwise when it cannot be read.
[[nodiscard]] std::uint64_t queue_limit(const std::string& disk, const std::string& limit,
                                        std::uint64_t otherwise);

}  // namespace kdp
