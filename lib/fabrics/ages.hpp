// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// How long a controller may take for an I/O: one that answers Keep Alive may leave others
/// unanswered for ever.
#pragma once

#include <string>

#include "health.hpp"
#include "slot_queue.hpp"

namespace kdp::fabrics {

class Ages {
public:
    /// @p limit in seconds; 0: none.
    explicit Ages(unsigned limit) : limit_(limit) {}

    /// Once a second, by the keeper's clock: tell @p queue the time, and break it if one of its
    /// commands is older than the limit. Costs a load else. By the thread that drives the queue;
    /// at first before the queue's first command.
    void look(const Health& health, SlotQueue& queue)
    {
        const unsigned now = health.seconds();

        if (now == queue.time())
            return;
        queue.tell_time(now);
        if (limit_ && queue.overdue(limit_))
            queue.break_with(Error{ETIMEDOUT, queue.peer() + " left an I/O unanswered for " +
                                                  std::to_string(limit_) + " s"});
    }

private:
    unsigned limit_;
};

}  // namespace kdp::fabrics
