// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Commands: what they are, and what the target does about them.
#include "handler.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <nvmf/command.h>

namespace kdp::peer {

namespace {

constexpr std::size_t largest_transfer = std::size_t{16} << 20;

Event fabrics_event(const nvmf_sqe& sqe)
{
    switch (nvmf_le32toh(sqe.nsid) & 0xff) {
        case NVMF_FCTYPE_CONNECT:
            return Event::connect;
        case NVMF_FCTYPE_PROPERTY_GET:
            return Event::property_get;
        case NVMF_FCTYPE_PROPERTY_SET:
            return Event::property_set;
        default:
            return Event::command;
    }
}

Event admin_event(const nvmf_sqe& sqe)
{
    switch (sqe.opcode) {
        case NVMF_ADM_IDENTIFY:
            return Event::identify;
        case NVMF_ADM_SET_FEATURES:
            return Event::set_features;
        case NVMF_ADM_GET_FEATURES:
            return Event::get_features;
        case NVMF_ADM_GET_LOG_PAGE:
            return Event::get_log_page;
        case NVMF_ADM_KEEP_ALIVE:
            return Event::keep_alive;
        case NVMF_ADM_ASYNC_EVENT:
            return Event::async_event;
        default:
            return Event::admin;
    }
}

Event io_event(const nvmf_sqe& sqe)
{
    switch (sqe.opcode) {
        case NVMF_IO_READ:
            return Event::read;
        case NVMF_IO_WRITE:
            return Event::write;
        case NVMF_IO_FLUSH:
            return Event::flush;
        case 0x08:
            return Event::write_zeroes;
        default:
            return Event::io;
    }
}

Occurrence occurrence_of(const nvmf_sqe& sqe, std::uint16_t qid)
{
    Occurrence seen;

    seen.queue = qid;
    seen.cid = nvmf_le16toh(sqe.cid);
    seen.opcode = sqe.opcode;
    if (sqe.opcode == NVMF_OPC_FABRICS) {
        seen.event = fabrics_event(sqe);
        if (seen.event == Event::property_get || seen.event == Event::property_set)
            seen.property = nvmf_le32toh(sqe.cdw11);
        return seen;
    }
    seen.nsid = nvmf_le32toh(sqe.nsid);
    seen.event = qid ? io_event(sqe) : admin_event(sqe);
    if (seen.event == Event::identify)
        seen.cns = nvmf_le32toh(sqe.cdw10) & 0xff;
    if (seen.event == Event::get_log_page)
        seen.lid = nvmf_le32toh(sqe.cdw10) & 0xff;
    if (seen.event == Event::read || seen.event == Event::write)
        seen.lba = nvmf_le32toh(sqe.cdw10) | std::uint64_t{nvmf_le32toh(sqe.cdw11)} << 32;
    return seen;
}

std::optional<Remote> remote_of(const nvmf_sqe& sqe)
{
    const std::uint8_t type = sqe.dptr.keyed.type;

    if ((type != NVMF_SGL_KEYED && type != NVMF_SGL_KEYED_INV) || !nvmf_sgl_keyed_length(&sqe.dptr))
        return std::nullopt;
    return Remote{nvmf_le64toh(sqe.dptr.keyed.addr), nvmf_sgl_keyed_length(&sqe.dptr),
                  nvmf_sgl_keyed_rkey(&sqe.dptr), type == NVMF_SGL_KEYED_INV};
}

}  // namespace

const Action* Handler::Command::action(Verb verb) const
{
    const auto found = std::find_if(actions.begin(), actions.end(),
                                    [&](auto& action) { return action.verb == verb; });

    return found == actions.end() ? nullptr : &*found;
}

/// Whether the script ends a command that would be kept.
bool Handler::ends(const Command& command)
{
    static constexpr Verb ends[] = {Verb::result, Verb::status, Verb::disconnect,
                                    Verb::disconnect_all, Verb::exit};

    return std::any_of(std::begin(ends), std::end(ends),
                       [&](Verb verb) { return command.has(verb); });
}

void Handler::on_capsule(const ConnectionPtr& connection, std::span<const std::byte> capsule)
{
    const auto command = std::make_shared<Command>();

    if (capsule.size() < sizeof(command->sqe)) {
        journal_.note("short-capsule", {{"bytes", std::to_string(capsule.size())}});
        return connection->disconnect();
    }
    std::memcpy(&command->sqe, capsule.data(), sizeof(command->sqe));
    const nvmf_sqe& sqe = command->sqe;
    command->connection = connection;
    command->remote = remote_of(sqe);
    connection->in_flight[command->cid()] = command->remote;
    // somebody may have waited for company
    auto& waiting = connection->waiting;
    for (std::size_t n = waiting.size(); n; n--) {
        auto attempt = std::move(waiting.front());
        waiting.pop_front();
        if (!attempt())
            waiting.push_back(std::move(attempt));
    }

    if (trace_)
        journal_.note("command", {{"queue", std::to_string(connection->qid())},
                                  {"opcode", fmt::format("{:#04x}", sqe.opcode)},
                                  {"cid", fmt::format("{:#06x}", command->cid())},
                                  {"nsid", std::to_string(nvmf_le32toh(sqe.nsid))},
                                  {"cdw10", fmt::format("{:#x}", nvmf_le32toh(sqe.cdw10))},
                                  {"cdw11", fmt::format("{:#x}", nvmf_le32toh(sqe.cdw11))}});
    command->actions = rules_.due(occurrence_of(sqe, connection->qid()));

    const std::size_t wanted = Subsystem::bytes_from_host(sqe);
    if (!wanted) {
        execute(command, {});
    } else if (!command->remote) {
        const std::span<const std::byte> behind = capsule.subspan(sizeof(sqe));
        const std::uint64_t offset = nvmf_le64toh(sqe.dptr.data.offset);
        if (offset > behind.size() || wanted > behind.size() - offset) {
            command->answer = {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
            return answer(command);
        }
        execute(command, behind.subspan(offset, wanted));
    } else if (wanted > largest_transfer) {
        command->answer = {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
        answer(command);
    } else {
        const BufferPtr buffer = connection->buffer(wanted);
        connection->rdma_read(buffer, wanted, command->remote->address, command->remote->key,
                              [this, command, buffer, wanted](ibv_wc_status status) {
                                  if (status == IBV_WC_SUCCESS)
                                      execute(command, std::span(buffer->bytes).first(wanted));
                              });
    }
}

void Handler::execute(const CommandPtr& command, std::span<const std::byte> data)
{
    Connection& connection = *command->connection;
    const nvmf_sqe& sqe = command->sqe;
    const Event event = occurrence_of(sqe, connection.qid()).event;

    if (event == Event::connect) {
        command->answer = subsystem_.connect(sqe, data, connection.qid(), connection.controller);
    } else if (!connection.controller) {
        command->answer = {NVMF_SC_CONNECT_INVALID_PARAM | NVMF_SC_DNR};
    } else if (event == Event::property_get || event == Event::property_set) {
        command->answer = Subsystem::property(sqe, *connection.controller);
    } else if (sqe.opcode == NVMF_OPC_FABRICS) {
        command->answer = {NVMF_SC_INVALID_OPCODE | NVMF_SC_DNR};
    } else if (!connection.qid()) {
        auto done = subsystem_.admin(sqe, *connection.controller);
        if (!done && !ends(*command)) {
            hang_up(command);  // what is to be sent
            return;            // parked
        }
        command->answer = std::move(done).value_or(Answer{});
    } else {
        command->answer = subsystem_.io(sqe, data, command->remote ? command->remote->length : 0);
    }
    answer(command);
}

}  // namespace kdp::peer
