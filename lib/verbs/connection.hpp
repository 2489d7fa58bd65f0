// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One RDMA connection to an NVMe-oF controller: the rdma_cm id, the QP and its CQ.
/// It knows how to come up, how it ends and why, and nothing of NVMe beyond the
/// private data of the CM messages.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fabrics/endpoint.hpp"
#include "fabrics/patience.hpp"
#include "resources.hpp"

namespace kdp::verbs {

using fabrics::Deadline;
using fabrics::Endpoint;
using fabrics::Patience;

class Connection {
public:
    /// Work requests that may be posted and not yet completed, every kind counted
    /// (rule H8: the caller explains its factor).
    struct Depth {
        unsigned send = 0;
        unsigned receive = 0;
    };

    /// Resolve address and route and make a QP, ready for receives to be posted,
    /// connected to nothing yet. Each step is bounded by 5 s, and by @p patience.
    /// EHOSTUNREACH, ENETUNREACH: no way there; ENODEV: the way there has no RDMA device.
    static Result<std::unique_ptr<Connection>> create(const Endpoint& endpoint, Depth depth,
                                                      Patience patience);

    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Connect as queue @p qid of @p entries; bounded by 10 s and by @p patience. Returns how many
    /// entries the controller's receive queue has (CRQSIZE).
    /// ECONNREFUSED: nobody listens; EPROTO: the peer does not speak NVMe-oF.
    Result<unsigned> connect(std::uint16_t qid, std::uint16_t entries, std::uint16_t cntlid,
                             Patience patience);

    /// Orderly end: tell the peer and wait, up to 1 s, for its answer. The QP is in
    /// the error state afterwards. Not while another thread is in check_events().
    void disconnect();

    /// Disorderly end: the QP is destroyed. When this returns, the HCA no longer
    /// touches any memory for this connection, and the peer is being told.
    void kill();

    /// Tell the peer that it is over and let everything that is posted fail, but leave the QP to
    /// its owner. By any thread, beside the one that posts, polls or kills.
    void hang_up();

    /// Read all pending CM events without sleeping. An error once one said that the
    /// connection is lost. One thread at a time may call this, beside another one
    /// that posts, polls or kills.
    Status check_events();

    /// Arm the CQ: its next completion makes cq_fd() readable. Poll once more after it.
    Status arm();
    /// Take what made cq_fd() readable.
    void take_cq_events();

    [[nodiscard]] int cm_fd() const noexcept { return channel_->fd; }
    [[nodiscard]] int cq_fd() const noexcept { return comp_channel_->fd; }
    [[nodiscard]] ibv_pd* pd() const noexcept { return pd_.get(); }
    [[nodiscard]] ibv_cq* cq() const noexcept { return cq_.get(); }
    /// Null once killed.
    [[nodiscard]] ibv_qp* qp() const noexcept { return qp_ ? qp_->qp : nullptr; }
    /// Bytes that the QP takes inside a work request (IBV_SEND_INLINE).
    [[nodiscard]] unsigned inline_bytes() const noexcept { return inline_bytes_; }
    [[nodiscard]] unsigned send_sges() const noexcept { return send_sges_; }
    [[nodiscard]] std::string device_name() const;
    [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

private:
    struct Event;

    explicit Connection(std::string peer) : peer_(std::move(peer)) {}
    Status resolve(const Endpoint& endpoint, Patience patience);
    Status make_qp(Depth depth);
    std::optional<Event> next_event();
    Result<Event> wait_event(Patience patience, const char* what);
    [[nodiscard]] Error refused(const Event& event) const;

    std::string peer_;
    EventChannel channel_;
    CmId id_;
    Pd pd_;
    CompChannel comp_channel_;
    Cq cq_;
    QpOfId qp_;
    unsigned inline_bytes_ = 0;
    unsigned send_sges_ = 1;
    unsigned unacked_cq_events_ = 0;
    std::mutex end_mutex_;  // connected_, and the QP's going
    bool connected_ = false;
    bool ended_ = false;  // the peer has disconnected; belongs to the caller of check_events()
};

}  // namespace kdp::verbs
