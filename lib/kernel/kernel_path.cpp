// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/kernel_path.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "kernel/describe.hpp"
#include "kernel/ioctl_path.hpp"
#include "kernel/kernel_version.hpp"
#include "kernel/uring_path.hpp"
#include "provider.hpp"

namespace kdp {
namespace {

using namespace kernel;

constexpr unsigned least_segments = 64;  // where the disk does not tell

Status check_depth(KernelMode mode, unsigned depth)
{
    const bool threads = mode == KernelMode::ioctl;
    const unsigned most = threads ? ioctl_depth_max : uring_depth_max;
    if (depth != 0 && depth <= most)
        return ok();
    return Error{EINVAL, fmt::format("depth {}: 1 to {} are possible{}", depth, most,
                                     threads ? ", a thread each" : "")};
}

/// Whether the driver has what @p uri asks for, as far as it tells: @p features is empty where it
/// tells nothing, as that of the kernel's own.
Status check_driver(const PathUri& uri, const std::string& disk,
                    const Result<kdp_features>& features)
{
    const auto has = [&](std::uint64_t what) {
        return features && (features.value().features & what) != 0;
    };
    const bool kdp = features || disk.starts_with("kdp");
    if (uri.buffers == Buffers::region && !has(KDP_FEATURE_REGION))
        return Error{ENOTTY, fmt::format("{} has no regions: {}", uri.device,
                                         kdp ? "kdp_host is too old for that"
                                             : "only kdp's devices have (/dev/kdpg0n1)")};
    if (uri.mode == KernelMode::ioctl)
        return ok();
    if (kdp && !has(KDP_FEATURE_URING))
        return Error{EOPNOTSUPP,
                     uri.device + ": this kdp_host has no io_uring commands: use mode=ioctl"};
    if (uri.mode != KernelMode::uring_poll)
        return ok();
    if (kdp && !has(KDP_FEATURE_URING_POLL))
        return Error{EOPNOTSUPP, uri.device +
                                     ": this kdp_host has no polled io_uring commands: "
                                     "use mode=uring"};
    // It may take a function for a bio, and the kernel with it: on 6.1 among the first I/Os at
    // depth 16, whoever submits them.
    if (!kdp && kernel_before(6, 6))
        return Error{EOPNOTSUPP, uri.device +
                                     ": polled passthrough is broken in the in-tree driver "
                                     "before Linux 6.6: use mode=uring"};
    if (!disk.empty() && queue_limit(disk, "io_poll", 1) == 0)
        return Error{EOPNOTSUPP, uri.device + " has no poll queues (kdp connect --nr-poll-queues)"};
    return ok();
}

std::string_view manner(const PathUri& uri)
{
    return uri.mode == KernelMode::ioctl   ? ""
           : uri.mode == KernelMode::uring ? ", io_uring"
                                           : ", io_uring, polled";
}

}  // namespace

Result<std::unique_ptr<DataPath>> open_kernel_path(const PathUri& uri, const OpenOptions& options)
{
    if (const Status fits = check_depth(uri.mode, options.depth); !fits)
        return fits.error();
    auto device = NvmeDevice::open(uri.device);
    if (!device)
        return device.error();
    const auto features = device->features();
    const std::string disk = disk_of_char_device(device->kernel_name());
    if (const Status can = check_driver(uri, disk, features); !can)
        return can.error();

    const bool regions = uri.buffers == Buffers::region;
    auto info = describe(device.value(), uri.device, regions ? &features.value() : nullptr);
    if (!info)
        return info.error();
    info->device += manner(uri);
    Memory memory(regions, options.read_only ? Access::receive : Access::both);
    if (uri.mode == KernelMode::ioctl)
        return open_ioctl_path(std::move(device).value(), std::move(info).value(),
                               std::move(memory), options.depth);
    return open_uring_path(
        std::move(device).value(), std::move(info).value(), std::move(memory),
        {.depth = options.depth,
         .polled = uri.mode == KernelMode::uring_poll,
         .sq_thread = uri.sqpoll,
         .fixed = uri.buffers == Buffers::fixed,
         .segments = static_cast<unsigned>(queue_limit(disk, "max_segments", least_segments))});
}

}  // namespace kdp
