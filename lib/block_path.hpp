// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A block device, or a regular file, by io_uring and O_DIRECT; completions by event, or polled.
#pragma once

#include <memory>
#include <string>

#include <kdp/data_path.hpp>

namespace kdp {

/// Open @p device. A regular file counts as 512-byte blocks; where its filesystem knows no
/// O_DIRECT, it goes through the page cache, and info().device says so.
/// Errors: what open(2) gave; ENOTBLK for another kind of file; ENXIO for an empty one;
/// ENOSYS, EPERM where io_uring is missing or forbidden; ENOMEM for RLIMIT_MEMLOCK.
///
/// @p polled: whoever waits polls the device (IORING_SETUP_IOPOLL), which must have poll queues,
/// else EOPNOTSUPP. There is no flush then: it completes with EOPNOTSUPP.
[[nodiscard]] Result<std::unique_ptr<DataPath>> open_block_path(const std::string& device,
                                                                const OpenOptions& options,
                                                                bool polled = false);

}  // namespace kdp
