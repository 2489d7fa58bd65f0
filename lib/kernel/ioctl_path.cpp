// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/ioctl_path.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "io_check.hpp"

namespace kdp::kernel {
namespace {

class IoctlPath : public DataPath {
public:
    [[nodiscard]] const NamespaceInfo& info() const noexcept final { return info_; }
    Status register_buffer(std::span<std::byte> memory) final
    {
        return memory_.add(device_, memory);
    }
    Result<Region> register_file(int file, std::uint64_t offset, std::uint64_t length,
                                 Access access) final
    {
        return memory_.add_file(device_, file, offset, length, access);
    }
    [[nodiscard]] PathCounters counters() const noexcept final { return memory_.counters(); }

protected:
    IoctlPath(NvmeDevice device, NamespaceInfo info, Memory memory)
        : device_(std::move(device)), info_(std::move(info)), memory_(std::move(memory))
    {
    }
    ~IoctlPath() override = default;

    [[nodiscard]] Completion run(const Io& io) noexcept
    {
        return device_.run(io, info_.block_size);
    }

private:
    NvmeDevice device_;
    NamespaceInfo info_;
    Memory memory_;
};

/// Depth 1: the I/O is done inside submit().
class InlinePath final : public IoctlPath {
public:
    InlinePath(NvmeDevice device, NamespaceInfo info, Memory memory)
        : IoctlPath(std::move(device), std::move(info), std::move(memory))
    {
    }

    Result<std::size_t> submit(std::span<const Io> batch) override
    {
        if (batch.empty() || done_)
            return std::size_t{0};
        const Io& io = batch.front();
        const int refused = check_io(info(), io);
        completion_ = refused ? Completion{io.tag, refused, 0} : run(io);
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
    Completion completion_;
    bool done_ = false;
};

/// Depth N: N threads, each with one command in the kernel.
class ThreadedPath final : public IoctlPath {
public:
    ThreadedPath(NvmeDevice device, NamespaceInfo info, Memory memory, unsigned depth)
        : IoctlPath(std::move(device), std::move(info), std::move(memory)), depth_(depth)
    {
    }
    ~ThreadedPath() override;

    Status start();

    Result<std::size_t> submit(std::span<const Io> batch) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) override;

private:
    void work();
    std::size_t take(std::span<Completion> out);  // lock_ held

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

ThreadedPath::~ThreadedPath()
{
    {
        const std::lock_guard guard(lock_);
        stop_ = true;
    }
    wanted_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

Status ThreadedPath::start()
{
    try {
        for (unsigned i = 0; i < depth_; i++)
            threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
        return error_from_errno(error.code().value(),
                                fmt::format("{}: {} threads", info().device, depth_));
    }
    return ok();
}

void ThreadedPath::work()
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
        const Completion completion = run(io);
        guard.lock();
        done_.push_back(completion);
        finished_.notify_one();
    }
}

Result<std::size_t> ThreadedPath::submit(std::span<const Io> batch)
{
    std::size_t taken = 0, jobs = 0;
    {
        const std::lock_guard guard(lock_);
        for (const Io& io : batch) {
            if (in_flight_ == depth_)
                break;
            if (const int refused = check_io(info(), io)) {
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

std::size_t ThreadedPath::take(std::span<Completion> out)
{
    const std::size_t n = std::min(out.size(), done_.size());
    std::copy_n(done_.begin(), n, out.begin());
    done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(n));
    in_flight_ -= static_cast<unsigned>(n);
    return n;
}

Result<std::size_t> ThreadedPath::poll(std::span<Completion> out)
{
    const std::lock_guard guard(lock_);
    return take(out);
}

Result<std::size_t> ThreadedPath::wait(std::span<Completion> out, int timeout_ms)
{
    std::unique_lock guard(lock_);
    if (in_flight_ == 0 || out.empty())
        return std::size_t{0};
    if (!finished_.wait_for(guard, std::chrono::milliseconds(timeout_ms),
                            [this] { return !done_.empty(); }))
        return Error{ETIMEDOUT,
                     fmt::format("{}: no completion within {} ms", info().device, timeout_ms)};
    return take(out);
}

}  // namespace

Result<std::unique_ptr<DataPath>> open_ioctl_path(NvmeDevice device, NamespaceInfo info,
                                                  Memory memory, unsigned depth)
{
    if (depth == 1)
        return std::unique_ptr<DataPath>(
            std::make_unique<InlinePath>(std::move(device), std::move(info), std::move(memory)));
    auto path = std::make_unique<ThreadedPath>(std::move(device), std::move(info),
                                               std::move(memory), depth);
    if (const Status status = path->start(); !status)
        return status.error();
    return std::unique_ptr<DataPath>(std::move(path));
}

}  // namespace kdp::kernel
