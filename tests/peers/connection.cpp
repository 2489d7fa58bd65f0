// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "connection.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>

#include <fmt/format.h>

namespace kdp::peer {

namespace {

constexpr unsigned send_depth = 256;
constexpr std::uint64_t receive_flag = 1ULL << 63;
constexpr std::size_t smallest_buffer = 4096;

template <typename T>
T* must(T* object, const char* what)
{
    if (!object)
        throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
    return object;
}

}  // namespace

Connection::Connection(Loop& loop, rdma_cm_id* id, std::uint16_t qid, unsigned receives,
                       std::size_t capsule_bytes)
    : loop_(loop), id_(id), qid_(qid)
{
    try {
        create(receives, capsule_bytes);
    } catch (...) {
        destroy();
        throw;
    }
}

void Connection::create(unsigned receives, std::size_t capsule_bytes)
{
    pd_.reset(must(ibv_alloc_pd(id_->verbs), "protection domain"), ibv_dealloc_pd);
    channel_ = must(ibv_create_comp_channel(id_->verbs), "completion channel");
    fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
    cq_ = must(
        ibv_create_cq(id_->verbs, static_cast<int>(send_depth + receives), nullptr, channel_, 0),
        "completion queue");
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.cap.max_send_wr = send_depth;
    attr.cap.max_recv_wr = receives;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    if (rdma_create_qp(id_, pd_.get(), &attr))
        throw std::runtime_error(fmt::format("queue pair: {}", std::strerror(errno)));

    capsule_bytes_ = capsule_bytes;
    capsules_.resize(receives * capsule_bytes);
    capsules_mr_ =
        must(ibv_reg_mr(pd_.get(), capsules_.data(), capsules_.size(), IBV_ACCESS_LOCAL_WRITE),
             "memory region");
    for (unsigned slot = 0; slot < receives; slot++)
        post_receive(slot);
    ibv_req_notify_cq(cq_, 0);
    loop_.watch(channel_->fd, [this] { poll(); });
}

Connection::~Connection()
{
    destroy();
}

void Connection::destroy()
{
    if (channel_)
        loop_.unwatch(channel_->fd);
    if (id_->qp)
        rdma_destroy_qp(id_);
    if (capsules_mr_)
        ibv_dereg_mr(capsules_mr_);
    if (cq_)
        ibv_destroy_cq(cq_);
    if (channel_)
        ibv_destroy_comp_channel(channel_);
    rdma_destroy_id(id_);
}

Buffer::Buffer(std::shared_ptr<ibv_pd> domain, std::size_t size)
    : pd(std::move(domain)), bytes(size)
{
    // an RDMA READ's sink needs remote write access on iWARP
    mr = must(
        ibv_reg_mr(pd.get(), bytes.data(), size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
        "memory region");
}

Buffer::~Buffer()
{
    ibv_dereg_mr(mr);
}

BufferPtr Connection::buffer(std::size_t bytes)
{
    for (const auto& buffer : pool_) {
        if (buffer.use_count() == 1 && buffer->bytes.size() >= bytes)
            return buffer;
    }
    pool_.push_back(std::make_shared<Buffer>(pd_, std::bit_ceil(std::max(bytes, smallest_buffer))));
    return pool_.back();
}

void Connection::post_receive(unsigned slot)
{
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(&capsules_[slot * capsule_bytes_]),
                static_cast<std::uint32_t>(capsule_bytes_), capsules_mr_->lkey};
    ibv_recv_wr wr{};
    ibv_recv_wr* bad = nullptr;

    wr.wr_id = receive_flag | slot;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_post_recv(id_->qp, &wr, &bad);
}

void Connection::rdma_write(const BufferPtr& buffer, std::size_t bytes, std::uint64_t address,
                            std::uint32_t key, Done done)
{
    Work work{.buffer = buffer, .done = std::move(done)};

    work.wr.opcode = IBV_WR_RDMA_WRITE;
    work.wr.wr.rdma.remote_addr = address;
    work.wr.wr.rdma.rkey = key;
    work.sge.length = static_cast<std::uint32_t>(bytes);
    post(std::move(work));
}

void Connection::rdma_read(const BufferPtr& buffer, std::size_t bytes, std::uint64_t address,
                           std::uint32_t key, Done done)
{
    Work work{.buffer = buffer, .done = std::move(done)};

    work.wr.opcode = IBV_WR_RDMA_READ;
    work.wr.wr.rdma.remote_addr = address;
    work.wr.wr.rdma.rkey = key;
    work.sge.length = static_cast<std::uint32_t>(bytes);
    post(std::move(work));
}

void Connection::send(const BufferPtr& buffer, std::size_t bytes,
                      std::optional<std::uint32_t> invalidate, Done done)
{
    Work work{.buffer = buffer, .done = std::move(done)};

    work.wr.opcode = invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
    if (invalidate) {
        work.wr.invalidate_rkey = *invalidate;
        work.wr.wr.rdma.rkey = *invalidate;  // where libsiw looks for it
    }
    work.sge.length = static_cast<std::uint32_t>(bytes);
    post(std::move(work));
}

void Connection::post(Work work)
{
    pending_.push_back(std::move(work));
    post_pending();
}

void Connection::post_pending()
{
    while (!pending_.empty() && posted_.size() < send_depth) {
        const std::uint64_t number = next_work_++;
        Work& work = posted_[number] = std::move(pending_.front());
        ibv_send_wr* bad = nullptr;

        pending_.pop_front();
        work.sge.addr = reinterpret_cast<std::uintptr_t>(work.buffer->bytes.data());
        work.sge.lkey = work.buffer->mr->lkey;
        work.wr.wr_id = number;
        work.wr.sg_list = &work.sge;
        work.wr.num_sge = work.sge.length ? 1 : 0;
        if (ended_ || ibv_post_send(id_->qp, &work.wr, &bad)) {
            const Done done = std::move(work.done);
            posted_.erase(number);
            if (done)
                done(IBV_WC_WR_FLUSH_ERR);
        }
    }
}

void Connection::complete(const ibv_wc& wc)
{
    if (wc.wr_id & receive_flag) {
        const auto slot = static_cast<unsigned>(wc.wr_id & ~receive_flag);
        if (wc.status != IBV_WC_SUCCESS)
            return;
        // posted again at once: the handler takes copies
        std::vector<std::byte> capsule(&capsules_[slot * capsule_bytes_],
                                       &capsules_[slot * capsule_bytes_] + wc.byte_len);
        post_receive(slot);
        on_capsule_(capsule);
        return;
    }
    const auto found = posted_.find(wc.wr_id);
    if (found == posted_.end())
        return;
    const Work work = std::move(found->second);
    posted_.erase(found);
    if (work.done)
        work.done(wc.status);
}

void Connection::poll()
{
    const auto self = shared_from_this();  // a handler may let go of us
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    ibv_wc wc[16];

    while (ibv_get_cq_event(channel_, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
    ibv_req_notify_cq(cq_, 0);
    for (int n = 0; (n = ibv_poll_cq(cq_, 16, wc)) > 0;) {
        for (int i = 0; i < n; i++)
            complete(wc[i]);
    }
    post_pending();
}

void Connection::established()
{
    established_ = true;
    if (ended_)
        rdma_disconnect(id_);
}

void Connection::disconnect()
{
    if (ended_)
        return;
    ended_ = true;
    if (established_)
        rdma_disconnect(id_);
}

}  // namespace kdp::peer
