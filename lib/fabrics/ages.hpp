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

    /// What is posted from now on begins now, by the keeper's clock.
    static void tell(const Health& health, SlotQueue& queue) { queue.tell_time(health.seconds()); }
    /// Break @p queue if one of its commands is older than the limit. Only when all that the
    /// controller has answered was taken: whoever comes late for an answer is not to blame it.
    /// Looks once a second. By the thread that drives the queue.
    void judge(SlotQueue& queue)
    {
        if (queue.time() == judged_)
            return;
        judged_ = queue.time();
        if (limit_ && queue.overdue(limit_))
            queue.break_with(Error{ETIMEDOUT, queue.peer() + " left an I/O unanswered for " +
                                                  std::to_string(limit_) + " s"});
    }

private:
    unsigned limit_;
    unsigned judged_ = 0;  // the time of the last look
};

}  // namespace kdp::fabrics
