// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace kdp {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr unsigned buffers_at_most = 1024;
constexpr std::size_t buffer_at_most = std::size_t{1} << 30;  // the kernel's limit

// Longer than the gaps between batches of one that is busy, and short for the CPU that it burns.
constexpr auto sq_thread_idle = 50ms;

// A driver ends a command that gets no answer after 30 s.
constexpr auto driver_timeout = 30s;

io_uring_params params_of(const RingSetup& setup)
{
    io_uring_params params{};
    if (setup.polled)
        params.flags |= IORING_SETUP_IOPOLL;
    if (setup.wide)
        params.flags |= IORING_SETUP_SQE128 | IORING_SETUP_CQE32;
    if (setup.sq_thread) {
        params.flags |= IORING_SETUP_SQPOLL;
        params.sq_thread_idle =
            static_cast<unsigned>(std::chrono::milliseconds(sq_thread_idle).count());
    }
    return params;
}

}  // namespace

Ring::~Ring()
{
    if (up_)
        io_uring_queue_exit(&ring_);
}

Status Ring::start(const RingSetup& setup, const std::string& device)
{
    // The thread takes a batch's entries back when it is through with all of it: until then the
    // next batch needs others.
    const unsigned entries = setup.sq_thread ? 2 * setup.entries : setup.entries;

    // From the best to what every kernel has. Completions do not interrupt the thread that
    // polls for them (COOP_TASKRUN, 5.19), or are not even made before it asks (DEFER_TASKRUN,
    // 6.1).
    constexpr unsigned deferred = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                                  IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_R_DISABLED;
    constexpr unsigned cooperative = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
    int rc = -EINVAL;
    for (const unsigned more : {deferred, cooperative, 0U}) {
        if ((more == deferred && !setup.one_thread) || (more != 0 && setup.sq_thread))
            continue;
        io_uring_params params = params_of(setup);
        params.flags |= more;
        rc = io_uring_queue_init_params(entries, &ring_, &params);
        disabled_ = more == deferred;
        if (rc != -EINVAL)
            break;
    }
    if (rc < 0)
        return error_from_errno(-rc, fmt::format("{}: io_uring", device));
    up_ = true;
    sq_thread_ = setup.sq_thread;
    spins_ = setup.polled && !setup.sq_thread;
    return ok();
}

io_uring_sqe& Ring::next_sqe() noexcept
{
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);  // there are as many as are used: never null
    const bool wide = (ring_.flags & IORING_SETUP_SQE128) != 0;
    std::memset(sqe, 0, wide ? 2 * sizeof(*sqe) : sizeof(*sqe));
    return *sqe;
}

int Ring::enable() noexcept
{
    if (!disabled_)
        return 0;
    // liburing 2.3 declares a function for it, and lacks it
    const int rc = io_uring_register(static_cast<unsigned>(ring_.ring_fd),
                                     IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
    if (rc < 0)
        return -rc;
    disabled_ = false;
    owner_ = std::this_thread::get_id();
    return 0;
}

int Ring::submit() noexcept
{
    if (sq_thread_) {
        int rc;
        do
            rc = io_uring_submit(&ring_);
        while (rc == -EINTR);
        return rc < 0 ? -rc : 0;  // they are in the ring: the thread takes them
    }
    while (io_uring_sq_ready(&ring_) > 0) {
        if (const int failed = enable())
            return failed;
        const int rc = io_uring_submit(&ring_);
        submissions_++;
        if (rc == -EINTR)
            continue;
        if (rc == -EAGAIN || rc == -EBUSY) {
            // short of memory, or the completion ring overflowed: let completions flow
            io_uring_get_events(&ring_);
            continue;
        }
        if (rc < 0)
            return -rc;
    }
    return 0;
}

void Ring::submit_rest() noexcept
{
    if (io_uring_sq_ready(&ring_) > 0 && enable() == 0)
        io_uring_submit(&ring_);
}

io_uring_cqe* Ring::peek() noexcept
{
    io_uring_cqe* cqe = nullptr;
    if (io_uring_cq_ready(&ring_) == 0 || io_uring_peek_cqe(&ring_, &cqe) != 0)
        return nullptr;
    return cqe;
}

void Ring::look() noexcept
{
    io_uring_cqe* cqe = nullptr;
    if (!disabled_)
        io_uring_peek_cqe(&ring_, &cqe);  // enters the kernel if that is called for
}

int Ring::wait(steady_clock::time_point deadline) noexcept
{
    const auto left = deadline - steady_clock::now();
    if (left <= 0ns)
        return ETIMEDOUT;
    if (!sq_thread_ && io_uring_sq_ready(&ring_) > 0) {
        if (const int failed = enable())
            return failed;
        submissions_++;
    }
    int rc;
    if (spins_) {
        // The kernel spins until something completes, whatever the time. Who waits longer than
        // the driver does gets an answer so; others look, and look at the clock.
        const unsigned least = left > driver_timeout ? 1 : 0;
        rc = io_uring_submit_and_wait(&ring_, least);
    } else {
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
        __kernel_timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
        io_uring_cqe* cqe = nullptr;
        rc = io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &time, nullptr);
    }
    const bool again = rc == -ETIME || rc == -EINTR || rc == -EAGAIN || rc == -EBUSY;
    return rc >= 0 || again ? 0 : -rc;
}

int Ring::add_one(std::span<std::byte> memory) noexcept
{
    if (buffers_.size() == buffers_at_most)
        return ENOSPC;
    if (!has_table_) {
        const int rc = io_uring_register_buffers_sparse(&ring_, buffers_at_most);
        if (rc < 0)
            return -rc;
        has_table_ = true;
    }
    const iovec place{memory.data(), memory.size()};
    const __u64 tag = 0;
    const int rc = io_uring_register_buffers_update_tag(
        &ring_, static_cast<unsigned>(buffers_.size()), &place, &tag, 1);
    if (rc < 0)
        return -rc;
    buffers_.emplace_back(memory);
    return 0;
}

Status Ring::add_buffer(std::span<std::byte> memory, std::size_t slice)
{
    if (buffer_of(memory) >= 0)
        return ok();
    slice = std::min(slice, buffer_at_most);
    for (std::size_t at = 0; at < memory.size(); at += slice) {
        const int code = add_one(memory.subspan(at, std::min(slice, memory.size() - at)));
        if (code == 0)
            continue;
        const std::string what = fmt::format("registering {} bytes with io_uring", memory.size());
        if (code == ENOMEM)
            return Error{ENOMEM,
                         what + ": more than RLIMIT_MEMLOCK allows (ulimit -l), or no memory"};
        if (code == ENOSPC)
            return Error{ENOSPC,
                         fmt::format("{}: it has {} buffers already", what, buffers_.size())};
        return error_from_errno(code, what);
    }
    return ok();
}

int Ring::buffer_of(std::span<const std::byte> data) const noexcept
{
    for (std::size_t i = 0; i < buffers_.size(); i++) {
        const auto& buffer = buffers_[i];
        if (data.data() >= buffer.data() &&
            data.data() + data.size() <= buffer.data() + buffer.size())
            return static_cast<int>(i);
    }
    return -1;
}

}  // namespace kdp
