// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring_path.hpp"

#include <cerrno>
#include <chrono>

#include <fmt/format.h>

namespace kdp {

RingPath::RingPath(NamespaceInfo info, unsigned depth) : info_(std::move(info)), slots_(depth)
{
    free_.reserve(depth);
    for (unsigned i = depth; i-- > 0;)
        free_.push_back(i);
}

Status RingPath::start(RingSetup setup)
{
    setup.entries = static_cast<unsigned>(slots_.size());
    return ring_.start(setup, info_.device);
}

void RingPath::drain()
{
    Completion rest[16];
    while (ring_.up() && in_flight() > 0) {
        ring_.submit_rest();
        const auto done = wait(rest, 1000);
        if (!done && done.error().code != ETIMEDOUT)
            break;
    }
}

Result<std::size_t> RingPath::submit(std::span<const Io> batch)
{
    auto taken = queue(batch);
    if (!taken)
        return taken;
    if (const Status sent = send_queued(); !sent)
        return sent.error();
    return taken;
}

Status RingPath::send_queued()
{
    if (const int failed = ring_.submit())
        return error_from_errno(failed, fmt::format("{}: io_uring_enter", info_.device));
    return ok();
}

Result<std::size_t> RingPath::queue(std::span<const Io> batch)
{
    if (!ring_.ours())
        return Error{EEXIST, fmt::format("{}: this path belongs to the thread that used it first",
                                         info_.device)};
    std::size_t taken = 0;
    for (const Io& io : batch) {
        // refused ones count against the depth too, until they are collected
        if (free_.size() <= refused_.size())
            break;
        taken++;
        if (const int code = refusal(io)) {
            refused_.push_back({io.tag, code, 0});
            continue;
        }
        io_uring_sqe& sqe = ring_.next_sqe();
        prepare(sqe, io);
        const unsigned slot = free_.back();
        free_.pop_back();
        slots_[slot] = {io.tag, io.data.size()};
        io_uring_sqe_set_data64(&sqe, slot);
    }
    if (ring_.has_thread())  // it is busy meanwhile
        if (const Status sent = send_queued(); !sent)
            return sent.error();
    return taken;
}

std::size_t RingPath::take(std::span<Completion> out)
{
    std::size_t n = 0;
    for (; n < out.size() && !refused_.empty(); n++) {
        out[n] = refused_.back();
        refused_.pop_back();
    }
    while (n < out.size()) {
        io_uring_cqe* cqe = ring_.peek();
        if (!cqe)
            break;
        const auto slot = static_cast<unsigned>(io_uring_cqe_get_data64(cqe));
        out[n++] = outcome(slots_[slot], cqe->res);
        ring_.seen(cqe);
        free_.push_back(slot);
        completions_++;
    }
    return n;
}

Result<std::size_t> RingPath::poll(std::span<Completion> out)
{
    if (const Status sent = send_queued(); !sent)
        return sent.error();
    const std::size_t n = take(out);
    if (n > 0 || in_flight() == 0 || out.empty())
        return n;
    ring_.look();
    return take(out);
}

Result<std::size_t> RingPath::wait(std::span<Completion> out, int timeout_ms)
{
    using namespace std::chrono;
    const auto deadline = steady_clock::now() + milliseconds(timeout_ms);
    for (;;) {
        if (const std::size_t n = take(out); n > 0 || in_flight() == 0 || out.empty()) {
            // completions that were taken come first: what cannot be sent now is told next time
            if (const Status sent = send_queued(); !sent && n == 0)
                return sent.error();
            return n;
        }
        const int failed = ring_.wait(deadline);
        if (failed == ETIMEDOUT)
            return Error{ETIMEDOUT,
                         fmt::format("{}: no completion within {} ms", info_.device, timeout_ms)};
        if (failed)
            return error_from_errno(failed,
                                    fmt::format("{}: waiting for completions", info_.device));
    }
}

PathCounters RingPath::counters() const noexcept
{
    PathCounters counters;
    counters.doorbells = ring_.submissions();
    counters.completions = completions_;
    counters.registrations = ring_.buffers();
    return counters;
}

}  // namespace kdp
