// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What the paths through an io_uring share: slots, batches, collecting.
#pragma once

#include <cstdint>
#include <vector>

#include <kdp/data_path.hpp>

#include "ring.hpp"

namespace kdp {

/// A batch is one io_uring_enter(2), which waits as well if it may; completions are taken from the
/// mapped ring, so that poll() makes a system call only when the kernel flags pending work. On a
/// ring whose device is polled, that is always.
///
/// A derived class says what an I/O looks like on the ring, and calls drain() in its destructor.
class RingPath : public DataPath {
public:
    [[nodiscard]] const NamespaceInfo& info() const noexcept final { return info_; }
    Result<std::size_t> submit(std::span<const Io> batch) final;
    Result<std::size_t> queue(std::span<const Io> batch) final;
    Result<std::size_t> poll(std::span<Completion> out) final;
    Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) final;
    [[nodiscard]] PathCounters counters() const noexcept override;

protected:
    struct Slot {
        std::uint64_t tag = 0;
        std::size_t bytes = 0;  ///< of data
    };

    RingPath(NamespaceInfo info, unsigned depth);
    ~RingPath() override = default;

    [[nodiscard]] Status start(RingSetup setup);
    /// Wait for what is in flight.
    void drain();

    [[nodiscard]] Ring& ring() noexcept { return ring_; }
    [[nodiscard]] const Ring& ring() const noexcept { return ring_; }
    [[nodiscard]] std::size_t in_flight() const noexcept { return slots_.size() - free_.size(); }

    /// Why an I/O cannot be sent, or 0.
    [[nodiscard]] virtual int refusal(const Io& io) const noexcept = 0;
    /// Fill @p sqe, which is all 0, but for user_data.
    virtual void prepare(io_uring_sqe& sqe, const Io& io) noexcept = 0;
    /// What the kernel's result @p res means for the I/O of @p slot.
    [[nodiscard]] virtual Completion outcome(const Slot& slot, int res) const noexcept = 0;

private:
    std::size_t take(std::span<Completion> out);
    [[nodiscard]] Status send_queued();

    NamespaceInfo info_;
    Ring ring_;
    std::vector<Slot> slots_;
    std::vector<unsigned> free_;
    std::vector<Completion> refused_;  // taken by submit() but never sent to the kernel
    std::uint64_t completions_ = 0;
};

}  // namespace kdp
