// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "keeper.hpp"

#include <algorithm>
#include <system_error>

namespace kdp::verbs {

Result<std::unique_ptr<Health>> Health::create()
{
    Result<Latch> wake = Latch::create();

    if (!wake)
        return wake.error();
    return std::unique_ptr<Health>(new Health(std::move(*wake)));
}

void Health::report_loss(Error why)
{
    {
        const std::lock_guard lock(mutex_);
        if (lost())
            return;
        why_ = std::move(why);
        lost_.store(true, std::memory_order_release);
    }
    wake_.signal();
}

Error Health::why() const
{
    const std::lock_guard lock(mutex_);
    return why_;
}

Result<std::unique_ptr<Keeper>> Keeper::start(Admin& admin, Connection& io, Health& health,
                                              std::uint32_t keep_alive_ms)
{
    Result<Latch> stop = Latch::create();
    if (!stop)
        return stop.error();
    std::unique_ptr<Keeper> keeper(new Keeper(admin, io, health, keep_alive_ms, std::move(*stop)));
    try {
        keeper->thread_ = std::jthread([k = keeper.get()] { k->run(); });
    } catch (const std::system_error& e) {
        return error_from_errno(e.code().value(), "cannot start the keep-alive thread");
    }
    return keeper;
}

Keeper::Keeper(Admin& admin, Connection& io, Health& health, std::uint32_t keep_alive_ms,
               Latch stop)
    : admin_(admin), io_(io), health_(health), period_(keep_alive_ms), stop_(std::move(stop))
{
    // twice in each timeout, so that one may be late; never in a tight loop
    if (keep_alive_ms)
        period_ = std::max(period_ / 2, std::chrono::milliseconds(10));
}

Keeper::~Keeper()
{
    stop_.signal();  // and the jthread joins
}

void Keeper::run()
{
    const auto next = [this] {
        return period_.count() ? Deadline::in(period_) : Deadline::never();
    };
    Deadline due = next();
    bool stopped = false;
    Status status = ok();

    while (status && !stopped) {
        status = watch(due, stopped);
        if (status && !stopped && due.passed()) {
            due = next();  // counted from the sending on
            status = admin_.keep_alive(stop_);
        }
    }
    if (!status) {
        // nothing is left to keep; the admin queue is ours to give up
        admin_.queue().break_with(status.error());
        health_.report_loss(status.error());
    }
}

/// Sleep until @p deadline, stop, or a CM event.
Status Keeper::watch(Deadline deadline, bool& stopped)
{
    Connection& admin = admin_.queue().connection();
    pollfd fds[] = {{stop_.fd(), POLLIN, 0}, {admin.cm_fd(), POLLIN, 0}, {io_.cm_fd(), POLLIN, 0}};

    if (poll_until(fds, deadline) == 0)
        return ok();
    if (fds[0].revents) {
        stopped = true;
        return ok();
    }
    for (Connection* connection : {&admin, &io_})
        if (Status s = connection->check_events(); !s)
            return s;
    return ok();
}

}  // namespace kdp::verbs
