// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs_path.hpp"

#include <bit>
#include <cerrno>
#include <new>

#include <sched.h>

#include <nvmf/command.h>

#include "fabrics/ages.hpp"
#include "fabrics/ready.hpp"
#include "in_flight.hpp"
#include "io_check.hpp"
#include "nvme_error.hpp"
#include "polling_code.hpp"
#include "session.hpp"

namespace kdp {

using namespace std::chrono_literals;
using fabrics::Clock;
using fabrics::Deadline;
using fabrics::Ready;
using verbs::Finished;
using verbs::Fresh;
using verbs::InFlight;
using verbs::Line;
using verbs::Memory;
using verbs::Queue;
using verbs::Session;

namespace {

/// How long wait=adaptive polls before it arms the CQ and sleeps: longer than one I/O over
/// soft-RoCE in a virtual machine takes, so that a path that answers is not slept on.
constexpr auto spin_time = 1000us;
/// After so many empty polls (some 10 us) the CPU is offered to others: a software
/// provider's own threads may need it to make the completion that we wait for.
constexpr unsigned polls_per_yield = 64;
/// How long the destructor waits for I/O in flight.
constexpr auto drain_time = 5000ms;
/// How long submit() waits for room in a send queue, which the QP's own retries bound
/// already.
constexpr auto room_time = 10000ms;
/// An I/O that was on the way when so many connections broke is not sent again: it may be what
/// breaks them.
constexpr unsigned losses_at_most = 5;

class VerbsPath final : public DataPath {
public:
    VerbsPath(std::shared_ptr<Session> session, Line& line, const PathUri& uri, unsigned depth);
    ~VerbsPath() override;

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return session_->info(); }
    Status register_buffer(std::span<std::byte> memory) override;
    Result<std::size_t> submit(std::span<const Io> batch) override;
    KDP_POLLS Result<std::size_t> poll(std::span<Completion> out) override;
    KDP_POLLS Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) override;
    [[nodiscard]] PathCounters counters() const noexcept override;

private:
    [[nodiscard]] int refusal(const Io& io) noexcept;
    void send(std::uint32_t index);
    void make_send_room();
    [[gnu::noinline]] void finish(std::size_t index, int status, int nvme_status);
    KDP_POLLS void look_after();
    [[gnu::noinline]] void attach(Fresh fresh);
    [[gnu::noinline]] void detach();
    void give_up(Error why);
    KDP_POLLS void reap();
    KDP_POLLS std::size_t collect(std::span<Completion> out);
    KDP_POLLS [[nodiscard]] bool spins(Clock::time_point until) const;
    [[gnu::noinline]] void sleep(Deadline deadline);

    // Destroyed last to first: MRs before the PD that the queue's connection holds, the
    // controller after its I/O queues.
    std::shared_ptr<Session> session_;
    Line& line_;
    std::unique_ptr<Queue> queue_;
    Memory memory_;
    InFlight in_flight_;  // may hold MRs
    fabrics::Ages ages_;

    std::uint8_t lba_shift_;
    Wait wait_;
    unsigned depth_;
    unsigned taken_ = 0;  // submitted and not yet handed back: in flight, or ready
    Ready ready_;

    // with the queue
    bool attached_ = false;  // it is there to be used, as far as we know
    unsigned epoch_ = 0;
    std::uint32_t in_capsule_max_ = 0;
    bool dead_ = false;  // there will be no other
    Error why_dead_;

    PathCounters past_;     // of earlier queues
    PathCounters at_open_;  // of this one, before the first I/O
};

VerbsPath::VerbsPath(std::shared_ptr<Session> session, Line& line, const PathUri& uri,
                     unsigned depth)
    : session_(std::move(session)),
      line_(line),
      memory_(uri.register_each),
      in_flight_(depth),
      ages_(uri.io_timeout),
      lba_shift_(static_cast<std::uint8_t>(std::countr_zero(session_->info().block_size))),
      wait_(uri.wait),
      depth_(depth),
      ready_(depth)
{
    line_.news().reset();
    look_after();
}

VerbsPath::~VerbsPath()
{
    const Deadline deadline = Deadline::in(drain_time);
    Completion nowhere;

    while (taken_ && !deadline.passed())
        if (!wait({&nowhere, 1}, deadline.poll_ms()))
            break;
    // Rule H5: nobody looks at the I/O queue any more, it goes, and the admin queue goes with
    // the last of the paths. Once the QP is gone the user's memory is touched no more,
    // answered or not.
    session_->leave(line_);
    if (queue_) {
        queue_->connection().disconnect();
        queue_->connection().kill();
    }
}

Status VerbsPath::register_buffer(std::span<std::byte> memory)
{
    look_after();
    return memory_.add(attached_ ? queue_->connection().pd() : nullptr, memory);
}

/// 0, or the errno that @p io completes with.
int VerbsPath::refusal(const Io& io) noexcept
{
    if (io.op != Op::read && io.op != Op::write && io.op != Op::flush)
        return EINVAL;
    if (const int refused = check_io(info(), io); refused || io.op == Op::flush)
        return refused;
    return memory_.covers(io.data) ? 0 : EFAULT;
}

Result<std::size_t> VerbsPath::submit(std::span<const Io> batch)
{
    std::size_t n = 0;

    look_after();
    if (dead_)
        return Error{ENOTCONN, why_dead_.text};
    for (; n < batch.size() && taken_ < depth_; n++) {
        taken_++;
        if (const int refused = refusal(batch[n]))
            ready_.push({batch[n].tag, refused, 0});
        else
            send(in_flight_.add(batch[n]));
    }
    if (attached_)
        queue_->ring();
    return n;
}

/// Chain its capsule for the next ring(). With no queue now, it is sent once there is one.
void VerbsPath::send(std::uint32_t index)
{
    if (attached_ && !queue_->has_send_room())
        make_send_room();
    InFlight::Entry& entry = in_flight_[index];
    // a queue that was taken over meanwhile may have sent it already
    if (!attached_ || queue_->broken() || !entry.taken || entry.sent)
        return;
    const Io& io = entry.io;
    const auto bytes = static_cast<std::uint32_t>(io.data.size());
    const bool in_capsule = io.op == Op::write && bytes <= in_capsule_max_;
    if (io.op != Op::flush) {
        if (const int refused =
                memory_.keys_for(io, in_capsule, queue_->connection().pd(), entry.keys)) {
            finish(index, refused, 0);
            return;
        }
    }

    // there is a slot: no more than depth_ are taken, and each finishes with its slot
    const std::uint16_t slot = queue_->acquire();
    nvmf_sqe& sqe = queue_->sqe(slot);
    entry.sent = true;
    if (io.op == Op::flush) {
        nvmf_build_flush(&sqe, session_->nsid());
        nvmf_sgl_set_none(&sqe.dptr);
        queue_->post(slot, index);
        return;
    }
    nvmf_build_rw(&sqe, io.op == Op::write ? NVMF_IO_WRITE : NVMF_IO_READ, session_->nsid(), io.lba,
                  bytes >> lba_shift_, 0);
    if (in_capsule) {
        nvmf_sgl_set_inline(&sqe.dptr, 0, bytes);
        queue_->post(slot, index, io.data, entry.keys.lkey);
        return;
    }
    nvmf_sgl_set_keyed(&sqe.dptr, reinterpret_cast<std::uintptr_t>(io.data.data()), bytes,
                       entry.keys.rkey, false);
    queue_->post(slot, index);
}

/// Rare: the send queue has twice the depth, so it is full only when acknowledgements
/// of the fabric come later than the controller's answers.
void VerbsPath::make_send_room()
{
    const Deadline deadline = Deadline::in(room_time);

    queue_->ring();
    while (attached_ && !queue_->has_send_room()) {
        reap();
        if (deadline.passed())
            queue_->break_with(Error{ETIMEDOUT, info().device + " acknowledges nothing"});
        sched_yield();
    }
}

void VerbsPath::finish(std::size_t index, int status, int nvme_status)
{
    const std::uint64_t tag = in_flight_[index].io.tag;

    in_flight_.remove(index);
    ready_.push({tag, status, nvme_status});
}

/// Act, as the queue's owner, on what the session has found out; and on a broken queue.
void VerbsPath::look_after()
{
    if (attached_) {
        if (session_->epoch() != epoch_)
            queue_->break_with(session_->why());
        else if (session_->health().lost())
            queue_->break_with(session_->health().why());
        else
            fabrics::Ages::tell(session_->health(), *queue_);
        if (queue_->broken()) {
            const Error why = queue_->error();
            detach();
            session_->lose(why, epoch_);
            if (!session_->recovers())
                give_up(why);
        }
    }
    if (attached_ || dead_)
        return;
    if (Fresh fresh = session_->take(line_); fresh.queue)
        attach(std::move(fresh));
    else if (session_->health().lost())
        give_up(session_->health().why());
}

/// Take over a queue, and send what was in flight when the last one broke.
void VerbsPath::attach(Fresh fresh)
{
    past_ = counters();
    past_.registrations = 0;  // memory_ counts them for us
    queue_ = std::move(fresh.queue);
    epoch_ = fresh.epoch;
    in_capsule_max_ = queue_->takes_in_capsule_data() ? fresh.in_capsule_max : 0;
    at_open_ = {queue_->doorbells, queue_->work_requests, queue_->cqes, 0};
    attached_ = true;
    fabrics::Ages::tell(session_->health(), *queue_);
    if (Status s = memory_.attach(queue_->connection().pd()); !s) {
        // for this path alone: the others may go on
        session_->leave(line_);
        queue_->break_with(s.error());
        detach();
        give_up(s.error());
        return;
    }
    const std::vector<std::uint32_t> again = in_flight_.in_order();
    for (const std::uint32_t index : again)
        send(index);
    queue_->ring();
}

/// The queue is broken: the HCA uses no memory on its behalf any more. What was on the way is
/// sent again by attach(), or fails.
void VerbsPath::detach()
{
    const Error why = queue_->error();
    const int status = why.code == EPROTO || why.code == EIO ? EIO : ENOTCONN;

    attached_ = false;
    queue_->cancel_all([](std::uint64_t) {});
    for (const std::uint32_t index : in_flight_.in_order()) {
        InFlight::Entry& entry = in_flight_[index];
        entry.keys.own.reset();
        if (!session_->recovers() || (entry.sent && ++entry.losses >= losses_at_most))
            finish(index, status, 0);
        entry.sent = false;
    }
    memory_.detach();
}

/// There will be no other queue.
void VerbsPath::give_up(Error why)
{
    for (const std::uint32_t index : in_flight_.in_order())
        finish(index, ENOTCONN, 0);
    dead_ = true;
    why_dead_ = std::move(why);
}

/// One look at the CQ; what finished becomes ready.
void VerbsPath::reap()
{
    for (const Finished& done : queue_->reap())
        finish(done.cookie, errno_from_nvme(done.status), done.status);
    if (queue_->drained())
        ages_.judge(*queue_);
    if (queue_->broken())
        look_after();
}

std::size_t VerbsPath::collect(std::span<Completion> out)
{
    look_after();
    if (attached_ && ready_.count() < out.size() && ready_.count() < taken_)
        reap();
    const std::size_t n = ready_.pop(out);
    taken_ -= static_cast<unsigned>(n);
    return n;
}

Result<std::size_t> VerbsPath::poll(std::span<Completion> out)
{
    return collect(out);
}

/// Whether wait() goes on polling, rather than sleep.
bool VerbsPath::spins(Clock::time_point until) const
{
    // nothing comes out of a CQ that is not there
    if (!attached_ || wait_ == Wait::event)
        return false;
    return wait_ == Wait::poll || Clock::now() < until;
}

Result<std::size_t> VerbsPath::wait(std::span<Completion> out, int timeout_ms)
{
    if (out.empty())
        return Error{EINVAL, "no room for a completion"};
    const Deadline deadline =
        timeout_ms < 0 ? Deadline::never() : Deadline::in(std::chrono::milliseconds(timeout_ms));
    auto spin_until = Clock::now() + spin_time;

    for (unsigned polls = 1; taken_; polls++) {
        if (const std::size_t n = collect(out))
            return n;
        if (attached_ && wait_ != Wait::event && polls % polls_per_yield)
            continue;
        if (deadline.passed())
            return Error{ETIMEDOUT, "no I/O completed within " + std::to_string(timeout_ms) +
                                        " ms; " + std::to_string(taken_) + " in flight at " +
                                        info().device};
        if (spins(spin_until)) {
            sched_yield();
            continue;
        }
        if (attached_) {
            if (Status armed = queue_->connection().arm(); !armed)
                queue_->break_with(armed.error());
            // what completed before it was armed makes no event
            if (const std::size_t n = collect(out))
                return n;
        }
        sleep(deadline);
        spin_until = Clock::now() + spin_time;
    }
    return std::size_t{0};
}

void VerbsPath::sleep(Deadline deadline)
{
    pollfd fds[] = {{attached_ ? queue_->connection().cq_fd() : -1, POLLIN, 0},
                    {line_.news().fd(), POLLIN, 0},
                    {dead_ ? -1 : session_->health().fd(), POLLIN, 0}};

    fabrics::poll_a_second(fds, deadline);
    if (fds[0].revents)
        queue_->connection().take_cq_events();
    if (fds[1].revents)
        line_.news().reset();
}

PathCounters VerbsPath::counters() const noexcept
{
    PathCounters counters = past_;

    if (queue_) {
        counters.doorbells += queue_->doorbells - at_open_.doorbells;
        counters.work_requests += queue_->work_requests - at_open_.work_requests;
        counters.completions += queue_->cqes - at_open_.completions;
    }
    counters.registrations += memory_.registrations();
    return counters;
}

}  // namespace

Result<std::vector<std::unique_ptr<DataPath>>> open_verbs_paths(const PathUri& uri,
                                                                const OpenOptions& options,
                                                                unsigned count)
{
    try {
        Result<std::shared_ptr<Session>> session = Session::open(uri, options, count);
        if (!session)
            return session.error();
        std::vector<std::unique_ptr<DataPath>> paths;
        for (unsigned i = 0; i < count; i++)
            paths.push_back(
                std::make_unique<VerbsPath>(*session, (*session)->line(i), uri, options.depth));
        return paths;
    } catch (const std::bad_alloc&) {
        return error_from_errno(ENOMEM, "cannot open " + uri.nqn + " at " + uri.host);
    }
}

}  // namespace kdp
