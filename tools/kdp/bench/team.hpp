// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Threads that do the same thing at the same time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <kdp/result.hpp>

namespace kdp::tool::bench {

/// Let the calling thread run on @p cpus only; nothing if there are none. EINVAL for CPUs that this
/// process may not use.
[[nodiscard]] Status pin_to(const std::vector<int>& cpus);

/// The threads live as long as the team, so that each can keep what belongs to one thread. A team
/// of one has no thread of its own: the caller of run() is the team.
class Team {
public:
    using Job = std::function<void(unsigned member)>;
    using Moment = std::function<void()>;

    /// Member i runs on cpus[i mod cpus.size()]; @p cpus may be empty.
    Team(unsigned members, const std::vector<int>& cpus);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] unsigned size() const noexcept { return size_; }

    /// Have every member do @p job. They begin together, and @p before is called when all are
    /// ready and none has begun, @p after when all are through and before run() returns; both by
    /// one of the members. None may throw.
    void run(const Job& job, const Moment& before = {}, const Moment& after = {});

private:
    struct Task;
    void serve(unsigned member, int cpu);

    unsigned size_;
    std::mutex mutex_;  // protects what follows
    std::condition_variable changed_;
    Task* task_ = nullptr;
    std::uint64_t number_ = 0;  // of the task
    unsigned running_ = 0;
    bool leave_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace kdp::tool::bench
