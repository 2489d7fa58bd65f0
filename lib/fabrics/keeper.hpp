// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What must go on while nobody calls into the paths of a controller: keep-alive (rule H10),
/// noticing that a connection ended, and what follows from that.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "admin.hpp"
#include "health.hpp"

namespace kdp::fabrics {

/// A thread of its own, shared by all the paths of one controller. From construction to
/// destruction it alone uses the admin queue (rule H7) and looks for the end of the
/// connections; it never touches an I/O queue otherwise, whose owner acts on Health.
class Keeper {
public:
    /// Called by the keeper's thread when the controller is lost, for @p why: a new one, or the
    /// error that Health is to tell of. Once @p stop is signalled, it returns within a second
    /// or so. watch(), forget() and forget_loss() of the @p keeper may be called in it.
    using Recover = std::function<Result<std::unique_ptr<Admin>>(Keeper& keeper, const Error& why,
                                                                 const Latch& stop)>;

    /// @p keep_alive_ms as in Connect; a Keep Alive goes out twice as often. 0: none.
    /// Without @p recover a lost controller stays lost.
    static Result<std::shared_ptr<Keeper>> start(std::unique_ptr<Admin> admin,
                                                 std::uint32_t keep_alive_ms, Recover recover = {});
    /// Joins, within about a second even when the controller does not answer; then the
    /// controller is shut down. Every I/O queue is gone by then (rule H5).
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    /// Look for the end of this I/O queue too, by CommandQueue::watch(). By any thread.
    void watch(CommandQueue& queue);
    /// No more: when it returns, the keeper does not touch @p queue. By any thread.
    void forget(CommandQueue& queue);
    /// An I/O queue's owner has found the controller lost, before the keeper did. By any thread.
    void lose(Error why);
    /// What lose() was told of is over: for Recover, once no one says it of the old controller
    /// any more.
    void forget_loss();

    [[nodiscard]] Health& health() noexcept { return *health_; }

private:
    Keeper(std::unique_ptr<Admin> admin, std::unique_ptr<Health> health,
           std::uint32_t keep_alive_ms, Recover recover, Latch stop, Latch news);
    void run();
    Status keep(bool& stopped);
    Status look(Deadline deadline, bool& stopped);
    Status check_queues();

    std::unique_ptr<Admin> admin_;
    std::unique_ptr<Health> health_;
    std::chrono::milliseconds period_;
    const Clock::time_point began_ = Clock::now();
    Recover recover_;
    Latch stop_;
    Latch news_;  // queues_ or loss_ has changed

    std::mutex mutex_;  // queues_, what they are used for here, and loss_
    std::vector<CommandQueue*> queues_;
    std::optional<Error> loss_;

    std::jthread thread_;
};

}  // namespace kdp::fabrics
