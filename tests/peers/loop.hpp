// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The one thread: file descriptors that are watched, and things to be done later.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

namespace kdp::peer {

class Loop {
public:
    using Task = std::function<void()>;

    /// Call @p task whenever @p fd is readable, until unwatch().
    void watch(int fd, Task task) { watched_[fd] = std::move(task); }
    void unwatch(int fd) { watched_.erase(fd); }

    /// Call @p task once, @p ms from now; 0: in the loop's next turn.
    void after(std::uint32_t ms, Task task);

    void run();
    void stop() { stopped_ = true; }

private:
    using Clock = std::chrono::steady_clock;

    void run_due();
    [[nodiscard]] int next_due_ms() const;

    std::unordered_map<int, Task> watched_;
    std::multimap<Clock::time_point, Task> later_;
    bool stopped_ = false;
};

}  // namespace kdp::peer
