// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "loop.hpp"

#include <vector>

#include <poll.h>

namespace kdp::peer {

void Loop::after(std::uint32_t ms, Task task)
{
    later_.emplace(Clock::now() + std::chrono::milliseconds(ms), std::move(task));
}

void Loop::run_due()
{
    const auto now = Clock::now();

    while (!later_.empty() && later_.begin()->first <= now) {
        Task task = std::move(later_.begin()->second);
        later_.erase(later_.begin());
        task();
    }
}

int Loop::next_due_ms() const
{
    if (later_.empty())
        return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(later_.begin()->first - Clock::now());
    return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

void Loop::run()
{
    std::vector<pollfd> fds;

    while (!stopped_) {
        fds.clear();
        for (const auto& [fd, task] : watched_)
            fds.push_back({fd, POLLIN, 0});
        if (poll(fds.data(), fds.size(), next_due_ms()) < 0)
            continue;
        run_due();
        for (const auto& fd : fds) {
            // a task may have unwatched another's
            const auto found = fd.revents ? watched_.find(fd.fd) : watched_.end();
            if (found != watched_.end()) {
                const Task task = found->second;
                task();
            }
        }
    }
}

}  // namespace kdp::peer
