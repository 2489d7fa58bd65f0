// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One command at a time, waited for: what connecting and administration need of a Queue.
#include <cerrno>
#include <utility>

#include "queue.hpp"

namespace kdp::tcp {

Result<nvmf_response> Queue::run(const nvmf_sqe& sqe, fabrics::PageData data, Patience patience,
                                 const char* what)
{
    using PageWay = fabrics::PageData::Way;

    if (!broken() && !has_slot())
        break_with(Error{EBUSY, "no room in the queue of " + peer()});
    if (broken())
        return error();

    const std::uint16_t slot = acquire();
    this->sqe(slot) = sqe;
    const Way way = data.way == PageWay::none            ? Way::none
                    : data.way == PageWay::to_controller ? Way::to_controller
                                                         : Way::to_host;
    const std::uint32_t in_capsule = std::exchange(in_capsule_, NVMF_TCP_ADMIN_IN_CAPSULE);
    post(slot, 0, way, page().first(data.bytes));
    in_capsule_ = in_capsule;
    ring();

    while (!broken()) {
        // one command in flight: whatever finishes is ours
        for (const Finished& done : reap())
            return nvmf_response{done.result, 0, 0, done.status};
        if (broken() || !drained())
            continue;
        pollfd ready = readiness();
        if (!patience.sleep({&ready, 1}))
            break_with(Error{ETIMEDOUT, peer() + " did not answer " + what + " in time"});
    }
    return error();
}

/// The peer's end of the connection, whatever is there to be received before it.
pollfd Queue::watch() const noexcept
{
    return {fd_.get(), POLLRDHUP, 0};
}

Status Queue::check_events()
{
    pollfd ended = watch();

    if (::poll(&ended, 1, 0) > 0)
        return Error{ENOTCONN, peer() + " closed the connection"};
    return ok();
}

}  // namespace kdp::tcp
