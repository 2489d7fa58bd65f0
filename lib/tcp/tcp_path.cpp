// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "tcp_path.hpp"

#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <nvmf/command.h>

#include "fabrics/ages.hpp"
#include "fabrics/keeper.hpp"
#include "fabrics/limits.hpp"
#include "fabrics/ready.hpp"
#include "io_check.hpp"
#include "nvme_error.hpp"
#include "queue.hpp"

namespace kdp {

using namespace std::chrono_literals;
using fabrics::Admin;
using fabrics::Deadline;
using fabrics::Endpoint;
using fabrics::Health;
using fabrics::Keeper;
using fabrics::Ready;
using tcp::Finished;
using tcp::Queue;
using tcp::Way;

namespace {

/// How long the destructor waits for I/O in flight.
constexpr auto drain_time = 5000ms;

class TcpPath final : public DataPath {
public:
    TcpPath(std::shared_ptr<Keeper> keeper, std::unique_ptr<Queue> queue, std::uint32_t nsid,
            NamespaceInfo info, unsigned depth, unsigned io_timeout);
    ~TcpPath() override;

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte> memory) override;
    Result<std::size_t> submit(std::span<const Io> batch) override;
    Result<std::size_t> poll(std::span<Completion> out) override { return collect(out, true); }
    Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) override;
    [[nodiscard]] PathCounters counters() const noexcept override;

private:
    void start(const Io& io);
    void reap();
    void notice_loss();
    std::size_t collect(std::span<Completion> out, bool look);

    // Destroyed last to first: the controller after its I/O queues (rule H5).
    std::shared_ptr<Keeper> keeper_;
    std::unique_ptr<Queue> queue_;

    NamespaceInfo info_;
    std::uint32_t nsid_;
    std::uint8_t lba_shift_;
    unsigned depth_;
    unsigned taken_ = 0;  // submitted and not yet handed back: in flight, or ready
    Ready ready_;
    fabrics::Ages ages_;
    bool told_ = false;  // the keeper knows that the queue broke
    std::uint64_t doorbells_at_open_;
};

TcpPath::TcpPath(std::shared_ptr<Keeper> keeper, std::unique_ptr<Queue> queue, std::uint32_t nsid,
                 NamespaceInfo info, unsigned depth, unsigned io_timeout)
    : keeper_(std::move(keeper)),
      queue_(std::move(queue)),
      info_(std::move(info)),
      nsid_(nsid),
      lba_shift_(static_cast<std::uint8_t>(std::countr_zero(info_.block_size))),
      depth_(depth),
      ready_(depth),
      ages_(io_timeout),
      doorbells_at_open_(queue_->doorbells)
{
}

TcpPath::~TcpPath()
{
    const Deadline deadline = Deadline::in(drain_time);
    Completion nowhere;

    while (taken_ && !deadline.passed())
        if (!wait({&nowhere, 1}, deadline.poll_ms()))
            break;
}

Status TcpPath::register_buffer(std::span<std::byte> memory)
{
    if (memory.empty())
        return Error{EINVAL, "no memory to register"};
    return ok();
}

Result<std::size_t> TcpPath::submit(std::span<const Io> batch)
{
    std::size_t n = 0;

    notice_loss();
    if (queue_->broken())
        return Error{ENOTCONN, queue_->error().text};
    for (; n < batch.size() && taken_ < depth_; n++) {
        const Io& io = batch[n];
        const bool known = io.op == Op::read || io.op == Op::write || io.op == Op::flush;

        if (const int refused = known ? check_io(info_, io) : EINVAL)
            ready_.push({io.tag, refused, 0});
        else
            start(io);
        taken_++;
    }
    queue_->ring();
    return n;
}

void TcpPath::start(const Io& io)
{
    // there is a slot: no more than depth_ are taken, and each finishes with its slot
    const std::uint16_t slot = queue_->acquire();
    nvmf_sqe& sqe = queue_->sqe(slot);

    if (io.op == Op::flush) {
        nvmf_build_flush(&sqe, nsid_);
        queue_->post(slot, io.tag);
        return;
    }
    const bool writes = io.op == Op::write;
    nvmf_build_rw(&sqe, writes ? NVMF_IO_WRITE : NVMF_IO_READ, nsid_, io.lba,
                  static_cast<std::uint32_t>(io.data.size() >> lba_shift_), 0);
    queue_->post(slot, io.tag, writes ? Way::to_controller : Way::to_host, io.data);
}

/// The keeper saw the controller go: act on it, as the queue's owner.
void TcpPath::notice_loss()
{
    Health& health = keeper_->health();

    if (queue_->broken())
        return;
    if (health.lost())
        queue_->break_with(health.why());
    else
        fabrics::Ages::tell(health, *queue_);
}

/// What finished becomes ready; of a queue that broke, everything does.
void TcpPath::reap()
{
    for (const Finished& done : queue_->reap())
        ready_.push({done.cookie, errno_from_nvme(done.status), done.status});
    notice_loss();
    if (queue_->drained())
        ages_.judge(*queue_);
    if (!queue_->broken())
        return;
    const int why = queue_->error().code;
    const int status = why == EPROTO || why == EIO ? EIO : ENOTCONN;
    queue_->cancel_all([&](std::uint64_t tag) { ready_.push({tag, status, 0}); });
    // a controller is its queues: the other paths are told
    if (!std::exchange(told_, true))
        keeper_->lose(queue_->error());
}

/// @p look: also at the socket.
std::size_t TcpPath::collect(std::span<Completion> out, bool look)
{
    if (look && ready_.count() < out.size() && ready_.count() < taken_)
        reap();
    const std::size_t n = ready_.pop(out);
    taken_ -= static_cast<unsigned>(n);
    return n;
}

Result<std::size_t> TcpPath::wait(std::span<Completion> out, int timeout_ms)
{
    if (out.empty())
        return Error{EINVAL, "no room for a completion"};
    const Deadline deadline =
        timeout_ms < 0 ? Deadline::never() : Deadline::in(std::chrono::milliseconds(timeout_ms));

    // where the last look found the socket empty, another one would only cost a system call
    bool look = !queue_->drained() || queue_->broken();
    while (taken_) {
        if (const std::size_t n = collect(out, look))
            return n;
        look = !queue_->drained() || queue_->broken();
        if (look)
            continue;
        pollfd fds[] = {queue_->readiness(), {keeper_->health().fd(), POLLIN, 0}};
        if (fabrics::poll_a_second(fds, deadline) == 0 && deadline.passed())
            return Error{ETIMEDOUT, fmt::format("no I/O completed within {} ms; {} in flight at {}",
                                                timeout_ms, taken_, info_.device)};
        look = true;
    }
    return std::size_t{0};
}

PathCounters TcpPath::counters() const noexcept
{
    PathCounters c;

    c.doorbells = queue_->doorbells - doorbells_at_open_;
    return c;
}

/// What the paths of a set have in common, while they are being opened.
struct Set {
    Endpoint endpoint;
    std::unique_ptr<Admin> admin;
    nvmf_ns_info ns{};
};

Result<Set> open_controller(const PathUri& uri, const OpenOptions& options, unsigned count)
{
    Result<HostIdentity> host = host_identity(options.host_nqn);
    if (!host)
        return host.error();
    Result<Endpoint> endpoint = Endpoint::parse(uri.host, uri.port);
    if (!endpoint)
        return endpoint.error();
    Result<std::unique_ptr<Queue>> queue =
        Queue::open(*endpoint, {fabrics::admin_depth, uri.hdgst, uri.ddgst});
    if (!queue)
        return queue.error();
    Result<std::unique_ptr<Admin>> admin =
        Admin::open(std::move(*queue), {uri.nqn, *host, options.keep_alive_ms, false, true});
    if (!admin)
        return admin.error();
    if (Status s = (*admin)->ask_for_queues(count); !s)
        return s.error();
    Result<nvmf_ns_info> ns = (*admin)->identify_namespace(uri.nsid);
    if (!ns)
        return ns.error();
    if (Status s = (*admin)->check_depth(options.depth); !s)
        return s.error();
    return Set{*endpoint, std::move(*admin), *ns};
}

Result<std::unique_ptr<Queue>> open_io_queue(const PathUri& uri, Set& set, std::uint16_t qid,
                                             unsigned depth)
{
    Result<std::unique_ptr<Queue>> queue =
        Queue::open(set.endpoint, {static_cast<std::uint16_t>(depth), uri.hdgst, uri.ddgst});
    if (!queue)
        return queue.error();
    if (Status s = set.admin->join(**queue, qid, depth); !s)
        return s.error();
    (*queue)->set_in_capsule(nvmf_inline_max(&set.admin->info()));
    return queue;
}

Result<std::vector<std::unique_ptr<DataPath>>> open(const PathUri& uri, const OpenOptions& options,
                                                    unsigned count)
{
    Result<Set> set = open_controller(uri, options, count);
    if (!set)
        return set.error();
    std::vector<std::unique_ptr<Queue>> queues;
    queues.reserve(count);
    for (unsigned i = 0; i < count; i++) {
        Result<std::unique_ptr<Queue>> queue =
            open_io_queue(uri, *set, static_cast<std::uint16_t>(i + 1), options.depth);
        if (!queue)
            return queue.error();
        queues.push_back(std::move(*queue));
    }
    NamespaceInfo info;
    info.blocks = set->ns.blocks;
    info.block_size = 1U << set->ns.lba_shift;
    info.max_transfer = fabrics::max_transfer(set->admin->info(), set->ns, UINT32_MAX);
    info.device = set->endpoint.text + "/" + uri.nqn;
    if (!info.max_transfer)
        return Error{EPROTO, "the controller at " + info.device + " transfers less than a block"};

    Result<std::shared_ptr<Keeper>> keeper =
        Keeper::start(std::move(set->admin), options.keep_alive_ms);
    if (!keeper)
        return keeper.error();
    std::vector<std::unique_ptr<DataPath>> paths;
    paths.reserve(queues.size());
    for (std::unique_ptr<Queue>& queue : queues)
        paths.push_back(std::make_unique<TcpPath>(*keeper, std::move(queue), uri.nsid, info,
                                                  options.depth, uri.io_timeout));
    return paths;
}

}  // namespace

Result<std::vector<std::unique_ptr<DataPath>>> open_tcp_paths(const PathUri& uri,
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
