// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "keeper.hpp"

#include <algorithm>
#include <system_error>

namespace kdp::fabrics {

using namespace std::chrono_literals;

Result<std::shared_ptr<Keeper>> Keeper::start(std::unique_ptr<Admin> admin,
                                              std::uint32_t keep_alive_ms, Recover recover)
{
    Result<Latch> stop = Latch::create();
    if (!stop)
        return stop.error();
    Result<Latch> news = Latch::create();
    if (!news)
        return news.error();
    Result<std::unique_ptr<Health>> health = Health::create();
    if (!health)
        return health.error();
    std::shared_ptr<Keeper> keeper(new Keeper(std::move(admin), std::move(*health), keep_alive_ms,
                                              std::move(recover), std::move(*stop),
                                              std::move(*news)));
    try {
        keeper->thread_ = std::jthread([k = keeper.get()] { k->run(); });
    } catch (const std::system_error& e) {
        return error_from_errno(e.code().value(), "cannot start the keep-alive thread");
    }
    return keeper;
}

Keeper::Keeper(std::unique_ptr<Admin> admin, std::unique_ptr<Health> health,
               std::uint32_t keep_alive_ms, Recover recover, Latch stop, Latch news)
    : admin_(std::move(admin)),
      health_(std::move(health)),
      period_(keep_alive_ms),
      recover_(std::move(recover)),
      stop_(std::move(stop)),
      news_(std::move(news))
{
    // twice in each timeout, so that one may be late; never in a tight loop
    if (keep_alive_ms)
        period_ = std::max(period_ / 2, std::chrono::milliseconds(10));
}

Keeper::~Keeper()
{
    stop_.signal();
    thread_ = {};  // joins
}

void Keeper::watch(CommandQueue& queue)
{
    {
        const std::lock_guard lock(mutex_);
        queues_.push_back(&queue);
    }
    news_.signal();
}

void Keeper::forget(CommandQueue& queue)
{
    {
        const std::lock_guard lock(mutex_);
        std::erase(queues_, &queue);
    }
    news_.signal();  // or its descriptor would stay in use until the next Keep Alive
}

void Keeper::lose(Error why)
{
    {
        const std::lock_guard lock(mutex_);
        if (!loss_)
            loss_ = std::move(why);
    }
    news_.signal();
}

void Keeper::forget_loss()
{
    const std::lock_guard lock(mutex_);

    loss_.reset();
}

void Keeper::run()
{
    bool stopped = false;

    while (!stopped) {
        const Status status = keep(stopped);
        if (status)
            break;
        // nothing is left to keep; the admin queue is ours to give up
        admin_->queue().break_with(status.error());
        if (stopped || !recover_) {
            health_->report_loss(status.error());
            break;
        }
        Result<std::unique_ptr<Admin>> fresh = recover_(*this, status.error(), stop_);
        if (!fresh) {
            health_->report_loss(fresh.error());
            break;
        }
        admin_ = std::move(*fresh);
    }
}

/// Until the controller is lost, which is an error, or until stop.
Status Keeper::keep(bool& stopped)
{
    const auto next = [this] {
        return period_.count() ? Deadline::in(period_) : Deadline::never();
    };
    Deadline due = next();
    Status status = ok();

    while (status && !stopped) {
        status = look(due.or_sooner(Deadline::in(1000ms)), stopped);
        health_->tell_time(static_cast<unsigned>(
            std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began_).count()));
        if (status && !stopped && due.passed()) {
            due = next();  // counted from the sending on
            status = admin_->keep_alive(stop_);
        }
    }
    return status;
}

/// Sleep until @p deadline, stop, or something to look at; then look.
Status Keeper::look(Deadline deadline, bool& stopped)
{
    std::vector<pollfd> fds{
        {stop_.fd(), POLLIN, 0}, {news_.fd(), POLLIN, 0}, admin_->queue().watch()};
    {
        const std::lock_guard lock(mutex_);
        for (const CommandQueue* queue : queues_)
            fds.push_back(queue->watch());
    }
    if (poll_until(fds, deadline) == 0)
        return ok();
    if (fds[0].revents) {
        stopped = true;
        return ok();
    }
    if (fds[1].revents)
        news_.reset();
    if (Status s = admin_->queue().check_events(); !s)
        return s;
    return check_queues();
}

Status Keeper::check_queues()
{
    const std::lock_guard lock(mutex_);

    if (loss_)
        return *loss_;
    for (CommandQueue* queue : queues_)
        if (Status s = queue->check_events(); !s)
            return s;
    return ok();
}

}  // namespace kdp::fabrics
