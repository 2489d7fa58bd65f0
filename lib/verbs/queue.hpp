// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One NVMe queue, submission and completion, over one connection: command slots,
/// capsules out, responses in, every response checked.
///
/// Life of a command:
///
///     acquire() ─ fill the SQE ─ post() ─ ring() ─► SEND ──────► controller
///                                                    │               │ RDMA READ, WRITE
///        finished, slot free ◄── both of: ◄──────────┴─ SEND done    ▼
///                                         ◄──────────── response (RECV)
///
/// A SEND must be done before its command finishes only when the HCA may still
/// read the memory behind it after a lost ACK (rule H1): in-capsule user data, or a
/// capsule that the QP did not copy. Capsules are copied into the work request
/// (IBV_SEND_INLINE) wherever the QP can; then most SENDs are unsignalled and one in
/// `signal_interval` is signalled to account for send queue space.
///
/// Not thread safe; one thread owns a queue at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nvmf/capsule.h>
#include <kdp/data_path.hpp>

#include "connection.hpp"
#include "fabrics/pages.hpp"
#include "fabrics/slot_queue.hpp"
#include "polling_code.hpp"

namespace kdp::verbs {

using fabrics::Pages;

/// A command that is over.
struct Finished {
    std::uint64_t cookie;
    std::uint64_t result;
    std::uint16_t status;  ///< NVMF_SC_*
};

class Queue final : public fabrics::SlotQueue {
public:
    struct Params {
        std::uint16_t qid = 0;
        std::uint16_t entries = 0;  ///< as told to the controller; more than depth
        std::uint16_t depth = 0;    ///< commands in flight at most, below NVMF_CID_SLOTS
        std::uint16_t cntlid = 0;   ///< I/O queues: the controller to join
    };

    /// Connect a queue; Fabrics Connect is still to come. See Connection for errors;
    /// EINVAL when the controller's receive queue is smaller than the depth.
    static Result<std::unique_ptr<Queue>> open(const Endpoint& endpoint, const Params& params,
                                               Patience patience = {});

    // -- submission ------------------------------------------------------------------

    /// Whether acquire() may be called.
    [[nodiscard]] bool has_room() const noexcept { return has_slot() && has_send_room(); }
    [[nodiscard]] bool has_send_room() const noexcept { return posted_ - sent_ < send_wrs_; }

    /// Its SQE; post() sets the command identifier.
    [[nodiscard]] nvmf_sqe& sqe(std::uint16_t slot) noexcept { return capsules()[slot]; }
    /// Chain the slot's capsule, with @p data of @p lkey behind the SQE if not empty, for
    /// the next ring().
    void post(std::uint16_t slot, std::uint64_t cookie, std::span<const std::byte> data = {},
              std::uint32_t lkey = 0);
    /// Send what was chained with one doorbell. A failure breaks the queue.
    void ring();

    // -- completion ------------------------------------------------------------------

    /// Poll the CQ once, without sleeping. The result is valid until the next call.
    KDP_POLLS std::span<const Finished> reap();
    /// Whether the last reap() left nothing behind.
    [[nodiscard]] bool drained() const noexcept { return drained_; }

    // -- one command at a time (queue_command.cpp) -----------------------------------

    [[nodiscard]] std::span<std::byte> page() const noexcept override
    {
        return {scratch_.data(), scratch_.size()};
    }
    Result<nvmf_response> run(const nvmf_sqe& sqe, fabrics::PageData data, Patience patience,
                              const char* what) override;
    [[nodiscard]] pollfd watch() const noexcept override
    {
        return {connection_->cm_fd(), POLLIN, 0};
    }
    Status check_events() override { return connection_->check_events(); }
    [[nodiscard]] const std::string& peer() const noexcept override { return connection_->peer(); }

    // -- parts -----------------------------------------------------------------------

    [[nodiscard]] Connection& connection() noexcept { return *connection_; }
    [[nodiscard]] std::uint16_t qid() const noexcept { return qid_; }
    /// Whether in-capsule data can be sent from where they lie.
    [[nodiscard]] bool takes_in_capsule_data() const noexcept
    {
        return connection_->send_sges() >= 2;
    }

    std::uint64_t doorbells = 0;
    std::uint64_t work_requests = 0;
    std::uint64_t cqes = 0;

private:
    struct Command {
        ibv_send_wr wr{};
        ibv_sge sge[2]{};
        std::uint64_t result = 0;
        std::uint16_t status = 0;
        std::uint8_t generation = 0;
        bool wants_send = false;  // finishes only after its SEND completed
        bool responded = false;
    };

    static constexpr unsigned poll_batch = 32;

    Queue(std::unique_ptr<Connection> connection, const Params& params);
    Status allocate();
    [[gnu::noinline]] Status post_receives();
    void end_connection() override { connection_->kill(); }
    [[gnu::noinline]] void on_completion(const ibv_wc& wc);
    void on_send(const ibv_wc& wc);
    void on_receive(const ibv_wc& wc);
    void finish_if_done(std::uint16_t slot);
    void sleep_for_news(Patience& patience, const char* what);
    [[nodiscard]] nvmf_sqe* capsules() const noexcept
    {
        return reinterpret_cast<nvmf_sqe*>(memory_.data());
    }
    [[nodiscard]] std::byte* response(std::size_t index) const noexcept
    {
        return memory_.data() + commands_.size() * NVMF_SQE_SIZE + index * NVMF_CQE_SIZE;
    }

    std::uint16_t qid_;
    std::unique_ptr<Connection> connection_;
    Pages memory_;  // capsules, then responses: nobody else's business
    Mr memory_mr_;
    Pages scratch_;  // open to the controller
    Mr scratch_mr_;

    std::vector<Command> commands_;  // by slot
    ibv_send_wr* chain_first_ = nullptr;
    ibv_send_wr* chain_last_ = nullptr;
    unsigned chained_ = 0;

    // the send queue, counted in work requests since the beginning
    unsigned send_wrs_;
    std::uint64_t posted_ = 0;
    std::uint64_t sent_ = 0;    // done, as far as signalled completions tell
    unsigned unsignalled_ = 0;  // posted since the last signalled one
    bool inline_capsules_ = false;

    // the receive queue: buffers, and those of them that wait to be posted again
    std::vector<ibv_recv_wr> receive_wrs_;
    std::vector<ibv_sge> receive_sges_;
    std::vector<std::uint32_t> consumed_;
    unsigned repost_at_;

    std::array<ibv_wc, poll_batch> wcs_;
    std::array<Finished, poll_batch> finished_;
    unsigned finished_count_ = 0;
    bool drained_ = false;
};

}  // namespace kdp::verbs
