// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Waiting with an end: deadlines, events that other threads signal, and poll(2) on both.
#pragma once

#include <chrono>
#include <span>
#include <utility>

#include <poll.h>

#include <kdp/result.hpp>

#include "unique_fd.hpp"

namespace kdp::fabrics {

/// An event that stays signalled once it was: for stop and for lost connections.
class Latch {
public:
    static Result<Latch> create();

    /// May be called by any thread.
    void signal() const noexcept;
    /// Not signalled any more, until the next signal(): for who is told of several things and
    /// looks for what is new afterwards.
    void reset() const noexcept;
    /// Readable from the first signal() on.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    explicit Latch(UniqueFd fd) noexcept : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

using Clock = std::chrono::steady_clock;

/// A point in time up to which something may take.
class Deadline {
public:
    static Deadline in(std::chrono::milliseconds time) { return Deadline(Clock::now() + time); }
    static Deadline never() { return Deadline(Clock::time_point::max()); }

    [[nodiscard]] bool passed() const
    {
        return at_ != Clock::time_point::max() && Clock::now() >= at_;
    }
    /// For poll(2): milliseconds left, rounded up; 0 when it has passed; -1 for never.
    [[nodiscard]] int poll_ms() const;
    [[nodiscard]] Deadline or_sooner(Deadline other) const
    {
        return other.at_ < at_ ? other : *this;
    }

private:
    explicit Deadline(Clock::time_point at) : at_(at) {}
    Clock::time_point at_;
};

/// How long someone waits: up to a point in time, and once @p hurry is signalled, by another
/// thread, no more than a second from then on.
struct Patience {
    Deadline until = Deadline::never();
    const Latch* hurry = nullptr;

    static Patience in(std::chrono::milliseconds time) { return {Deadline::in(time), nullptr}; }
    /// The same haste, for a part that may take no longer than @p time.
    [[nodiscard]] Patience for_part(std::chrono::milliseconds time) const
    {
        return {until.or_sooner(Deadline::in(time)), hurry};
    }

    /// Whether somebody waits for the waiter.
    [[nodiscard]] bool hurried() const;
    /// Sleep until one of @p fds (four at most) is ready: their revents tell which. Returns
    /// false when there is no time left. Notices haste, and sleeps on then.
    bool sleep(std::span<pollfd> fds);
};

/// poll(2) that goes on after a signal. Returns how many are ready, 0 after the deadline.
int poll_until(std::span<pollfd> fds, Deadline deadline);
/// Once, and for a second at the most (less after a signal): for who has to look at something else
/// now and then.
int poll_a_second(std::span<pollfd> fds, Deadline deadline);

/// Make reads of a file descriptor return EAGAIN instead of sleeping.
Status set_nonblocking(int fd);

}  // namespace kdp::fabrics
