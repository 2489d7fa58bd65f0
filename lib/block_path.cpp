// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One io_uring a path. A batch is one io_uring_enter(2); completions are taken from the mapped
// ring, so that poll() makes a system call only when the kernel flags pending work. On a ring
// whose device is polled, that is always.

#include "block_path.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "io_check.hpp"
#include "provider.hpp"
#include "unique_fd.hpp"

namespace kdp {
namespace {

constexpr std::uint32_t file_block_size = 512;
constexpr std::uint32_t max_transfer = 1U << 20;
constexpr unsigned max_depth = 4096;

class BlockPath final : public DataPath {
public:
    BlockPath(UniqueFd fd, NamespaceInfo info, unsigned depth, bool polled)
        : fd_(std::move(fd)), info_(std::move(info)), polled_(polled), slots_(depth)
    {
        free_.reserve(depth);
        for (unsigned i = depth; i-- > 0;)
            free_.push_back(i);
    }
    ~BlockPath() override;

    Status start();

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte> memory) override;
    Result<std::size_t> submit(std::span<const Io> batch) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) override;
    [[nodiscard]] PathCounters counters() const noexcept override { return counters_; }

private:
    struct Slot {
        std::uint64_t tag = 0;
        std::size_t expected = 0;  // bytes
    };

    [[nodiscard]] std::size_t in_flight() const noexcept { return slots_.size() - free_.size(); }
    [[nodiscard]] int fixed_index(std::span<std::byte> data) const noexcept;
    [[nodiscard]] int refusal(const Io& io) const;
    void prepare(io_uring_sqe* sqe, const Io& io);
    std::size_t take(std::span<Completion> out);

    UniqueFd fd_;
    NamespaceInfo info_;
    bool polled_;
    io_uring ring_{};
    bool ring_up_ = false;
    std::vector<Slot> slots_;
    std::vector<unsigned> free_;
    std::vector<Completion> refused_;  // taken by submit() but never sent to the kernel
    std::vector<iovec> registered_;
    PathCounters counters_;
};

BlockPath::~BlockPath()
{
    Completion rest[16];
    while (ring_up_ && in_flight() > 0) {
        if (io_uring_sq_ready(&ring_) > 0)
            io_uring_submit(&ring_);  // left behind by a submit() that failed
        const auto done = wait(rest, 1000);
        if (!done && done.error().code != ETIMEDOUT)
            break;
    }
    if (ring_up_)
        io_uring_queue_exit(&ring_);
}

Status BlockPath::start()
{
    // COOP_TASKRUN: completions do not interrupt the thread that polls for them (5.19)
    const auto entries = static_cast<unsigned>(slots_.size());
    const unsigned flags = polled_ ? IORING_SETUP_IOPOLL : 0;
    int rc = io_uring_queue_init(entries, &ring_,
                                 flags | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG);
    if (rc == -EINVAL)
        rc = io_uring_queue_init(entries, &ring_, flags);
    if (rc < 0)
        return error_from_errno(-rc, fmt::format("{}: io_uring", info_.device));
    ring_up_ = true;
    return ok();
}

Status BlockPath::register_buffer(std::span<std::byte> memory)
{
    if (in_flight() > 0)
        return Error{EBUSY, "buffers are registered while no I/O is in flight"};
    // The kernel has one table of buffers: replace it by a longer one.
    if (!registered_.empty())
        io_uring_unregister_buffers(&ring_);
    registered_.push_back({memory.data(), memory.size()});
    const int rc = io_uring_register_buffers(&ring_, registered_.data(),
                                             static_cast<unsigned>(registered_.size()));
    if (rc < 0) {
        registered_.clear();
        return error_from_errno(
            -rc, fmt::format("{}: registering a buffer of {} bytes", info_.device, memory.size()));
    }
    counters_.registrations++;
    return ok();
}

int BlockPath::fixed_index(std::span<std::byte> data) const noexcept
{
    for (std::size_t i = 0; i < registered_.size(); i++) {
        const auto* base = static_cast<const std::byte*>(registered_[i].iov_base);
        if (data.data() >= base && data.data() + data.size() <= base + registered_[i].iov_len)
            return static_cast<int>(i);
    }
    return -1;
}

/// Why an I/O cannot be sent, or 0.
int BlockPath::refusal(const Io& io) const
{
    return polled_ && io.op == Op::flush ? EOPNOTSUPP : check_io(info_, io);
}

void BlockPath::prepare(io_uring_sqe* sqe, const Io& io)
{
    const auto bytes = static_cast<unsigned>(io.data.size());
    const std::uint64_t offset = io.lba * info_.block_size;
    const int index = io.op == Op::flush ? -1 : fixed_index(io.data);
    if (io.op == Op::flush)
        io_uring_prep_fsync(sqe, fd_.get(), IORING_FSYNC_DATASYNC);
    else if (io.op == Op::read && index >= 0)
        io_uring_prep_read_fixed(sqe, fd_.get(), io.data.data(), bytes, offset, index);
    else if (io.op == Op::read)
        io_uring_prep_read(sqe, fd_.get(), io.data.data(), bytes, offset);
    else if (index >= 0)
        io_uring_prep_write_fixed(sqe, fd_.get(), io.data.data(), bytes, offset, index);
    else
        io_uring_prep_write(sqe, fd_.get(), io.data.data(), bytes, offset);

    const unsigned slot = free_.back();
    free_.pop_back();
    slots_[slot] = {io.tag, io.data.size()};
    io_uring_sqe_set_data64(sqe, slot);
}

Result<std::size_t> BlockPath::submit(std::span<const Io> batch)
{
    std::size_t taken = 0;
    unsigned queued = 0;
    for (const Io& io : batch) {
        // refused ones count against the depth too, until they are collected
        if (free_.size() <= refused_.size())
            break;
        if (const int code = refusal(io)) {
            refused_.push_back({io.tag, code, 0});
        } else {
            prepare(io_uring_get_sqe(&ring_), io);  // as many entries as slots: never null
            queued++;
        }
        taken++;
    }
    while (queued > 0) {
        const int rc = io_uring_submit(&ring_);
        counters_.doorbells++;
        if (rc == -EINTR)
            continue;
        if (rc == -EAGAIN || rc == -EBUSY) {
            // short of memory, or the completion ring overflowed: let completions flow
            io_uring_get_events(&ring_);
            continue;
        }
        if (rc < 0)
            return error_from_errno(-rc, fmt::format("{}: io_uring_enter", info_.device));
        queued -= std::min(queued, static_cast<unsigned>(rc));
    }
    return taken;
}

std::size_t BlockPath::take(std::span<Completion> out)
{
    std::size_t n = 0;
    for (; n < out.size() && !refused_.empty(); n++) {
        out[n] = refused_.back();
        refused_.pop_back();
    }
    io_uring_cqe* cqe = nullptr;
    while (n < out.size() && io_uring_peek_cqe(&ring_, &cqe) == 0) {
        const auto slot = static_cast<unsigned>(io_uring_cqe_get_data64(cqe));
        Completion& done = out[n++];
        done = {slots_[slot].tag, 0, 0};
        if (cqe->res < 0)
            done.status = -cqe->res;
        else if (static_cast<std::size_t>(cqe->res) != slots_[slot].expected)
            done.status = EIO;  // short: the device or file ended
        io_uring_cqe_seen(&ring_, cqe);
        free_.push_back(slot);
        counters_.completions++;
    }
    return n;
}

Result<std::size_t> BlockPath::poll(std::span<Completion> out)
{
    return take(out);
}

Result<std::size_t> BlockPath::wait(std::span<Completion> out, int timeout_ms)
{
    using namespace std::chrono;
    const auto deadline = steady_clock::now() + milliseconds(timeout_ms);
    for (;;) {
        if (const std::size_t n = take(out); n > 0 || in_flight() == 0 || out.empty())
            return n;
        const auto left = duration_cast<nanoseconds>(deadline - steady_clock::now());
        if (left.count() <= 0)
            return Error{ETIMEDOUT,
                         fmt::format("{}: no completion within {} ms", info_.device, timeout_ms)};
        __kernel_timespec time{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
        io_uring_cqe* cqe = nullptr;
        const int rc = io_uring_wait_cqe_timeout(&ring_, &cqe, &time);
        if (rc < 0 && rc != -ETIME && rc != -EINTR && rc != -EAGAIN)
            return error_from_errno(-rc, fmt::format("{}: waiting for completions", info_.device));
    }
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
    if (const Status status = path->start(); !status)
        return status.error();
    return std::unique_ptr<DataPath>(std::move(path));
}

}  // namespace kdp
