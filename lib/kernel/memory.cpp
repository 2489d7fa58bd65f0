// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/memory.hpp"

#include <algorithm>

namespace kdp::kernel {

Status Memory::add(const NvmeDevice& device, std::span<std::byte> memory)
{
    const auto holds = [&](const Region& region) { return region.holds(memory); };
    if (!in_regions_ || std::any_of(regions_.begin(), regions_.end(), holds))
        return ok();
    auto region = Region::add(device.fd(), memory, access_);
    if (!region)
        return region.error();
    registrations_ += region->registrations();
    regions_.push_back(std::move(region).value());
    return ok();
}

Result<Region> Memory::add_file(const NvmeDevice& device, int file, std::uint64_t offset,
                                std::uint64_t length, Access access)
{
    auto region = Region::add_file(device.fd(), file, offset, length, access);
    if (region)
        registrations_ += region->registrations();
    return region;
}

}  // namespace kdp::kernel
