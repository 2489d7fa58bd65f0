// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "block_path.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "io_check.hpp"
#include "provider.hpp"
#include "ring_path.hpp"
#include "unique_fd.hpp"

namespace kdp {
namespace {

constexpr std::uint32_t file_block_size = 512;
constexpr std::uint32_t max_transfer = 1U << 20;
constexpr unsigned max_depth = 4096;

class BlockPath final : public RingPath {
public:
    BlockPath(UniqueFd fd, NamespaceInfo info, unsigned depth, bool polled)
        : RingPath(std::move(info), depth), fd_(std::move(fd)), polled_(polled)
    {
    }
    ~BlockPath() override { drain(); }

    Status open_ring() { return start({.polled = polled_}); }

    Status register_buffer(std::span<std::byte> memory) override;

private:
    [[nodiscard]] int refusal(const Io& io) const noexcept override;
    void prepare(io_uring_sqe& sqe, const Io& io) noexcept override;
    [[nodiscard]] Completion outcome(const Slot& slot, int res) const noexcept override;

    UniqueFd fd_;
    bool polled_;
};

Status BlockPath::register_buffer(std::span<std::byte> memory)
{
    Status status = ring().add_buffer(memory);
    if (!status && status.error().code == EINVAL)
        return ok();  // an older kernel: it goes without
    return status;
}

int BlockPath::refusal(const Io& io) const noexcept
{
    return polled_ && io.op == Op::flush ? EOPNOTSUPP : check_io(info(), io);
}

void BlockPath::prepare(io_uring_sqe& sqe, const Io& io) noexcept
{
    const auto bytes = static_cast<unsigned>(io.data.size());
    const std::uint64_t offset = io.lba * info().block_size;
    const int index = io.op == Op::flush ? -1 : ring().buffer_of(io.data);
    if (io.op == Op::flush)
        io_uring_prep_fsync(&sqe, fd_.get(), IORING_FSYNC_DATASYNC);
    else if (io.op == Op::read && index >= 0)
        io_uring_prep_read_fixed(&sqe, fd_.get(), io.data.data(), bytes, offset, index);
    else if (io.op == Op::read)
        io_uring_prep_read(&sqe, fd_.get(), io.data.data(), bytes, offset);
    else if (index >= 0)
        io_uring_prep_write_fixed(&sqe, fd_.get(), io.data.data(), bytes, offset, index);
    else
        io_uring_prep_write(&sqe, fd_.get(), io.data.data(), bytes, offset);
}

Completion BlockPath::outcome(const Slot& slot, int res) const noexcept
{
    if (res < 0)
        return {slot.tag, -res, 0};
    // short: the device or file ended
    return {slot.tag, static_cast<std::size_t>(res) == slot.bytes ? 0 : EIO, 0};
}

/// open(2), read-only if asked; without O_DIRECT where a regular file's filesystem has none.
Result<UniqueFd> open_device(const std::string& device, bool read_only, bool& direct)
{
    const int flags = (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC;
    direct = true;
    UniqueFd fd(open(device.c_str(), flags | O_DIRECT));
    if (!fd && errno == EINVAL) {
        direct = false;
        fd = UniqueFd(open(device.c_str(), flags));
    }
    if (!fd)
        return error_from_errno(errno, device);
    return fd;
}

Result<NamespaceInfo> describe(const UniqueFd& fd, const std::string& device, bool direct)
{
    struct stat st;
    if (fstat(fd.get(), &st) < 0)
        return error_from_errno(errno, device);
    NamespaceInfo info;
    info.device = device;
    info.max_transfer = max_transfer;
    std::uint64_t bytes = 0;
    if (S_ISBLK(st.st_mode)) {
        int block_size = 0;
        if (ioctl(fd.get(), BLKGETSIZE64, &bytes) < 0 ||
            ioctl(fd.get(), BLKSSZGET, &block_size) < 0)
            return error_from_errno(errno, device);
        info.block_size = static_cast<std::uint32_t>(block_size);
        const DeviceOrigin origin = origin_of_disk(disk_name(st.st_rdev));
        info.provider = origin.provider;
        if (!origin.description.empty())
            info.device += fmt::format(" ({})", origin.description);
    } else if (S_ISREG(st.st_mode)) {
        bytes = static_cast<std::uint64_t>(st.st_size);
        info.block_size = file_block_size;
        info.device += direct ? " (regular file)" : " (regular file, through the page cache)";
    } else {
        return Error{ENOTBLK,
                     fmt::format("{} is neither a block device nor a regular file", device)};
    }
    info.blocks = bytes / info.block_size;
    if (info.blocks == 0)
        return Error{ENXIO, fmt::format("{} is empty", device)};
    return info;
}

/// Whether the disk has poll queues. Where sysfs does not tell, the first I/O will.
Status check_polled(const UniqueFd& fd, const std::string& device)
{
    struct stat st;
    if (fstat(fd.get(), &st) < 0)
        return error_from_errno(errno, device);
    if (!S_ISBLK(st.st_mode))
        return Error{EOPNOTSUPP, fmt::format("{}: only a block device can be polled", device)};
    if (queue_limit(disk_name(st.st_rdev), "io_poll", 1) == 0)
        return Error{EOPNOTSUPP,
                     fmt::format("{} has no poll queues (kdp connect --nr-poll-queues)", device)};
    return ok();
}

}  // namespace

Result<std::unique_ptr<DataPath>> open_block_path(const std::string& device,
                                                  const OpenOptions& options, bool polled)
{
    if (options.depth == 0 || options.depth > max_depth)
        return Error{EINVAL,
                     fmt::format("depth {}: 1 to {} are possible", options.depth, max_depth)};
    bool direct = true;
    auto fd = open_device(device, options.read_only, direct);
    if (!fd)
        return fd.error();
    auto info = describe(fd.value(), device, direct);
    if (!info)
        return info.error();
    if (polled) {
        if (const Status can = check_polled(fd.value(), device); !can)
            return can.error();
        info->device += ", polled";
    }
    auto path = std::make_unique<BlockPath>(std::move(fd).value(), std::move(info).value(),
                                            options.depth, polled);
    if (const Status status = path->open_ring(); !status)
        return status.error();
    return std::unique_ptr<DataPath>(std::move(path));
}

}  // namespace kdp
