// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the controller sends, and what a Queue makes of it.
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

#include <fmt/format.h>

#include "queue.hpp"
#include "socket.hpp"

namespace kdp::tcp {
namespace {

/// What is thrown away before the connection is closed, so that the kernel does not reset it
/// under our terminate request.
constexpr std::size_t discard_at_most = 1 << 20;

bool refuse(Breach& breach, std::uint16_t fes, std::size_t fei, std::string text)
{
    breach.fault = {fes, static_cast<std::uint32_t>(fei)};
    breach.text = std::move(text);
    return false;
}

}  // namespace

/// Rule H3: the command that @p cid is of, if it is in flight.
Queue::Command* Queue::find(std::uint16_t cid, std::size_t cid_at, const char* what, Breach& breach)
{
    const std::uint16_t tag = nvmf_cid_slot(cid);

    if (slots_.in_flight(tag) && !commands_[tag].responded && commands_[tag].cid == cid)
        return &commands_[tag];
    refuse(breach, NVMF_TCP_FES_HEADER, cid_at,
           fmt::format("{} for a command that is not in flight, identifier {}", what, cid));
    return nullptr;
}

bool Queue::on_header(const nvmf_tcp_layout& layout, const std::byte* header,
                      std::span<std::byte>& data, Breach& breach)
{
    switch (layout.type) {
        case NVMF_TCP_C2H_DATA:
            return on_data_header(layout, header, data, breach);
        case NVMF_TCP_R2T:
            return on_request_to_transfer(layout, header, breach);
        case NVMF_TCP_RSP:
            return on_response(header, breach);
        default:  // the last of the four that a Receiver lets through: C2HTermReq
            nvmf_tcp_term_parse(header, &termination_);
            terminated_ = true;
            data = std::span(term_data_).first(layout.data);
            return true;
    }
}

bool Queue::on_end(const nvmf_tcp_layout& layout, const std::byte* header, bool intact,
                   Breach& breach)
{
    return layout.type != NVMF_TCP_C2H_DATA || on_data_end(layout, header, intact, breach);
}

bool Queue::on_data_header(const nvmf_tcp_layout& layout, const std::byte* header,
                           std::span<std::byte>& data, Breach& breach)
{
    nvmf_tcp_transfer transfer;

    if (nvmf_tcp_transfer_parse(header, &layout, &transfer, &breach.fault)) {
        breach.text = fmt::format("C2HData of {} bytes with {}", transfer.length, layout.data);
        return false;
    }
    Command* command = find(transfer.cid, offsetof(nvmf_tcp_data, cid), "data", breach);
    if (!command)
        return false;
    const auto size = static_cast<std::uint32_t>(command->data.size());
    if (command->way != Way::to_host || command->pdu.queued ||
        !nvmf_tcp_transfer_inside(&transfer, size))
        return refuse(breach, NVMF_TCP_FES_RANGE, 0,
                      fmt::format("{} bytes at {} of {} that a command reads", transfer.length,
                                  transfer.offset, command->way == Way::to_host ? size : 0));
    // they come in order (3.3.2), so that none can be missing and none come twice
    if (transfer.offset != command->moved)
        return refuse(
            breach, NVMF_TCP_FES_HEADER, offsetof(nvmf_tcp_data, offset),
            fmt::format("data at {} where those at {} were next", transfer.offset, command->moved));
    data = command->data.subspan(transfer.offset, transfer.length);
    return true;
}

bool Queue::on_data_end(const nvmf_tcp_layout& layout, const std::byte* header, bool intact,
                        Breach& breach)
{
    nvmf_tcp_transfer transfer;
    nvmf_tcp_fault none;

    nvmf_tcp_transfer_parse(header, &layout, &transfer, &none);
    Command& command = commands_[nvmf_cid_slot(transfer.cid)];  // which on_data_header() has found
    command.moved += layout.data;
    command.damaged |= !intact;
    if (layout.flags & NVMF_TCP_F_SUCCESS)
        return complete(command, 0, NVMF_SC_SUCCESS, breach);
    return true;
}

bool Queue::on_request_to_transfer(const nvmf_tcp_layout& layout, const std::byte* header,
                                   Breach& breach)
{
    nvmf_tcp_transfer transfer;

    if (nvmf_tcp_transfer_parse(header, &layout, &transfer, &breach.fault)) {
        breach.text = "an R2T of no bytes";
        return false;
    }
    Command* command = find(transfer.cid, offsetof(nvmf_tcp_r2t, cid), "an R2T", breach);
    if (!command)
        return false;
    // either an R2T is being answered, or the capsule is not even out
    if (command->pdu.queued)
        return refuse(breach, NVMF_TCP_FES_LIMIT, 0, "more R2Ts at a time than one");
    // all of it together is no more than there is: what was asked for twice, or lies in the
    // capsule, would leave something else unsent
    const auto size = static_cast<std::uint32_t>(command->data.size());
    if (command->way != Way::to_controller || !nvmf_tcp_transfer_inside(&transfer, size) ||
        transfer.length > size - command->moved)
        return refuse(breach, NVMF_TCP_FES_RANGE, 0,
                      fmt::format("an R2T for {} bytes at {} of {}, {} of which it has",
                                  transfer.length, transfer.offset,
                                  command->way == Way::to_controller ? size : 0, command->moved));
    command->moved += transfer.length;
    command->ttag = transfer.ttag;
    command->r2t_offset = transfer.offset;
    command->r2t_left = transfer.length;
    queue_data(nvmf_cid_slot(transfer.cid));
    return true;
}

bool Queue::on_response(const std::byte* header, Breach& breach)
{
    nvmf_response response;

    // cannot fail: a CapsuleResp has room for a CQE
    nvmf_response_parse(header + sizeof(nvmf_tcp_hdr), NVMF_CQE_SIZE, &response);
    Command* command = find(response.cid, offsetof(nvmf_tcp_rsp, cqe.cid), "a response", breach);
    return command && complete(*command, response.result, response.status, breach);
}

bool Queue::complete(Command& command, std::uint64_t result, std::uint16_t status, Breach& breach)
{
    const bool success = (status & NVMF_SC_MASK) == NVMF_SC_SUCCESS;

    if (success && (command.moved != command.data.size() || command.r2t_left))
        return refuse(breach, NVMF_TCP_FES_SEQUENCE, 0,
                      fmt::format("success for a command of {} bytes after {} of them",
                                  command.data.size(), command.moved));
    command.responded = true;
    command.result = result;
    // what came is not what was sent; it may be tried again (3.5)
    command.status = success && command.damaged ? NVMF_SC_TRANSIENT_TRANSPORT : status;
    // while its data are being sent the memory is not the caller's yet
    if (!command.pdu.queued)
        finish(command.pdu.slot);
    return true;
}

void Queue::on_outcome(Receiver::Outcome outcome)
{
    if (terminated_) {
        break_with(Error{EPROTO, fmt::format("{} ended the connection: {} (C2HTermReq {}, {})",
                                             peer_, nvmf_tcp_fes_text(termination_.fes),
                                             termination_.fes, termination_.fei)});
        return;
    }
    switch (outcome) {
        case Receiver::Outcome::drained:
        case Receiver::Outcome::more:
            return;
        case Receiver::Outcome::ended:
            break_with(Error{ENOTCONN, peer_ + " closed the connection"});
            return;
        case Receiver::Outcome::failed:
            break_with(
                lost_connection(receiver_->error(), "the connection to " + peer_ + " broke"));
            return;
        case Receiver::Outcome::breach:
            terminate();
            break_with(Error{EPROTO, peer_ + " sent " + receiver_->breach().text});
            return;
    }
}

/// Tell the peer what it did wrong (3.6.2.4), unless it would come in the middle of a PDU.
void Queue::terminate()
{
    if (sender_.in_middle())
        return;
    const std::span<const std::byte> header = receiver_->header();
    nvmf_tcp_term term;
    nvmf_tcp_h2c_term_fill(&term, &receiver_->breach().fault,
                           static_cast<std::uint32_t>(header.size()));
    iovec parts[] = {{&term, sizeof(term)}, {const_cast<std::byte*>(header.data()), header.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
    shutdown(fd_.get(), SHUT_WR);
    std::array<std::byte, 4096> nowhere;
    for (std::size_t n = 0; n < discard_at_most; n += nowhere.size())
        if (recv(fd_.get(), nowhere.data(), nowhere.size(), MSG_DONTWAIT) <= 0)
            break;
}

}  // namespace kdp::tcp
