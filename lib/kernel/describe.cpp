// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/describe.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include <nvmf/identify.h>

#include "provider.hpp"

namespace kdp::kernel {
namespace {

constexpr std::uint32_t max_transfer = 1U << 20;
constexpr std::uint32_t controller_page = 4096;  // CAP.MPSMIN is out of reach; this is its least

/// Passthrough is held to the limits of the disk's queue, and a buffer that does not begin at
/// a page needs one segment more than its pages.
std::uint32_t disk_limit(const std::string& disk)
{
    if (disk.empty())
        return max_transfer;
    const std::uint64_t bytes = queue_limit(disk, "max_hw_sectors_kb", max_transfer / 1024) * 1024;
    const std::uint64_t segments = queue_limit(disk, "max_segments", 0);
    const std::uint64_t mapped = segments > 1 ? (segments - 1) * 4096 : max_transfer;
    return static_cast<std::uint32_t>(std::min({bytes, mapped, std::uint64_t{max_transfer}}));
}

}  // namespace

Result<NamespaceInfo> describe(const NvmeDevice& device, const std::string& name,
                               const kdp_features* regions)
{
    std::vector<std::byte> data(NVMF_IDENTIFY_SIZE);
    if (const Status status = device.identify(NVMF_CNS_NS, device.nsid(), data); !status)
        return status.error();
    nvmf_ns_info ns;
    if (const int rc = nvmf_ns_info_parse(data.data(), &ns); rc < 0)
        return error_from_errno(-rc, fmt::format("{}: Identify Namespace cannot be used", name));
    if (const Status status = device.identify(NVMF_CNS_CTRL, 0, data); !status)
        return status.error();
    const auto mdts = std::to_integer<unsigned>(data[77]);

    NamespaceInfo info;
    info.blocks = ns.blocks;
    info.block_size = 1U << ns.lba_shift;
    const std::string disk = disk_of_char_device(device.kernel_name());
    const DeviceOrigin origin = disk.empty() ? DeviceOrigin{} : origin_of_disk(disk);
    info.provider = origin.provider;
    info.device = name;
    if (!origin.description.empty())
        info.device += fmt::format(" ({})", origin.description);
    std::uint32_t limit =
        regions ? std::min(regions->max_transfer, max_transfer) : disk_limit(disk);
    if (mdts != 0 && mdts < 16)
        limit = std::min(limit, controller_page << mdts);
    info.max_transfer = std::max(limit / info.block_size * info.block_size, info.block_size);
    return info;
}

}  // namespace kdp::kernel
