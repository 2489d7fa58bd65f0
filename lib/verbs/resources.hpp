// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Owners, move-only, of everything that librdmacm, libibverbs and the system hand
/// out, and the bounded waiting that the verbs path does on file descriptors.
///
/// Members of a class are destroyed last to first: declare them in the order in
/// which they depend on each other (channel, id, PD, CQ, QP, MR).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <poll.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <kdp/result.hpp>

#include "unique_fd.hpp"

namespace kdp::verbs {

/// Deleter that calls a C function.
template <auto Function>
struct Call {
    template <typename T>
    void operator()(T* object) const noexcept
    {
        Function(object);
    }
};

using EventChannel = std::unique_ptr<rdma_event_channel, Call<rdma_destroy_event_channel>>;
using CmId = std::unique_ptr<rdma_cm_id, Call<rdma_destroy_id>>;
using Pd = std::unique_ptr<ibv_pd, Call<ibv_dealloc_pd>>;
using CompChannel = std::unique_ptr<ibv_comp_channel, Call<ibv_destroy_comp_channel>>;
using Cq = std::unique_ptr<ibv_cq, Call<ibv_destroy_cq>>;
using Mr = std::unique_ptr<ibv_mr, Call<ibv_dereg_mr>>;
/// The QP of the id that it points to; once it is gone, the HCA touches no memory
/// on its behalf any more.
using QpOfId = std::unique_ptr<rdma_cm_id, Call<rdma_destroy_qp>>;

/// An event that stays signalled once it was: for stop and for lost connections.
class Latch {
public:
    static Result<Latch> create();

    /// May be called by any thread.
    void signal() const noexcept;
    /// Readable from the first signal() on.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    explicit Latch(UniqueFd fd) noexcept : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

/// Zeroed pages of our own, for memory that the HCA reads and writes.
class Pages {
public:
    static Result<Pages> allocate(std::size_t bytes);

    Pages() = default;
    Pages(Pages&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {
    }
    Pages& operator=(Pages&& other) noexcept
    {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Pages();

    [[nodiscard]] std::byte* data() const noexcept { return base_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    Pages(std::byte* base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
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

/// poll(2) that goes on after a signal. Returns how many are ready, 0 after the deadline.
int poll_until(std::span<pollfd> fds, Deadline deadline);

/// Make reads of a file descriptor return EAGAIN instead of sleeping.
Status set_nonblocking(int fd);

}  // namespace kdp::verbs
