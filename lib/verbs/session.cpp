// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

namespace kdp::verbs {

using namespace std::chrono_literals;

namespace {

// between two tries to connect; each hits a target that many hosts may have lost at once
constexpr std::chrono::milliseconds first_delay = 100ms;
constexpr std::chrono::milliseconds longest_delay = 5000ms;

/// A quarter more or less, so that hosts which lost one target do not all come back together.
std::chrono::milliseconds jittered(std::chrono::milliseconds delay)
{
    static thread_local std::minstd_rand engine{std::random_device{}()};
    const auto quarter = delay.count() / 4;
    std::uniform_int_distribution<std::int64_t> spread(-quarter, quarter);

    return std::chrono::milliseconds(delay.count() + spread(engine));
}

/// Sleep, unless @p stop ends it. Returns whether it did.
bool stopped_within(const Latch& stop, Deadline deadline)
{
    pollfd fd{stop.fd(), POLLIN, 0};

    return fabrics::poll_until({&fd, 1}, deadline) > 0;
}

}  // namespace

Result<std::shared_ptr<Session>> Session::open(const PathUri& uri, const OpenOptions& options,
                                               unsigned count)
{
    Result<Connector> connector = Connector::create(uri, options);
    if (!connector)
        return connector.error();
    std::shared_ptr<Session> session(
        new Session(std::move(*connector), std::chrono::seconds(uri.ctrl_loss_tmo)));
    for (unsigned i = 0; i < count; i++) {
        Result<Latch> news = Latch::create();
        if (!news)
            return news.error();
        session->lines_.push_back(
            std::make_unique<Line>(static_cast<std::uint16_t>(i + 1), std::move(*news)));
    }
    Result<Controller> controller = session->connector_.connect(session->wanted(), count, {});
    if (!controller)
        return controller.error();
    session->ns_ = controller->ns;
    NamespaceInfo& info = session->info_;
    info.blocks = controller->ns.blocks;
    info.block_size = 1U << controller->ns.lba_shift;
    info.max_transfer = controller->max_transfer;
    info.provider = controller->queues.front()->connection().device_name();
    info.device = session->connector_.name();

    Keeper::Recover recover;
    if (session->recovers())
        recover = [s = session.get()](Keeper& keeper, const Error& why, const Latch& stop) {
            return s->recover(keeper, why, stop);
        };
    // the keeper may find the controller lost at once: recover() comes after this
    const std::lock_guard lock(session->mutex_);
    Result<std::shared_ptr<Keeper>> keeper =
        Keeper::start(std::move(controller->admin), options.keep_alive_ms, std::move(recover));
    if (!keeper)
        return keeper.error();
    session->hand_out(**keeper, *controller);
    session->keeper_ = std::move(*keeper);
    return session;
}

Session::~Session()
{
    // rule H5: the I/O queues before the admin queue, also those that no path took
    for (const std::unique_ptr<Line>& line : lines_)
        leave(*line);
}

Error Session::why() const
{
    const std::lock_guard lock(mutex_);
    return why_;
}

/// The queues that are to be connected: of the paths that are there.
std::vector<std::uint16_t> Session::wanted() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::uint16_t> qids;

    for (const std::unique_ptr<Line>& line : lines_)
        if (!line->left_)
            qids.push_back(line->qid_);
    return qids;
}

/// Put each queue on its line. With mutex_ held.
void Session::hand_out(Keeper& keeper, Controller& controller)
{
    std::size_t next = 0;

    for (const std::unique_ptr<Line>& line : lines_) {
        if (next == controller.queues.size())
            break;
        // a path that left since has its queue closed with the controller's remains
        std::unique_ptr<Queue>& queue = controller.queues[next];
        if (line->qid_ != queue->qid())
            continue;
        next++;
        if (line->left_)
            continue;
        line->watched_ = queue.get();
        keeper.watch(*queue);
        line->fresh_ = {std::move(queue), controller.in_capsule_max, epoch()};
        line->ready_.store(true, std::memory_order_release);
        line->news_.signal();
    }
}

Fresh Session::take(Line& line)
{
    if (!line.ready_.load(std::memory_order_acquire))
        return {};
    const std::lock_guard lock(mutex_);
    line.ready_ = false;
    return std::exchange(line.fresh_, {});
}

void Session::lose(Error why, unsigned of)
{
    const std::lock_guard lock(mutex_);

    if (of == epoch())
        keeper_->lose(std::move(why));
}

void Session::leave(Line& line)
{
    Fresh unused;
    const std::lock_guard lock(mutex_);

    line.left_ = true;
    if (line.watched_ && keeper_)
        keeper_->forget(*line.watched_);
    line.watched_ = nullptr;
    unused = std::exchange(line.fresh_, {});
}

/// The keeper's thread, after a loss: every path is to let go of its queue.
void Session::end_connections(Keeper& keeper, const Error& why)
{
    std::vector<Fresh> unused;
    const std::lock_guard lock(mutex_);

    why_ = why;
    epoch_.fetch_add(1, std::memory_order_acq_rel);
    keeper.forget_loss();
    for (const std::unique_ptr<Line>& line : lines_) {
        if (line->watched_) {
            keeper.forget(*line->watched_);
            // its path may be busy elsewhere, and the target is to know at once
            line->watched_->connection().hang_up();
            line->watched_ = nullptr;
        }
        line->ready_ = false;
        unused.push_back(std::exchange(line->fresh_, {}));
        line->news_.signal();
    }
}

/// What answers to the identifier must be what it was, or I/O would go to other blocks.
Status Session::same_namespace(const Controller& controller) const
{
    if (!nvmf_ns_same(&ns_, &controller.ns) || ns_.blocks != controller.ns.blocks)
        return Error{ENOTCONN, info_.device + " has another namespace " +
                                   std::to_string(connector_.nsid()) +
                                   " now than before the connection was lost; open the path anew"};
    return ok();
}

Result<std::unique_ptr<Admin>> Session::recover(Keeper& keeper, const Error& why, const Latch& stop)
{
    const Deadline end = Deadline::in(loss_time_);
    std::string last = "no try was made";
    auto delay = first_delay;

    end_connections(keeper, why);
    for (;;) {
        if (stopped_within(stop, Deadline::in(jittered(delay)).or_sooner(end)))
            return Error{ENOTCONN, "the path to " + info_.device + " ends"};
        if (end.passed())
            break;
        delay = std::min(delay * 2, longest_delay);
        Result<Controller> controller =
            connector_.connect(wanted(), static_cast<unsigned>(lines_.size()), {end, &stop});
        if (!controller) {
            last = controller.error().text;
            continue;
        }
        if (Status same = same_namespace(*controller); !same)
            return same.error();
        if (controller->max_transfer < info_.max_transfer) {
            last = "it transfers less at a time than before";
            continue;
        }
        const std::lock_guard lock(mutex_);
        hand_out(keeper, *controller);
        return std::move(controller->admin);
    }
    return Error{ENOTCONN, info_.device + " was lost (" + why.text +
                               ") and did not come back within " +
                               std::to_string(loss_time_.count()) + " s: " + last};
}

}  // namespace kdp::verbs
