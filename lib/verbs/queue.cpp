// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queue.hpp"

#include <algorithm>
#include <cerrno>

namespace kdp::verbs {

namespace {

// One SEND in so many is signalled, if no other reason makes it so.
constexpr unsigned signal_interval = 16;

// Receives beyond the depth, so that they can be posted again in batches and yet
// every command in flight finds one (or the controller would meet RNR).
constexpr unsigned spare_receives(unsigned depth)
{
    return std::max(depth, 16U);
}

// Rule H8. A command in flight is one SEND; there is no memory registration nor
// invalidation per command, and no drain WR (the QP is destroyed instead). Beyond
// those in flight: up to signal_interval whose completion nobody asked for, and as
// many commands again that have their response while a SEND behind them that tells
// of the send queue is still to be reaped.
constexpr unsigned send_work_requests(unsigned depth)
{
    return 2 * depth + 2 * signal_interval;
}

// A completion's wr_id: what it is of, and which.
constexpr std::uint64_t wr_receive = 1ULL << 63;

std::uint64_t send_wr_id(std::uint64_t sequence, std::uint16_t slot)
{
    return (sequence << 12 & ~wr_receive) | slot;
}

static_assert(NVMF_CID_SLOTS == 1 << 12, "a slot has 12 bits in a wr_id and in a cid");

}  // namespace

Queue::Queue(std::unique_ptr<Connection> connection, const Params& params)
    : SlotQueue(params.depth),
      qid_(params.qid),
      connection_(std::move(connection)),
      commands_(params.depth),
      send_wrs_(send_work_requests(params.depth)),
      receive_wrs_(params.depth + spare_receives(params.depth)),
      receive_sges_(receive_wrs_.size()),
      repost_at_(spare_receives(params.depth) / 2)
{
}

Result<std::unique_ptr<Queue>> Queue::open(const Endpoint& endpoint, const Params& params,
                                           Patience patience)
{
    if (!params.depth || params.depth >= NVMF_CID_SLOTS)
        return Error{EINVAL, "a queue's depth is 1 to " + std::to_string(NVMF_CID_SLOTS - 1)};

    Result<std::unique_ptr<Connection>> connection = Connection::create(
        endpoint, {send_work_requests(params.depth), params.depth + spare_receives(params.depth)},
        patience);
    if (!connection)
        return connection.error();
    std::unique_ptr<Queue> queue(new Queue(std::move(*connection), params));
    if (Status s = queue->allocate(); !s)
        return s.error();
    // before the connection stands: the controller may answer at once
    if (Status s = queue->post_receives(); !s)
        return s.error();
    Result<unsigned> crqsize =
        queue->connection_->connect(params.qid, params.entries, params.cntlid, patience);
    if (!crqsize)
        return crqsize.error();
    if (*crqsize < params.depth)
        return Error{EINVAL, endpoint.text + " receives only " + std::to_string(*crqsize) +
                                 " commands at a time, depth " + std::to_string(params.depth) +
                                 " was asked for; ask for less"};
    return queue;
}

Status Queue::allocate()
{
    const std::size_t bytes = slots_.count() * NVMF_SQE_SIZE + receive_wrs_.size() * NVMF_CQE_SIZE;
    Result<Pages> memory = Pages::allocate(bytes);
    if (!memory)
        return memory.error();
    memory_ = std::move(*memory);
    Result<Pages> scratch = Pages::allocate(4096);
    if (!scratch)
        return scratch.error();
    scratch_ = std::move(*scratch);

    memory_mr_.reset(
        ibv_reg_mr(connection_->pd(), memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE));
    if (memory_mr_)
        scratch_mr_.reset(
            ibv_reg_mr(connection_->pd(), scratch_.data(), scratch_.size(),
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
    if (!scratch_mr_)
        return error_from_errno(errno, "cannot register a queue's memory with " +
                                           connection_->device_name() +
                                           "; see `ulimit -l` (RLIMIT_MEMLOCK)");

    inline_capsules_ = connection_->inline_bytes() >= NVMF_SQE_SIZE;
    for (std::size_t i = 0; i < commands_.size(); i++) {
        Command& command = commands_[i];
        command.sge[0] = {reinterpret_cast<std::uintptr_t>(&capsules()[i]), NVMF_SQE_SIZE,
                          memory_mr_->lkey};
        command.wr.sg_list = command.sge;
        command.wr.opcode = IBV_WR_SEND;
    }
    consumed_.reserve(receive_wrs_.size());
    for (std::size_t i = 0; i < receive_wrs_.size(); i++) {
        receive_sges_[i] = {reinterpret_cast<std::uintptr_t>(response(i)), NVMF_CQE_SIZE,
                            memory_mr_->lkey};
        receive_wrs_[i].wr_id = wr_receive | i;
        receive_wrs_[i].sg_list = &receive_sges_[i];
        receive_wrs_[i].num_sge = 1;
        consumed_.push_back(static_cast<std::uint32_t>(i));
    }
    return ok();
}

void Queue::post(std::uint16_t slot, std::uint64_t cookie, std::span<const std::byte> data,
                 std::uint32_t lkey)
{
    Command& command = commands_[slot];
    const bool copied = inline_capsules_ && data.empty();

    slots_.begin(slot, cookie);
    command.generation = (command.generation + 1) & 0xf;
    command.responded = false;
    command.wants_send = !copied;
    sqe(slot).cid = nvmf_htole16(nvmf_cid(slot, command.generation));

    command.wr.num_sge = 1;
    if (!data.empty()) {
        command.sge[1] = {reinterpret_cast<std::uintptr_t>(data.data()),
                          static_cast<std::uint32_t>(data.size()), lkey};
        command.wr.num_sge = 2;
    }
    command.wr.send_flags = copied ? static_cast<unsigned>(IBV_SEND_INLINE) : 0U;
    if (command.wants_send || ++unsignalled_ >= signal_interval) {
        command.wr.send_flags |= IBV_SEND_SIGNALED;
        unsignalled_ = 0;
    }
    command.wr.wr_id = send_wr_id(posted_, slot);
    command.wr.next = nullptr;
    posted_++;

    (chain_last_ ? chain_last_->next : chain_first_) = &command.wr;
    chain_last_ = &command.wr;
    chained_++;
}

void Queue::ring()
{
    ibv_send_wr* first = chain_first_;
    const unsigned count = chained_;

    if (!first)
        return;
    chain_first_ = chain_last_ = nullptr;
    chained_ = 0;
    if (broken())
        return;
    ibv_send_wr* bad = nullptr;
    doorbells++;
    work_requests += count;
    if (const int rc = ibv_post_send(connection_->qp(), first, &bad)) {
        for (; bad; bad = bad->next)
            work_requests--;
        break_with(error_from_errno(rc > 0 ? rc : errno, "cannot post to " + peer()));
    }
}

Status Queue::post_receives()
{
    if (consumed_.empty())
        return ok();
    for (std::size_t i = 0; i < consumed_.size(); i++)
        receive_wrs_[consumed_[i]].next =
            i + 1 < consumed_.size() ? &receive_wrs_[consumed_[i + 1]] : nullptr;
    ibv_recv_wr* bad = nullptr;
    doorbells++;
    if (const int rc = ibv_post_recv(connection_->qp(), &receive_wrs_[consumed_[0]], &bad))
        return error_from_errno(rc > 0 ? rc : errno, "cannot post receives for " + peer());
    work_requests += consumed_.size();
    consumed_.clear();
    return ok();
}

std::span<const Finished> Queue::reap()
{
    finished_count_ = 0;
    if (broken())
        return {};
    const int count = ibv_poll_cq(connection_->cq(), poll_batch, wcs_.data());
    if (count < 0) {
        break_with(Error{EIO, "cannot poll the completion queue of " + peer()});
        return {};
    }
    cqes += static_cast<unsigned>(count);
    drained_ = static_cast<unsigned>(count) < poll_batch;
    for (int i = 0; i < count && !broken(); i++)
        on_completion(wcs_[i]);
    if (!broken() && consumed_.size() >= repost_at_)
        if (Status s = post_receives(); !s)
            break_with(s.error());
    return {finished_.data(), finished_count_};
}

void Queue::on_completion(const ibv_wc& wc)
{
    if (wc.status != IBV_WC_SUCCESS)
        break_with(Error{
            ENOTCONN, "the connection to " + peer() + " broke: " + ibv_wc_status_str(wc.status)});
    else if (wc.wr_id & wr_receive)
        on_receive(wc);
    else
        on_send(wc);
}

void Queue::on_send(const ibv_wc& wc)
{
    // SENDs complete in order: this one tells of all before it
    const auto slot = static_cast<std::uint16_t>(wc.wr_id & (NVMF_CID_SLOTS - 1));
    const std::uint64_t sequence_bits = (1ULL << 51) - 1;

    sent_ += ((wc.wr_id >> 12) + 1 - sent_) & sequence_bits;
    if (commands_[slot].wants_send && commands_[slot].wr.wr_id == wc.wr_id) {
        commands_[slot].wants_send = false;
        finish_if_done(slot);
    }
}

void Queue::on_receive(const ibv_wc& wc)
{
    const auto index = static_cast<std::uint32_t>(wc.wr_id & 0xffffffff);
    nvmf_response rsp;

    // rule H3: nothing in a response is believed before it was checked
    if (wc.opcode != IBV_WC_RECV || nvmf_response_parse(response(index), wc.byte_len, &rsp)) {
        break_with(Error{EPROTO, peer() + " sent a response of " + std::to_string(wc.byte_len) +
                                     " bytes; a CQE has 16"});
        return;
    }
    consumed_.push_back(index);
    // rule H2: we ask for no invalidation, so there is no rkey that one could be of
    if (wc.wc_flags & IBV_WC_WITH_INV) {
        break_with(Error{EPROTO, peer() + " invalidated a key that it was not "
                                          "asked to"});
        return;
    }
    const std::uint16_t tag = nvmf_cid_slot(rsp.cid);
    if (!slots_.in_flight(tag) || commands_[tag].responded ||
        commands_[tag].generation != nvmf_cid_generation(rsp.cid)) {
        break_with(Error{EPROTO, peer() +
                                     " answered a command that is not in "
                                     "flight, identifier " +
                                     std::to_string(rsp.cid)});
        return;
    }
    commands_[tag].responded = true;
    commands_[tag].result = rsp.result;
    commands_[tag].status = rsp.status;
    finish_if_done(tag);
}

void Queue::finish_if_done(std::uint16_t slot)
{
    const Command& command = commands_[slot];

    if (!slots_.in_flight(slot) || !command.responded || command.wants_send)
        return;
    finished_[finished_count_++] = {slots_.cookie(slot), command.result, command.status};
    slots_.release(slot);
}

}  // namespace kdp::verbs
