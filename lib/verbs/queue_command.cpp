// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One command at a time, waited for: what connecting and administration need of a Queue.
#include <cerrno>

#include "queue.hpp"

namespace kdp::verbs {

/// Sleep until the CQ or the CM has something to say. A lost connection breaks the queue, and
/// so does the end of our patience.
void Queue::sleep_for_news(Patience& patience, const char* what)
{
    pollfd fds[] = {{connection_->cq_fd(), POLLIN, 0}, watch()};

    if (!patience.sleep(fds)) {
        break_with(Error{ETIMEDOUT, peer() + " did not answer " + what + " in time"});
        return;
    }
    if (fds[0].revents)
        connection_->take_cq_events();
    if (fds[1].revents)
        if (Status s = check_events(); !s)
            break_with(s.error());
}

Result<nvmf_response> Queue::run(const nvmf_sqe& sqe, fabrics::PageData data, Patience patience,
                                 const char* what)
{
    if (!broken() && !has_room())
        break_with(Error{EBUSY, "no room in the queue of " + peer()});
    if (broken())
        return error();

    const std::uint16_t slot = acquire();
    nvmf_sqe& own = this->sqe(slot);
    own = sqe;
    // the key serves both ways
    if (data.bytes)
        nvmf_sgl_set_keyed(&own.dptr, reinterpret_cast<std::uintptr_t>(scratch_.data()), data.bytes,
                           scratch_mr_->rkey, false);
    else
        nvmf_sgl_set_none(&own.dptr);
    post(slot, 0);
    ring();

    bool armed = false;
    while (!broken()) {
        // one command in flight: whatever finishes is ours
        for (const Finished& done : reap())
            return nvmf_response{done.result, 0, 0, done.status};
        if (broken())
            break;
        if (!armed) {
            if (Status s = connection_->arm(); !s)
                break_with(s.error());
            armed = true;  // poll once more, for what came before it was
            continue;
        }
        sleep_for_news(patience, what);
        armed = false;
    }
    return error();
}

}  // namespace kdp::verbs
