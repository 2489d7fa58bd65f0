// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/region.hpp>

#include <sys/ioctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include <fmt/format.h>

#include <kdp/kdp_ioctl.h>

namespace kdp {
namespace {

static_assert(static_cast<unsigned>(Access::send) == KDP_REGION_SEND);
static_assert(static_cast<unsigned>(Access::receive) == KDP_REGION_RECEIVE);
static_assert(static_cast<unsigned>(Access::both) == (KDP_REGION_SEND | KDP_REGION_RECEIVE));

std::string memlock_limit()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return "unlimited";
    return fmt::format("{} KiB", limit.rlim_cur / 1024);
}

/// What an errno of KDP_IOC_REGION_ADD means, and what to do; empty for another one.
std::string meaning(int code, bool file, unsigned flags)
{
    const bool receive = (flags & KDP_REGION_RECEIVE) != 0;
    switch (code) {
        case ENOTTY:
            return "the device has no regions; kdp's have (/dev/kdpg0n1), those of the in-tree "
                   "driver have not";
        case EINVAL:
            return file ? "the range is not inside the file, or empty" : "no memory was given";
        case EOVERFLOW:
            return "the range wraps around";
        case EEXIST:
            return "it overlaps a region that is there already";
        case EFAULT:
            return receive ? "there is no memory at some of the addresses, or it may not be written"
                           : "there is no memory at some of the addresses, or it may not be read";
        case EOPNOTSUPP:
            if (file && receive)
                return "only files on tmpfs, memfd and hugetlbfs can be received into: other file "
                       "systems must be told before a page changes; use a file on tmpfs";
            if (file)
                return "only a regular file with a page cache can be sent from, not one of DAX or "
                       "procfs";
            return "memory of a device or of DAX cannot be registered, nor that of a mapped file "
                   "that is not on tmpfs, memfd or hugetlbfs for receiving";
        case EBADF:
            return receive ? "the file is not open for writing"
                           : "the file is not open for reading";
        case EPERM:
            return fmt::format(
                "nothing may be pinned: RLIMIT_MEMLOCK is {} (raise it: ulimit -l), "
                "and there is no CAP_IPC_LOCK; or the file is sealed against "
                "writing",
                memlock_limit());
        case ENOMEM:
            return fmt::format(
                "more than RLIMIT_MEMLOCK allows, which is {} (raise it: ulimit -l; "
                "or have CAP_IPC_LOCK), or no memory, or no memory regions of the "
                "RDMA device are left",
                memlock_limit());
        case ENOSPC:
            return "the device file has as many regions as it may have; delete others first";
        case EAGAIN:
            return "there is no connection now; try again when there is one (kdp monitor)";
        case ENODEV:
            return "the controller or the namespace is gone";
        case EINTR:
            return "a signal came";
        case EIO:
            return file ? "the file cannot be read, or the RDMA device refused"
                        : "the RDMA device refused";
        default:
            return "";
    }
}

Error add_error(int code, const kdp_region_add& wanted)
{
    const bool file = (wanted.flags & KDP_REGION_FILE) != 0;
    const std::string what =
        file ? fmt::format("a region of {} bytes from {} of the file", wanted.length, wanted.addr)
             : fmt::format("a region of {} bytes of memory", wanted.length);
    const std::string why = meaning(code, file, wanted.flags);
    if (why.empty())
        return error_from_errno(code, what);
    return Error{code, fmt::format("{}: {}", what, why), 0};
}

}  // namespace

Result<Region> Region::add(int device, std::span<std::byte> memory, Access access)
{
    kdp_region_add region{};
    region.addr = reinterpret_cast<std::uintptr_t>(memory.data());
    region.length = memory.size();
    region.flags = static_cast<unsigned>(access);
    if (ioctl(device, KDP_IOC_REGION_ADD, &region) < 0)
        return add_error(errno, region);
    return Region(device, region.base, region.length, region.mrs);
}

Result<Region> Region::add_file(int device, int file, std::uint64_t offset, std::uint64_t length,
                                Access access)
{
    kdp_region_add region{};
    region.addr = offset;
    region.length = length;
    region.flags = static_cast<unsigned>(access) | KDP_REGION_FILE;
    region.fd = file;
    if (ioctl(device, KDP_IOC_REGION_ADD, &region) < 0)
        return add_error(errno, region);
    return Region(device, region.base, region.length, region.mrs);
}

Region Region::adopt(int device, std::uint64_t base, std::uint64_t length,
                     std::uint32_t registrations) noexcept
{
    return {device, base, length, registrations};
}

Status Region::remove()
{
    kdp_region_del region{};
    region.base = base_;
    const int device = std::exchange(device_, -1);
    if (device >= 0 && ioctl(device, KDP_IOC_REGION_DEL, &region) < 0)
        return error_from_errno(errno, fmt::format("deleting a region of {} bytes", length_));
    return ok();
}

Region::~Region()
{
    // One that is gone already went with its device: there is nothing to do about it.
    (void)remove();
}

}  // namespace kdp
