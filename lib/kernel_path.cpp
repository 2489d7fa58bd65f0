// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel_path.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/sysmacros.h>

#include <fmt/format.h>

#include <nvmf/identify.h>

#include "io_check.hpp"
#include "nvme_ioctl.hpp"
#include "provider.hpp"

namespace kdp {
namespace {

constexpr std::uint32_t max_transfer = 1U << 20;
constexpr std::uint32_t controller_page = 4096;  // CAP.MPSMIN is out of reach; this is its least
constexpr unsigned max_depth = 256;              // threads

/// Depth 1: the I/O is done inside submit().
class InlineKernelPath final : public DataPath {
public:
    InlineKernelPath(NvmeIoctl device, NamespaceInfo info)
        : device_(std::move(device)), info_(std::move(info))
    {
    }

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte>) override { return ok(); }

    Result<std::size_t> submit(std::span<const Io> batch) override
    {
        if (batch.empty() || done_)
            return std::size_t{0};
        const Io& io = batch.front();
        const int refused = check_io(info_, io);
        completion_ = refused ? Completion{io.tag, refused, 0} : device_.run(io, info_.block_size);
        done_ = true;
        return std::size_t{1};
    }

    Result<std::size_t> poll(std::span<Completion> out) override
    {
        if (!done_ || out.empty())
            return std::size_t{0};
        out.front() = completion_;
        done_ = false;
        return std::size_t{1};
    }

    Result<std::size_t> wait(std::span<Completion> out, int) override { return poll(out); }

private:
    NvmeIoctl device_;
    NamespaceInfo info_;
    Completion completion_;
    bool done_ = false;
};

/// Depth N: N threads, each with one command in the kernel.
class ThreadedKernelPath final : public DataPath {
public:
    ThreadedKernelPath(NvmeIoctl device, NamespaceInfo info, unsigned depth)
        : device_(std::move(device)), info_(std::move(info)), depth_(depth)
    {
    }
    ~ThreadedKernelPath() override;

    Status start();

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte>) override { return ok(); }
    Result<std::size_t> submit(std::span<const Io> batch) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) override;

private:
    void work();
    std::size_t take(std::span<Completion> out);  // lock_ held

    NvmeIoctl device_;
    NamespaceInfo info_;
    const unsigned depth_;

    std::mutex lock_;                   // all below
    std::condition_variable wanted_;    // a job, or the end
    std::condition_variable finished_;  // a completion
    std::deque<Io> jobs_;
    std::deque<Completion> done_;
    unsigned in_flight_ = 0;  // submitted and not yet collected
    bool stop_ = false;

    std::vector<std::thread> threads_;  // last: they use the rest
};

ThreadedKernelPath::~ThreadedKernelPath()
{
    {
        const std::lock_guard guard(lock_);
        stop_ = true;
    }
    wanted_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

Status ThreadedKernelPath::start()
{
    try {
        for (unsigned i = 0; i < depth_; i++)
            threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
        return error_from_errno(error.code().value(),
                                fmt::format("{}: {} threads", info_.device, depth_));
    }
    return ok();
}

void ThreadedKernelPath::work()
{
    std::unique_lock guard(lock_);
    for (;;) {
        // what was submitted is done even when the end has come
        wanted_.wait(guard, [this] { return stop_ || !jobs_.empty(); });
        if (jobs_.empty())
            return;
        const Io io = jobs_.front();
        jobs_.pop_front();
        guard.unlock();
        const Completion completion = device_.run(io, info_.block_size);
        guard.lock();
        done_.push_back(completion);
        finished_.notify_one();
    }
}

Result<std::size_t> ThreadedKernelPath::submit(std::span<const Io> batch)
{
    std::size_t taken = 0, jobs = 0;
    {
        const std::lock_guard guard(lock_);
        for (const Io& io : batch) {
            if (in_flight_ == depth_)
                break;
            if (const int refused = check_io(info_, io)) {
                done_.push_back({io.tag, refused, 0});
            } else {
                jobs_.push_back(io);
                jobs++;
            }
            in_flight_++;
            taken++;
        }
    }
    for (; jobs > 0; jobs--)
        wanted_.notify_one();
    return taken;
}

std::size_t ThreadedKernelPath::take(std::span<Completion> out)
{
    const std::size_t n = std::min(out.size(), done_.size());
    std::copy_n(done_.begin(), n, out.begin());
    done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(n));
    in_flight_ -= static_cast<unsigned>(n);
    return n;
}

Result<std::size_t> ThreadedKernelPath::poll(std::span<Completion> out)
{
    const std::lock_guard guard(lock_);
    return take(out);
}

Result<std::size_t> ThreadedKernelPath::wait(std::span<Completion> out, int timeout_ms)
{
    std::unique_lock guard(lock_);
    if (in_flight_ == 0 || out.empty())
        return std::size_t{0};
    if (!finished_.wait_for(guard, std::chrono::milliseconds(timeout_ms),
                            [this] { return !done_.empty(); }))
        return Error{ETIMEDOUT,
                     fmt::format("{}: no completion within {} ms", info_.device, timeout_ms)};
    return take(out);
}

/// The kernel's name of the character device: the node may be called anything.
std::string kernel_name(dev_t number)
{
    std::error_code error;
    const auto path = std::filesystem::canonical(
        fmt::format("/sys/dev/char/{}:{}", major(number), minor(number)), error);
    return error ? std::string() : path.filename().string();
}

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

Result<NamespaceInfo> describe(const NvmeIoctl& device, const std::string& name)
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
    const std::string disk = disk_of_char_device(kernel_name(device.device_number()));
    const DeviceOrigin origin = disk.empty() ? DeviceOrigin{} : origin_of_disk(disk);
    info.provider = origin.provider;
    info.device = name;
    if (!origin.description.empty())
        info.device += fmt::format(" ({})", origin.description);
    std::uint32_t limit = disk_limit(disk);
    if (mdts != 0 && mdts < 16)
        limit = std::min(limit, controller_page << mdts);
    info.max_transfer = std::max(limit / info.block_size * info.block_size, info.block_size);
    return info;
}

}  // namespace

Result<std::unique_ptr<DataPath>> open_kernel_path(const std::string& name,
                                                   const OpenOptions& options)
{
    if (options.depth == 0 || options.depth > max_depth)
        return Error{EINVAL, fmt::format("depth {}: 1 to {} are possible, a thread each",
                                         options.depth, max_depth)};
    auto device = NvmeIoctl::open(name);
    if (!device)
        return device.error();
    auto info = describe(device.value(), name);
    if (!info)
        return info.error();
    if (options.depth == 1)
        return std::unique_ptr<DataPath>(
            std::make_unique<InlineKernelPath>(std::move(device).value(), std::move(info).value()));
    auto path = std::make_unique<ThreadedKernelPath>(std::move(device).value(),
                                                     std::move(info).value(), options.depth);
    if (const Status status = path->start(); !status)
        return status.error();
    return std::unique_ptr<DataPath>(std::move(path));
}

}  // namespace kdp
