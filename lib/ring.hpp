// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// An io_uring with one owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <liburing.h>

#include <kdp/result.hpp>

namespace kdp {

struct RingSetup {
    unsigned entries = 1;     ///< submitted and not yet completed at most
    bool polled = false;      ///< IORING_SETUP_IOPOLL: whoever waits polls the device
    bool sq_thread = false;   ///< IORING_SETUP_SQPOLL: a kernel thread takes what is submitted
    bool wide = false;        ///< IORING_SETUP_SQE128 and CQE32, as NVMe commands want them
    bool one_thread = false;  ///< IORING_SETUP_SINGLE_ISSUER and DEFER_TASKRUN: the thread that
                              ///< submits first is the only one ever. Not with sq_thread.
};

class Ring {
public:
    Ring() = default;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    /// Nothing is in flight any more.
    ~Ring();

    /// Once. What an older kernel does not have, and only costs speed, is left out.
    /// Errors: ENOSYS, EPERM where io_uring is missing or forbidden; EINVAL for a setup that the
    /// kernel does not know; ENOMEM for RLIMIT_MEMLOCK. @p device is for the sentence.
    [[nodiscard]] Status start(const RingSetup& setup, const std::string& device);
    [[nodiscard]] bool up() const noexcept { return up_; }
    [[nodiscard]] bool has_thread() const noexcept { return sq_thread_; }

    /// Whether this thread may submit. The kernel asks as well, but too late: what is in the ring
    /// by then stays there.
    [[nodiscard]] bool ours() const noexcept
    {
        return owner_ == std::thread::id() || owner_ == std::this_thread::get_id();
    }

    /// The next submission, of which all bytes are 0. Never more than entries at a time.
    [[nodiscard]] io_uring_sqe& next_sqe() noexcept;

    /// Hand over what next_sqe() gave, with one io_uring_enter(2), if the kernel takes all at once;
    /// with none if there is nothing, and with a kernel thread mostly. Returns 0 or an errno.
    [[nodiscard]] int submit() noexcept;
    /// What a submit() that failed has left behind.
    void submit_rest() noexcept;

    /// The oldest completion, or null; no system call. It is there until seen().
    [[nodiscard]] io_uring_cqe* peek() noexcept;
    void seen(io_uring_cqe* cqe) noexcept { io_uring_cqe_seen(&ring_, cqe); }

    /// Have the kernel do what it holds back until it is asked, if it does; on a polled ring look
    /// at the device once. Does not sleep.
    void look() noexcept;

    /// Hand over, in the same io_uring_enter(2), what next_sqe() gave, and sleep, or on a polled
    /// ring poll, until there may be a completion. Returns 0, ETIMEDOUT, or an errno. May return
    /// early.
    [[nodiscard]] int wait(std::chrono::steady_clock::time_point deadline) noexcept;

    /// Register memory with the ring, as several buffers of @p slice bytes if it is more; what is
    /// there already stays. EINVAL where the kernel has no such table (before 5.19), ENOSPC, ENOMEM
    /// for RLIMIT_MEMLOCK, EFAULT, EOPNOTSUPP.
    [[nodiscard]] Status add_buffer(std::span<std::byte> memory, std::size_t slice = SIZE_MAX);
    /// The registered buffer in which @p data lie wholly, or -1.
    [[nodiscard]] int buffer_of(std::span<const std::byte> data) const noexcept;

    /// io_uring_enter(2) calls that submitted; 0 with a kernel thread, which makes them rare and
    /// hides them.
    [[nodiscard]] std::uint64_t submissions() const noexcept { return submissions_; }
    [[nodiscard]] std::uint64_t buffers() const noexcept { return buffers_.size(); }

private:
    [[nodiscard]] int enable() noexcept;
    [[nodiscard]] int add_one(std::span<std::byte> memory) noexcept;

    io_uring ring_{};
    bool up_ = false;
    bool disabled_ = false;  // until the first submission, which says whose ring it is
    bool spins_ = false;     // polled, and by us
    bool sq_thread_ = false;
    bool has_table_ = false;
    std::thread::id owner_;  // the only thread that may submit; none: whoever likes
    std::vector<std::span<const std::byte>> buffers_;
    std::uint64_t submissions_ = 0;
};

}  // namespace kdp
