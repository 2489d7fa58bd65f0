// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The regions that a path to a character device has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <kdp/data_path.hpp>

#include "kernel/nvme_device.hpp"

namespace kdp::kernel {

/// Declare it behind the device: its regions go first.
class Memory {
public:
    /// @p in_regions: the memory that add() is told of becomes regions; else it stays as it is.
    Memory(bool in_regions, Access access) noexcept : in_regions_(in_regions), access_(access) {}

    [[nodiscard]] Status add(const NvmeDevice& device, std::span<std::byte> memory);
    /// The region is the caller's.
    [[nodiscard]] Result<Region> add_file(const NvmeDevice& device, int file, std::uint64_t offset,
                                          std::uint64_t length, Access access);

    /// Memory registrations of the RDMA device, and nothing else.
    [[nodiscard]] PathCounters counters() const noexcept
    {
        PathCounters counters;
        counters.registrations = registrations_;
        return counters;
    }

private:
    bool in_regions_;
    Access access_;
    std::vector<Region> regions_;
    std::uint64_t registrations_ = 0;
};

}  // namespace kdp::kernel
