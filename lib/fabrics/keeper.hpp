// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What must go on while nobody calls into the path: keep-alive (rule H10), and
/// noticing that a connection ended.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "admin.hpp"

namespace kdp::verbs {

/// Where the keeper tells the thread that drives the path of a lost connection.
class Health {
public:
    static Result<std::unique_ptr<Health>> create();

    /// The first reason stays.
    void report_loss(Error why);
    /// Costs one load: may be asked on every poll.
    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    [[nodiscard]] Error why() const;
    /// Readable once lost, to sleep on.
    [[nodiscard]] int fd() const noexcept { return wake_.fd(); }

private:
    explicit Health(Latch wake) : wake_(std::move(wake)) {}

    std::atomic<bool> lost_{false};
    mutable std::mutex mutex_;  // why_
    Error why_;
    Latch wake_;
};

/// A thread of its own. From construction to destruction it alone uses the admin
/// queue (rule H7) and reads the CM events of both connections; it never touches the
/// I/O queue, whose owner acts on Health.
class Keeper {
public:
    /// @p keep_alive_ms as in Connect; a Keep Alive goes out twice as often. 0: none.
    static Result<std::unique_ptr<Keeper>> start(Admin& admin, Connection& io, Health& health,
                                                 std::uint32_t keep_alive_ms);
    /// Joins; within about a second even when the controller does not answer.
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

private:
    Keeper(Admin& admin, Connection& io, Health& health, std::uint32_t keep_alive_ms, Latch stop);
    void run();
    Status watch(Deadline deadline, bool& stopped);

    Admin& admin_;
    Connection& io_;
    Health& health_;
    std::chrono::milliseconds period_;
    Latch stop_;
    std::jthread thread_;
};

}  // namespace kdp::verbs
