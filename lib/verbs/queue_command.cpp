// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sync_command.hpp"

#include <cerrno>

#include "nvme_error.hpp"

namespace kdp::verbs {

namespace {

/// How much longer an answer is waited for when someone waits for the waiter.
constexpr auto hurried_time = std::chrono::seconds(1);

/// Sleep until the CQ or the CM has something to say, or @p hurry has, which it then
/// forgets after cutting the deadline. A lost connection breaks the queue.
void sleep_for_news(Queue& queue, Deadline& deadline, const Latch*& hurry, const char* what)
{
    Connection& connection = queue.connection();
    pollfd fds[] = {{connection.cq_fd(), POLLIN, 0},
                    {connection.cm_fd(), POLLIN, 0},
                    {hurry ? hurry->fd() : -1, POLLIN, 0}};  // poll(2) passes over -1

    if (poll_until(fds, deadline) == 0) {
        queue.break_with(
            Error{ETIMEDOUT, connection.peer() + " did not answer " + what + " in time"});
        return;
    }
    if (fds[0].revents)
        connection.take_cq_events();
    if (fds[1].revents)
        if (Status s = connection.check_events(); !s)
            queue.break_with(s.error());
    if (fds[2].revents) {
        deadline = deadline.or_sooner(Deadline::in(hurried_time));
        hurry = nullptr;
    }
}

}  // namespace

Result<nvmf_response> run_command(Queue& queue, const nvmf_sqe& sqe, std::size_t bytes,
                                  Deadline deadline, const char* what, const Latch* hurry)
{
    if (!queue.broken() && !queue.has_room())
        queue.break_with(Error{EBUSY, "no room in the queue of " + queue.connection().peer()});
    if (queue.broken())
        return queue.error();

    const std::uint16_t slot = queue.acquire();
    nvmf_sqe& own = queue.sqe(slot);
    own = sqe;
    if (bytes)
        nvmf_sgl_set_keyed(&own.dptr, reinterpret_cast<std::uintptr_t>(queue.scratch().data()),
                           static_cast<std::uint32_t>(bytes), queue.scratch_rkey(), false);
    else
        nvmf_sgl_set_none(&own.dptr);
    queue.post(slot, 0);
    queue.ring();

    bool armed = false;
    while (!queue.broken()) {
        // one command in flight: whatever finishes is ours
        for (const Finished& done : queue.reap())
            return nvmf_response{done.result, 0, 0, done.status};
        if (queue.broken())
            break;
        if (!armed) {
            if (Status s = queue.connection().arm(); !s)
                queue.break_with(s.error());
            armed = true;  // poll once more, for what came before it was
            continue;
        }
        sleep_for_news(queue, deadline, hurry, what);
        armed = false;
    }
    return queue.error();
}

Result<nvmf_response> run_checked(Queue& queue, const nvmf_sqe& sqe, std::size_t bytes,
                                  Deadline deadline, const char* what, const Latch* hurry)
{
    Result<nvmf_response> response = run_command(queue, sqe, bytes, deadline, what, hurry);

    if (response && (response->status & NVMF_SC_MASK) != NVMF_SC_SUCCESS)
        return error_from_nvme(response->status,
                               std::string(what) + " at " + queue.connection().peer());
    return response;
}

}  // namespace kdp::verbs
