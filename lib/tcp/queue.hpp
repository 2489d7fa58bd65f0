// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One NVMe queue, submission and completion, over one TCP connection: command slots,
/// capsules and data out, responses and data in, every field of every PDU checked.
///
/// Life of a command (NVMe TCP Transport 1.0, 3.3):
///
///     acquire() ─ fill the SQE ─ post() ─ ring() ─► CapsuleCmd [+ in-capsule data] ──► controller
///     write, not in-capsule   ◄── R2T ── any number, one at a time
///                             ── H2CData, MAXH2CDATA at most ──►
///     read                    ◄── C2HData, in order, right into the caller's memory
///     finished, slot free     ◄── CapsuleResp, or LAST_PDU and SUCCESS in C2HData
///
/// What the peer does against the rules breaks the queue: H2CTermReq tells it why, as far as
/// it can be sent at once, and the connection is closed.
///
/// Not thread safe; one thread owns a queue at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nvmf/capsule.h>
#include <nvmf/tcp.h>
#include <kdp/data_path.hpp>

#include "fabrics/endpoint.hpp"
#include "fabrics/slot_queue.hpp"
#include "receiver.hpp"
#include "sender.hpp"
#include "unique_fd.hpp"

namespace kdp::tcp {

using fabrics::Patience;

/// A command that is over.
struct Finished {
    std::uint64_t cookie;
    std::uint64_t result;
    std::uint16_t status;  ///< NVMF_SC_*
};

enum class Way : std::uint8_t { none, to_controller, to_host };

class Queue final : public fabrics::SlotQueue, private PduHandler {
public:
    struct Params {
        std::uint16_t depth = 0;  ///< commands in flight at most, below NVMF_CID_SLOTS
        bool hdgst = false;       ///< header digests
        bool ddgst = false;       ///< data digests
    };

    /// Connect, and agree with the controller by ICReq and ICResp; Fabrics Connect is still to
    /// come. Errors: those of connect_socket(); EPROTO, EPROTONOSUPPORT, EOPNOTSUPP a peer that
    /// speaks something else or does without a digest asked for; ENOTCONN.
    static Result<std::unique_ptr<Queue>> open(const fabrics::Endpoint& endpoint,
                                               const Params& params, Patience patience = {});
    /// The same on a stream socket that is connected to @p peer.
    static Result<std::unique_ptr<Queue>> open(UniqueFd fd, std::string peer, const Params& params,
                                               Patience patience = {});

    // -- submission ------------------------------------------------------------------

    /// Its SQE; post() sets the command identifier and the data pointer.
    [[nodiscard]] nvmf_sqe& sqe(std::uint16_t slot) noexcept;
    /// Queue the slot's capsule for the next ring(). @p data are the command's, 4 GiB - 1 at
    /// most; they go in the capsule if they go to the controller and in_capsule() bytes hold them.
    void post(std::uint16_t slot, std::uint64_t cookie, Way way = Way::none,
              std::span<std::byte> data = {});
    /// Send what was queued, in one call of sendmsg(2) if the socket has room. A failure breaks
    /// the queue.
    void ring();

    /// Bytes of data in the capsule of an I/O command at most; at first none. Those of Fabrics
    /// and admin commands, by run(), may have NVMF_TCP_ADMIN_IN_CAPSULE.
    void set_in_capsule(std::uint32_t bytes) noexcept { in_capsule_ = bytes; }

    // -- completion ------------------------------------------------------------------

    /// Receive what is there, without sleeping, and go on sending. The result is valid until the
    /// next call; nothing that finished before the queue broke is lost.
    std::span<const Finished> reap();
    /// Whether the last reap() left nothing behind, so that there is reason to sleep.
    [[nodiscard]] bool drained() const noexcept { return drained_; }
    /// What to sleep on until reap() has something to do.
    [[nodiscard]] pollfd readiness() const noexcept;

    // -- one command at a time (queue_command.cpp) -----------------------------------

    [[nodiscard]] std::span<std::byte> page() const noexcept override
    {
        return {page_->data(), page_->size()};
    }
    Result<nvmf_response> run(const nvmf_sqe& sqe, fabrics::PageData data, Patience patience,
                              const char* what) override;
    [[nodiscard]] pollfd watch() const noexcept override;
    Status check_events() override;
    [[nodiscard]] const std::string& peer() const noexcept override { return peer_; }

    // -- parts -----------------------------------------------------------------------

    [[nodiscard]] const nvmf_tcp_params& agreed() const noexcept { return agreed_; }

    std::uint64_t doorbells = 0;  ///< calls of ring() that had something to send

private:
    struct Command {
        OutgoingPdu pdu;  // CapsuleCmd, then H2CData
        std::span<std::byte> data;
        std::uint64_t result = 0;
        std::uint32_t moved = 0;       // bytes that were received, or sent or asked for
        std::uint32_t r2t_offset = 0;  // of an R2T: what is still to be put into H2CData
        std::uint32_t r2t_left = 0;
        std::uint16_t ttag = 0;
        std::uint16_t cid = 0;
        std::uint16_t status = 0;
        Way way = Way::none;
        bool responded = false;
        bool damaged = false;  // data came that their digest does not fit
    };

    Queue(UniqueFd fd, std::string peer, const Params& params);
    Status initialize(const Params& params, Patience patience);
    Status exchange(std::span<const std::byte> request, std::span<std::byte> answer,
                    Patience patience);
    void end_connection() override;
    void send();
    void on_sent(OutgoingPdu& pdu);
    void queue_data(std::uint16_t slot);
    void finish(std::uint16_t slot);
    [[nodiscard]] bool expects_data() const noexcept { return reads_ != 0; }

    // queue_receive.cpp
    bool on_header(const nvmf_tcp_layout& layout, const std::byte* header,
                   std::span<std::byte>& data, Breach& breach) override;
    bool on_end(const nvmf_tcp_layout& layout, const std::byte* header, bool intact,
                Breach& breach) override;
    Command* find(std::uint16_t cid, std::size_t cid_at, const char* what, Breach& breach);
    bool on_data_header(const nvmf_tcp_layout& layout, const std::byte* header,
                        std::span<std::byte>& data, Breach& breach);
    bool on_data_end(const nvmf_tcp_layout& layout, const std::byte* header, bool intact,
                     Breach& breach);
    bool on_request_to_transfer(const nvmf_tcp_layout& layout, const std::byte* header,
                                Breach& breach);
    bool on_response(const std::byte* header, Breach& breach);
    bool complete(Command& command, std::uint64_t result, std::uint16_t status, Breach& breach);
    void on_outcome(Receiver::Outcome outcome);
    void terminate();

    UniqueFd fd_;
    std::string peer_;
    nvmf_tcp_params agreed_{};
    std::uint32_t in_capsule_ = 0;

    std::vector<Command> commands_;  // by slot
    std::unique_ptr<std::array<std::byte, 4096>> page_;
    std::array<std::byte, NVMF_TCP_TERM_DATA_MAX> term_data_{};
    nvmf_tcp_fault termination_{};  // what C2HTermReq said
    bool terminated_ = false;

    Sender sender_;
    std::unique_ptr<Receiver> receiver_;
    unsigned posted_ = 0;  // since the last ring()
    unsigned reads_ = 0;   // in flight, with data to come
    bool drained_ = false;
    std::vector<Finished> finished_;
    std::size_t handed_ = 0;  // of these were returned by reap()
};

}  // namespace kdp::tcp
