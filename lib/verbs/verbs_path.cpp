// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs_path.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <optional>
#include <vector>

#include <sched.h>

#include <nvmf/command.h>

#include "fabrics/keeper.hpp"
#include "fabrics/limits.hpp"
#include "fabrics/ready.hpp"
#include "io_check.hpp"
#include "nvme_error.hpp"
#include "queue.hpp"

namespace kdp {

using namespace std::chrono_literals;
using fabrics::Admin;
using fabrics::Clock;
using fabrics::Deadline;
using fabrics::Endpoint;
using fabrics::Health;
using fabrics::Keeper;
using fabrics::Ready;
using verbs::Finished;
using verbs::Mr;
using verbs::Queue;

namespace {

/// How long wait() polls before it arms the CQ and sleeps: longer than one I/O over
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

/// Memory that the user registered.
struct Registered {
    const std::byte* base;
    std::size_t bytes;
    Mr mr;

    [[nodiscard]] bool holds(std::span<const std::byte> memory) const noexcept
    {
        // without wrap: no sum of what the user gave
        return memory.data() >= base && static_cast<std::size_t>(memory.data() - base) <= bytes &&
               memory.size() <= bytes - static_cast<std::size_t>(memory.data() - base);
    }
};

class VerbsPath final : public DataPath {
public:
    VerbsPath(std::shared_ptr<Keeper> keeper, std::unique_ptr<Queue> queue,
              std::uint32_t in_capsule_max, std::uint32_t nsid, NamespaceInfo info, unsigned depth);
    ~VerbsPath() override;

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte> memory) override;
    Result<std::size_t> submit(std::span<const Io> batch) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) override;
    [[nodiscard]] PathCounters counters() const noexcept override;

private:
    [[nodiscard]] const Registered* region_of(std::span<const std::byte> memory) noexcept;
    [[nodiscard]] int check(const Io& io, const Registered*& region) noexcept;
    void start(const Io& io, const Registered* region);
    void make_send_room();
    void notice_loss();
    void reap();
    std::size_t collect(std::span<Completion> out);
    void sleep(Deadline deadline);

    // Destroyed last to first: MRs before the PD that the queue's connection holds, the
    // controller after its I/O queues.
    std::shared_ptr<Keeper> keeper_;
    std::unique_ptr<Queue> queue_;
    std::vector<Registered> regions_;
    std::size_t last_region_ = 0;

    NamespaceInfo info_;
    std::uint32_t nsid_;
    std::uint8_t lba_shift_;
    std::uint32_t in_capsule_max_;
    unsigned depth_;
    unsigned taken_ = 0;  // submitted and not yet handed back: in flight, or ready
    Ready ready_;
    PathCounters at_open_;
    std::uint64_t registrations_ = 0;
};

VerbsPath::VerbsPath(std::shared_ptr<Keeper> keeper, std::unique_ptr<Queue> queue,
                     std::uint32_t in_capsule_max, std::uint32_t nsid, NamespaceInfo info,
                     unsigned depth)
    : keeper_(std::move(keeper)),
      queue_(std::move(queue)),
      info_(std::move(info)),
      nsid_(nsid),
      lba_shift_(static_cast<std::uint8_t>(std::countr_zero(info_.block_size))),
      in_capsule_max_(queue_->takes_in_capsule_data() ? in_capsule_max : 0),
      depth_(depth),
      ready_(depth),
      at_open_(counters())
{
    keeper_->watch(*queue_);
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
    keeper_->forget(*queue_);
    queue_->connection().disconnect();
    queue_->connection().kill();
}

Status VerbsPath::register_buffer(std::span<std::byte> memory)
{
    if (memory.empty())
        return Error{EINVAL, "no memory to register"};
    if (region_of(memory))
        return ok();
    Mr mr(ibv_reg_mr(queue_->connection().pd(), memory.data(), memory.size(),
                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
    if (!mr)
        return error_from_errno(errno, "cannot register " + std::to_string(memory.size()) +
                                           " bytes with RDMA device " + info_.provider +
                                           "; see `ulimit -l` (RLIMIT_MEMLOCK)");
    registrations_++;
    regions_.push_back({memory.data(), memory.size(), std::move(mr)});
    return ok();
}

const Registered* VerbsPath::region_of(std::span<const std::byte> memory) noexcept
{
    if (last_region_ < regions_.size() && regions_[last_region_].holds(memory))
        return &regions_[last_region_];
    for (std::size_t i = 0; i < regions_.size(); i++)
        if (regions_[i].holds(memory)) {
            last_region_ = i;
            return &regions_[i];
        }
    return nullptr;
}

/// 0, or the errno that @p io completes with.
int VerbsPath::check(const Io& io, const Registered*& region) noexcept
{
    region = nullptr;
    if (io.op != Op::read && io.op != Op::write && io.op != Op::flush)
        return EINVAL;
    if (const int refused = check_io(info_, io); refused || io.op == Op::flush)
        return refused;
    region = region_of(io.data);
    return region ? 0 : EFAULT;
}

Result<std::size_t> VerbsPath::submit(std::span<const Io> batch)
{
    std::size_t n = 0;

    notice_loss();
    if (queue_->broken())
        return Error{ENOTCONN, queue_->error().text};
    for (; n < batch.size() && taken_ < depth_; n++) {
        const Registered* region;
        const int refused = check(batch[n], region);

        if (refused) {
            ready_.push({batch[n].tag, refused, 0});
        } else {
            if (!queue_->has_send_room())
                make_send_room();
            if (queue_->broken())
                break;
            start(batch[n], region);
        }
        taken_++;
    }
    queue_->ring();
    return n;
}

void VerbsPath::start(const Io& io, const Registered* region)
{
    // there is a slot: no more than depth_ are taken, and each finishes with its slot
    const std::uint16_t slot = queue_->acquire();
    nvmf_sqe& sqe = queue_->sqe(slot);

    if (io.op == Op::flush) {
        nvmf_build_flush(&sqe, nsid_);
        nvmf_sgl_set_none(&sqe.dptr);
        queue_->post(slot, io.tag);
        return;
    }
    const auto bytes = static_cast<std::uint32_t>(io.data.size());
    nvmf_build_rw(&sqe, io.op == Op::write ? NVMF_IO_WRITE : NVMF_IO_READ, nsid_, io.lba,
                  bytes >> lba_shift_, 0);
    if (io.op == Op::write && bytes <= in_capsule_max_) {
        nvmf_sgl_set_inline(&sqe.dptr, 0, bytes);
        queue_->post(slot, io.tag, io.data, region->mr->lkey);
        return;
    }
    nvmf_sgl_set_keyed(&sqe.dptr, reinterpret_cast<std::uintptr_t>(io.data.data()), bytes,
                       region->mr->rkey, false);
    queue_->post(slot, io.tag);
}

/// Rare: the send queue has twice the depth, so it is full only when acknowledgements
/// of the fabric come later than the controller's answers.
void VerbsPath::make_send_room()
{
    const Deadline deadline = Deadline::in(room_time);

    queue_->ring();
    while (!queue_->broken() && !queue_->has_send_room()) {
        reap();
        if (deadline.passed())
            queue_->break_with(Error{ETIMEDOUT, info_.device + " acknowledges nothing"});
        sched_yield();
    }
}

/// The keeper saw the connection end: act on it, as the queue's owner.
void VerbsPath::notice_loss()
{
    Health& health = keeper_->health();

    if (health.lost() && !queue_->broken())
        queue_->break_with(health.why());
}

/// One look at the CQ; what finished becomes ready.
void VerbsPath::reap()
{
    for (const Finished& done : queue_->reap())
        ready_.push({done.cookie, errno_from_nvme(done.status), done.status});
    if (!queue_->broken())
        return;
    const int why = queue_->error().code;
    const int status = why == EPROTO || why == EIO ? EIO : ENOTCONN;
    queue_->cancel_all([&](std::uint64_t tag) { ready_.push({tag, status, 0}); });
}

std::size_t VerbsPath::collect(std::span<Completion> out)
{
    notice_loss();
    if (ready_.count() < out.size() && ready_.count() < taken_)
        reap();
    const std::size_t n = ready_.pop(out);
    taken_ -= static_cast<unsigned>(n);
    return n;
}

Result<std::size_t> VerbsPath::poll(std::span<Completion> out)
{
    return collect(out);
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
        if (polls % polls_per_yield)
            continue;
        if (deadline.passed())
            return Error{ETIMEDOUT, "no I/O completed within " + std::to_string(timeout_ms) +
                                        " ms; " + std::to_string(taken_) + " in flight at " +
                                        info_.device};
        if (Clock::now() < spin_until) {
            sched_yield();
            continue;
        }
        if (Status armed = queue_->connection().arm(); !armed)
            queue_->break_with(armed.error());
        // what completed before it was armed makes no event
        if (const std::size_t n = collect(out))
            return n;
        sleep(deadline);
        spin_until = Clock::now() + spin_time;
    }
    return std::size_t{0};
}

void VerbsPath::sleep(Deadline deadline)
{
    pollfd fds[] = {{queue_->connection().cq_fd(), POLLIN, 0}, {keeper_->health().fd(), POLLIN, 0}};

    fabrics::poll_until(fds, deadline);
    queue_->connection().take_cq_events();
}

PathCounters VerbsPath::counters() const noexcept
{
    return {queue_->doorbells - at_open_.doorbells, queue_->work_requests - at_open_.work_requests,
            queue_->cqes - at_open_.completions, registrations_};
}

/// What the paths of a set have in common.
struct Set {
    Endpoint endpoint;
    std::string name;  // "192.0.2.1:4420/nqn..."
    std::unique_ptr<Admin> admin;
    nvmf_ns_info ns{};
};

Result<std::unique_ptr<Queue>> open_io_queue(Set& set, unsigned index, unsigned depth)
{
    Admin& admin = *set.admin;
    const auto qid = static_cast<std::uint16_t>(index + 1);
    Result<std::unique_ptr<Queue>> queue = Queue::open(
        set.endpoint,
        {qid, fabrics::queue_entries(depth), static_cast<std::uint16_t>(depth), admin.cntlid()});
    if (!queue)
        return queue.error();
    if (Status s = admin.join(**queue, qid, depth); !s)
        return s.error();
    return queue;
}

Result<Set> open_controller(const PathUri& uri, const OpenOptions& options, unsigned count)
{
    Result<HostIdentity> host = host_identity(options.host_nqn);
    if (!host)
        return host.error();
    Result<Endpoint> endpoint = Endpoint::parse(uri.host, uri.port);
    if (!endpoint)
        return endpoint.error();
    Result<std::unique_ptr<Queue>> queue = Queue::open(
        *endpoint, {0, fabrics::admin_entries, fabrics::admin_depth, NVMF_CNTLID_DYNAMIC});
    if (!queue)
        return queue.error();
    Result<std::unique_ptr<Admin>> admin =
        Admin::open(std::move(*queue), {uri.nqn, *host, options.keep_alive_ms, true});
    if (!admin)
        return admin.error();
    if (Status s = (*admin)->ask_for_queues(count); !s)
        return s.error();
    Result<nvmf_ns_info> ns = (*admin)->identify_namespace(uri.nsid);
    if (!ns)
        return ns.error();
    if (Status s = (*admin)->check_depth(options.depth); !s)
        return s.error();
    return Set{*endpoint, endpoint->text + "/" + uri.nqn, std::move(*admin), *ns};
}

Result<std::vector<std::unique_ptr<DataPath>>> open(const PathUri& uri, const OpenOptions& options,
                                                    unsigned count)
{
    Result<Set> set = open_controller(uri, options, count);
    if (!set)
        return set.error();
    std::vector<std::unique_ptr<Queue>> queues;
    for (unsigned i = 0; i < count; i++) {
        Result<std::unique_ptr<Queue>> queue = open_io_queue(*set, i, options.depth);
        if (!queue)
            return queue.error();
        queues.push_back(std::move(*queue));
    }
    const nvmf_ns_info& ns = set->ns;
    NamespaceInfo info;
    info.blocks = ns.blocks;
    info.block_size = 1U << ns.lba_shift;
    info.max_transfer = fabrics::max_transfer(set->admin->info(), ns, NVMF_KEYED_LEN_MAX);
    info.provider = queues.front()->connection().device_name();
    info.device = set->name;
    if (!info.max_transfer)
        return Error{EPROTO, "the controller at " + set->name + " transfers less than a block"};

    const std::uint32_t in_capsule_max = nvmf_inline_max(&set->admin->info());
    Result<std::shared_ptr<Keeper>> keeper =
        Keeper::start(std::move(set->admin), options.keep_alive_ms);
    if (!keeper)
        return keeper.error();
    std::vector<std::unique_ptr<DataPath>> paths;
    for (std::unique_ptr<Queue>& queue : queues)
        paths.push_back(std::make_unique<VerbsPath>(*keeper, std::move(queue), in_capsule_max,
                                                    uri.nsid, info, options.depth));
    return paths;
}

}  // namespace

Result<std::vector<std::unique_ptr<DataPath>>> open_verbs_paths(const PathUri& uri,
                                                                const OpenOptions& options,
                                                                unsigned count)
{
    try {
        return open(uri, options, count);
    } catch (const std::bad_alloc&) {
        return error_from_errno(ENOMEM, "cannot open " + uri.nqn + " at " + uri.host);
    }
}

}  // namespace kdp
