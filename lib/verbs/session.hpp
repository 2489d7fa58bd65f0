// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What the paths of one controller share: the controller, and its coming back.
///
///     path 1 ── Line 1 ── I/O queue 1 ─┐
///     path 2 ── Line 2 ── I/O queue 2 ─┼─ controller ── Keeper (a thread)
///                         admin queue ─┘
///
/// When the controller is lost, the keeper's thread ends the connections, tells each path by
/// its line, and tries to connect again until the time is over. Then each path finds its new
/// queue on its line, or Health tells that there will be none. A path's queue belongs to the
/// path; while it is on the line, to the session.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "connector.hpp"
#include "fabrics/keeper.hpp"

namespace kdp::verbs {

using fabrics::Keeper;
using fabrics::Latch;

/// A queue to be taken over by its path.
struct Fresh {
    std::unique_ptr<Queue> queue;
    std::uint32_t in_capsule_max = 0;
    unsigned epoch = 0;  ///< the controller's that it belongs to
};

/// Between the session and one path.
class Line {
public:
    Line(std::uint16_t qid, Latch news) : qid_(qid), news_(std::move(news)) {}

    /// Signalled when the session has something new. Reset it, then look.
    [[nodiscard]] const Latch& news() const noexcept { return news_; }

private:
    friend class Session;
    std::uint16_t qid_;
    Latch news_;
    std::atomic<bool> ready_{false};  // fresh_ has a queue
    // the session's mutex_ protects these
    Fresh fresh_;
    Queue* watched_ = nullptr;
    bool left_ = false;
};

class Session {
public:
    /// A controller with @p count I/O queues; on each line waits the path's queue.
    static Result<std::shared_ptr<Session>> open(const PathUri& uri, const OpenOptions& options,
                                                 unsigned count);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    [[nodiscard]] const NamespaceInfo& info() const noexcept { return info_; }
    [[nodiscard]] std::uint32_t nsid() const noexcept { return connector_.nsid(); }
    [[nodiscard]] Line& line(unsigned index) noexcept { return *lines_[index]; }

    /// Counts losses: a queue of an earlier epoch is of a controller that is gone. Costs one
    /// load.
    [[nodiscard]] unsigned epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }
    /// Why the controller was lost last.
    [[nodiscard]] Error why() const;
    /// Whether a lost controller is waited for.
    [[nodiscard]] bool recovers() const noexcept { return loss_time_.count() > 0; }
    /// Lost for good, once it says so.
    [[nodiscard]] fabrics::Health& health() noexcept { return keeper_->health(); }

    /// The queue on @p line, or none. By the path's thread.
    Fresh take(Line& line);
    /// The path found its queue, of @p epoch, broken: the controller is lost.
    void lose(Error why, unsigned epoch);
    /// The path ends: nobody looks at its queue any more.
    void leave(Line& line);

private:
    Session(Connector connector, std::chrono::seconds loss_time)
        : connector_(std::move(connector)), loss_time_(loss_time)
    {
    }
    Result<std::unique_ptr<Admin>> recover(Keeper& keeper, const Error& why, const Latch& stop);
    void end_connections(Keeper& keeper, const Error& why);
    [[nodiscard]] std::vector<std::uint16_t> wanted() const;
    [[nodiscard]] Status same_namespace(const Controller& controller) const;
    void hand_out(Keeper& keeper, Controller& controller);

    Connector connector_;
    std::chrono::seconds loss_time_;
    NamespaceInfo info_;
    nvmf_ns_info ns_{};
    std::vector<std::unique_ptr<Line>> lines_;
    std::atomic<unsigned> epoch_{0};

    mutable std::mutex mutex_;  // why_, and of each line what is said there
    Error why_;
    std::shared_ptr<Keeper> keeper_;  // ends first: its thread uses the rest
};

}  // namespace kdp::verbs
