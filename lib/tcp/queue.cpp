// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queue.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>

#include <fmt/format.h>

#include "socket.hpp"

namespace kdp::tcp {

using namespace std::chrono_literals;

namespace {

constexpr auto initialize_time = 10000ms;
/// reap() looks again while there may be more, until so many are finished.
constexpr std::size_t reap_batch = 32;
/// R2Ts a command that may be outstanding: one, which H2CData answer before the next.
constexpr std::uint32_t r2ts = 1;
/// Alignment of C2HData that we ask for: none beyond the dword.
constexpr std::uint8_t alignment = 0;

}  // namespace

Queue::Queue(UniqueFd fd, std::string peer, const Params& params)
    : SlotQueue(params.depth),
      fd_(std::move(fd)),
      peer_(std::move(peer)),
      commands_(params.depth),
      page_(std::make_unique<std::array<std::byte, 4096>>()),
      sender_(params.depth)
{
    for (std::size_t i = 0; i < commands_.size(); i++)
        commands_[i].pdu.slot = static_cast<std::uint16_t>(i);
    finished_.reserve(commands_.size());
}

Result<std::unique_ptr<Queue>> Queue::open(const fabrics::Endpoint& endpoint, const Params& params,
                                           Patience patience)
{
    Result<UniqueFd> fd = connect_socket(endpoint, patience);

    if (!fd)
        return fd.error();
    return open(std::move(*fd), endpoint.text, params, patience);
}

Result<std::unique_ptr<Queue>> Queue::open(UniqueFd fd, std::string peer, const Params& params,
                                           Patience patience)
{
    if (!params.depth || params.depth >= NVMF_CID_SLOTS)
        return Error{EINVAL, fmt::format("a queue's depth is 1 to {}", NVMF_CID_SLOTS - 1)};
    std::unique_ptr<Queue> queue(new Queue(std::move(fd), std::move(peer), params));
    if (Status s = queue->initialize(params, patience); !s)
        return s.error();
    return queue;
}

/// Send @p request, and receive as many bytes as @p answer has.
Status Queue::exchange(std::span<const std::byte> request, std::span<std::byte> answer,
                       Patience patience)
{
    const std::string what = "the connection to " + peer_ + " broke";

    while (!request.empty() || !answer.empty()) {
        pollfd ready{fd_.get(), static_cast<short>(request.empty() ? POLLIN : POLLOUT), 0};
        if (!patience.sleep({&ready, 1}))
            return Error{ETIMEDOUT,
                         peer_ + " did not answer ICReq in time: does it speak NVMe/TCP?"};
        const ssize_t n =
            request.empty()
                ? recv(fd_.get(), answer.data(), answer.size(), MSG_DONTWAIT)
                : ::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            return lost_connection(errno, what);
        if (!request.empty()) {
            request = request.subspan(static_cast<std::size_t>(n));
        } else {
            if (n == 0)
                return Error{ENOTCONN, peer_ + " closed the connection instead of answering ICReq"};
            answer = answer.subspan(static_cast<std::size_t>(n));
        }
    }
    return ok();
}

Status Queue::initialize(const Params& params, Patience patience)
{
    const auto dgst = static_cast<std::uint8_t>((params.hdgst ? NVMF_TCP_DGST_HEADER : 0) |
                                                (params.ddgst ? NVMF_TCP_DGST_DATA : 0));
    const Patience part = patience.for_part(initialize_time);
    nvmf_tcp_icreq request;
    std::array<std::byte, sizeof(nvmf_tcp_icresp)> answer;
    const std::span<std::byte> all(answer);
    nvmf_tcp_fault fault{};

    nvmf_tcp_icreq_fill(&request, alignment, dgst, r2ts);
    // a terminate request is shorter than ICResp: first what both have
    if (Status s =
            exchange(std::as_bytes(std::span(&request, 1)), all.first(sizeof(nvmf_tcp_term)), part);
        !s)
        return s;
    if (answer[0] == std::byte{NVMF_TCP_C2H_TERM}) {
        nvmf_tcp_term_parse(answer.data(), &fault);
        return Error{EPROTO, peer_ + " refused ICReq: " + nvmf_tcp_fes_text(fault.fes)};
    }
    if (Status s = exchange({}, all.subspan(sizeof(nvmf_tcp_term)), part); !s)
        return s;
    switch (nvmf_tcp_icresp_parse(answer.data(), &request, &agreed_, &fault)) {
        case 0:
            break;
        case -EPROTONOSUPPORT:
            return Error{EPROTONOSUPPORT, peer_ + " speaks another version of NVMe/TCP than 1.0"};
        case -EOPNOTSUPP:
            return Error{EOPNOTSUPP, peer_ +
                                         " does without a digest that was asked for (hdgst=1, "
                                         "ddgst=1); allow it there, or do without"};
        default:
            return Error{EPROTO, fmt::format("{} answered ICReq by what is no ICResp (byte {})",
                                             peer_, fault.fei)};
    }
    receiver_ = std::make_unique<Receiver>(agreed_, static_cast<PduHandler&>(*this));
    return ok();
}

nvmf_sqe& Queue::sqe(std::uint16_t slot) noexcept
{
    return reinterpret_cast<nvmf_tcp_cmd*>(commands_[slot].pdu.head.data())->sqe;
}

void Queue::post(std::uint16_t slot, std::uint64_t cookie, Way way, std::span<std::byte> data)
{
    Command& command = commands_[slot];
    const auto generation = static_cast<std::uint8_t>(nvmf_cid_generation(command.cid) + 1);
    const auto bytes = static_cast<std::uint32_t>(data.size());
    const bool in_capsule = way == Way::to_controller && bytes && bytes <= in_capsule_;
    auto* cmd = reinterpret_cast<nvmf_tcp_cmd*>(command.pdu.head.data());

    command.data = data;
    slots_.begin(slot, cookie);
    command.moved = in_capsule ? bytes : 0;
    command.r2t_left = 0;
    command.cid = nvmf_cid(slot, generation);
    command.way = bytes ? way : Way::none;
    command.responded = false;
    command.damaged = false;
    if (command.way == Way::to_host)
        reads_++;

    cmd->sqe.cid = nvmf_htole16(command.cid);
    if (in_capsule)
        nvmf_sgl_set_inline(&cmd->sqe.dptr, 0, bytes);
    else
        nvmf_tcp_sgl_set(&cmd->sqe.dptr, bytes);
    nvmf_tcp_cmd_fill(cmd, in_capsule ? bytes : 0, &agreed_);
    command.pdu.finish(in_capsule ? data : std::span<std::byte>(), agreed_);
    sender_.push(command.pdu);
    posted_++;
}

void Queue::ring()
{
    if (!posted_)
        return;
    posted_ = 0;
    doorbells++;
    send();
}

void Queue::send()
{
    if (broken() || sender_.empty())
        return;
    if (const int code = sender_.flush(fd_.get(), [this](OutgoingPdu& pdu) { on_sent(pdu); }))
        break_with(lost_connection(code, "cannot send to " + peer_));
}

void Queue::on_sent(OutgoingPdu& pdu)
{
    Command& command = commands_[pdu.slot];

    if (command.r2t_left)
        queue_data(pdu.slot);
    else if (command.responded)
        finish(pdu.slot);
}

/// The next H2CData of what an R2T asked for.
void Queue::queue_data(std::uint16_t slot)
{
    Command& command = commands_[slot];
    const std::uint32_t bytes = std::min(command.r2t_left, agreed_.maxh2cdata);
    auto* header = reinterpret_cast<nvmf_tcp_data*>(command.pdu.head.data());

    nvmf_tcp_h2c_data_fill(header, command.cid, command.ttag, command.r2t_offset, bytes,
                           bytes == command.r2t_left, &agreed_);
    command.pdu.finish(command.data.subspan(command.r2t_offset, bytes), agreed_);
    command.r2t_offset += bytes;
    command.r2t_left -= bytes;
    sender_.push(command.pdu);
}

void Queue::finish(std::uint16_t slot)
{
    finished_.push_back({slots_.cookie(slot), commands_[slot].result, commands_[slot].status});
    if (commands_[slot].way == Way::to_host)
        reads_--;
    slots_.release(slot);
}

std::span<const Finished> Queue::reap()
{
    // what finished since, in ring(), stays
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(handed_));
    while (!broken()) {
        const Receiver::Outcome outcome = receiver_->receive(fd_.get(), expects_data());
        drained_ = outcome != Receiver::Outcome::more;
        on_outcome(outcome);
        send();
        if (drained_ || finished_.size() >= reap_batch)
            break;
    }
    handed_ = finished_.size();
    return finished_;
}

pollfd Queue::readiness() const noexcept
{
    return {fd_.get(), static_cast<short>(POLLIN | (sender_.empty() ? 0 : POLLOUT)), 0};
}

void Queue::end_connection()
{
    // what the kernel took is a copy: nothing of the caller's is touched any more
    fd_.reset();
}

}  // namespace kdp::tcp
