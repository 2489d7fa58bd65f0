// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where the keeper tells the threads that drive paths what time it is, and of a lost controller.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "patience.hpp"

namespace kdp::fabrics {

class Health {
public:
    static Result<std::unique_ptr<Health>> create();

    /// The first reason stays.
    void report_loss(Error why);
    /// Costs one load: may be asked on every poll.
    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    [[nodiscard]] Error why() const;
    /// Readable once lost, to sleep on; by any number of threads.
    [[nodiscard]] int fd() const noexcept { return wake_.fd(); }

    /// Seconds since the keeper began, as it looked last: some second ago, or longer while it
    /// waits for an answer. Costs one load: it is what commands' ages are counted by.
    [[nodiscard]] unsigned seconds() const noexcept
    {
        return seconds_.load(std::memory_order_relaxed);
    }
    /// By the keeper.
    void tell_time(unsigned seconds) noexcept
    {
        seconds_.store(seconds, std::memory_order_relaxed);
    }

private:
    explicit Health(Latch wake) : wake_(std::move(wake)) {}

    std::atomic<bool> lost_{false};
    std::atomic<unsigned> seconds_{0};
    mutable std::mutex mutex_;  // why_
    Error why_;
    Latch wake_;
};

}  // namespace kdp::fabrics
