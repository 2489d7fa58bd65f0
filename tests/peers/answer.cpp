// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Answers: data, response and invalidation on the wire, and each fault of theirs.
#include <algorithm>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "handler.hpp"

namespace kdp::peer {

namespace {

constexpr std::byte foreign_byte{0xee};
constexpr std::uint16_t generation_bit = 0x1000;
constexpr std::uint32_t never_a_key = 0x40000000;

/// The key of the slot's registration before this one: hosts count up the low byte.
std::uint32_t stale_key(std::uint32_t key)
{
    return (key & ~0xffU) | ((key - 1) & 0xff);
}

/// Another command in flight than @p cid, with memory of its own if @p with_key.
const std::pair<const std::uint16_t, std::optional<Remote>>* other_than(
    const Connection& connection, std::uint16_t cid, bool with_key)
{
    for (const auto& entry : connection.in_flight) {
        if (entry.first != cid && (!with_key || entry.second))
            return &entry;
    }
    return nullptr;
}

std::string_view place_name(Which which)
{
    for (const auto& word : which_words(Verb::touch_write)) {
        if (word.which == which)
            return word.name;
    }
    return "?";
}

}  // namespace

/// An action on a connection. Does not return from `exit`.
void Handler::play(const ConnectionPtr& connection, const Action& action)
{
    switch (action.verb) {
        case Verb::send: {
            const BufferPtr buffer = connection->buffer(action.number);
            std::fill(buffer->bytes.begin(), buffer->bytes.end(), std::byte{});
            connection->send(buffer, action.number, std::nullopt, {});
            break;
        }
        case Verb::disconnect:
            connection->disconnect();
            break;
        case Verb::disconnect_all:
            disconnect_all_();
            break;
        case Verb::exit:
            _exit(0);
        default:
            break;
    }
}

void Handler::on_connection(const ConnectionPtr& connection, Event event)
{
    Occurrence seen;

    seen.event = event;
    seen.queue = connection->qid();
    for (const auto& action : rules_.due(seen))
        play(connection, action);
}

/// Whether the command ends by the connection's end instead of an answer.
bool Handler::hang_up(const CommandPtr& command)
{
    const ConnectionPtr& connection = command->connection;

    for (const auto& action : command->actions) {
        if (action.verb == Verb::send)
            play(connection, action);
        if (action.verb != Verb::disconnect && action.verb != Verb::disconnect_all &&
            action.verb != Verb::exit)
            continue;
        if (!command->has(Verb::half_data) || !command->remote || command->answer.data.empty()) {
            play(connection, action);
            return true;
        }
        const std::size_t half = command->answer.data.size() / 2;
        const BufferPtr buffer = connection->buffer(half);
        std::memcpy(buffer->bytes.data(), command->answer.data.data(), half);
        connection->rdma_write(
            buffer, half, command->remote->address, command->remote->key,
            [this, connection, action](ibv_wc_status) { play(connection, action); });
        return true;
    }
    return false;
}

void Handler::answer(const CommandPtr& command)
{
    if (const Action* delay = command->action(Verb::delay)) {
        const auto ms = static_cast<std::uint32_t>(delay->number);
        std::erase_if(command->actions, [](auto& action) { return action.verb == Verb::delay; });
        return loop_.after(ms, [this, command] { answer(command); });
    }
    if (hang_up(command))
        return;
    if (!answer_when_possible(command))
        command->connection->waiting.emplace_back(
            [this, command] { return answer_when_possible(command); });
}

bool Handler::answer_when_possible(const CommandPtr& command)
{
    Connection& connection = *command->connection;
    const Action* cid_fault = command->action(Verb::cid);
    const Action* key_fault = command->action(Verb::key);
    const auto& remote = command->remote;
    std::uint16_t cid = command->cid();
    std::optional<std::uint32_t> key;

    if (remote && remote->invalidate)
        key = remote->key;
    if (cid_fault && cid_fault->which == Which::other) {
        const auto* other = other_than(connection, cid, false);
        if (!other)
            return false;
        cid = other->first;
    } else if (cid_fault) {
        cid = cid_fault->which == Which::generation ? cid ^ generation_bit
                                                    : static_cast<std::uint16_t>(cid_fault->number);
    }
    if (key_fault) {
        const std::uint32_t own = remote ? remote->key : 0;
        switch (key_fault->which) {
            case Which::other: {
                const auto* other = other_than(connection, command->cid(), true);
                if (!other)
                    return false;
                key = other->second->key;
                break;
            }
            case Which::nothing:
                key.reset();
                break;
            case Which::own:
                key = own;
                break;
            case Which::stale:
                key = stale_key(own);
                break;
            case Which::wrong_key:
                key = own ^ never_a_key;
                break;
            default:
                key = static_cast<std::uint32_t>(key_fault->number);
                break;
        }
    }
    for (const auto& action : command->actions) {
        auto& data = command->answer.data;
        if (action.verb == Verb::patch && action.number + action.patch.size() <= data.size())
            std::memcpy(data.data() + action.number, action.patch.data(), action.patch.size());
        if ((action.verb == Verb::touch_write || action.verb == Verb::touch_read) &&
            !action.after_ms)
            touch(command, action);
    }
    if (!command->has(Verb::data_late) && !command->has(Verb::no_data))
        send_data(command);
    connection.in_flight.erase(command->cid());
    if (!command->has(Verb::no_response))
        send_responses(command, cid, key);
    send_after(command);
    return true;
}

void Handler::send_data(const CommandPtr& command)
{
    const auto& data = command->answer.data;
    std::size_t bytes = data.size();

    if (!command->remote || data.empty())
        return;
    if (bytes > command->remote->length) {
        command->answer.status = NVMF_SC_INVALID_FIELD | NVMF_SC_DNR;
        return;
    }
    if (command->has(Verb::half_data))
        bytes /= 2;
    const BufferPtr buffer = command->connection->buffer(bytes);
    std::memcpy(buffer->bytes.data(), data.data(), bytes);
    command->connection->rdma_write(buffer, bytes, command->remote->address, command->remote->key,
                                    {});
}

void Handler::send_responses(const CommandPtr& command, std::uint16_t cid,
                             std::optional<std::uint32_t> key)
{
    Connection& connection = *command->connection;
    const Action* status = command->action(Verb::status);
    const Action* result = command->action(Verb::result);
    const Action* length = command->action(Verb::length);
    const Action* again = command->action(Verb::repeat);
    const Action* again_inv = command->action(Verb::repeat_invalidation);
    const std::size_t bytes = length ? length->number : sizeof(nvmf_cqe);
    nvmf_cqe cqe{};

    cqe.result = nvmf_htole64(result ? result->number : command->answer.result);
    cqe.cid = nvmf_htole16(cid);
    const auto field = static_cast<std::uint16_t>(status ? status->number : command->answer.status);
    cqe.status = nvmf_htole16(static_cast<std::uint16_t>(field << 1));
    const BufferPtr buffer = connection.buffer(std::max(bytes, sizeof(cqe)));
    std::fill(buffer->bytes.begin(), buffer->bytes.end(), std::byte{});
    std::memcpy(buffer->bytes.data(), &cqe, sizeof(cqe));
    const Connection::Done note = [this, qid = connection.qid(), key](ibv_wc_status status) {
        if (status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR)
            journal_.note("response-failed", {{"queue", std::to_string(qid)},
                                              {"key", fmt::format("{:#x}", key.value_or(0))},
                                              {"outcome", ibv_wc_status_str(status)}});
    };
    connection.send(buffer, bytes, key, note);
    for (std::uint64_t i = 0; again && i < again->number; i++)
        connection.send(buffer, bytes, std::nullopt, note);
    for (std::uint64_t i = 0; again_inv && i < again_inv->number; i++)
        connection.send(buffer, bytes, key, note);
}

/// What comes when the host believes that the command is over.
void Handler::send_after(const CommandPtr& command)
{
    if (const Action* late = command->action(Verb::data_late))
        loop_.after(static_cast<std::uint32_t>(late->number),
                    [this, command] { send_data(command); });
    for (const auto& action : command->actions) {
        if (action.after_ms)
            loop_.after(*action.after_ms, [this, command, action] { touch(command, action); });
    }
}

void Handler::touch(const CommandPtr& command, const Action& action)
{
    const ConnectionPtr& connection = command->connection;
    const bool writes = action.verb == Verb::touch_write;
    const std::string what =
        fmt::format("{} {}", writes ? "write" : "fetch", place_name(action.which));
    const std::string line = std::to_string(action.line);
    if (!command->remote) {
        journal_.note("touched", {{"line", line}, {"what", what}, {"outcome", "no key"}});
        return;
    }
    std::uint64_t address = command->remote->address;
    std::uint32_t key = command->remote->key;

    if (action.which == Which::past)
        address += command->remote->length;
    else if (action.which == Which::before)
        address -= action.bytes;
    else if (action.which == Which::wrong_key)
        key ^= never_a_key;
    else if (action.which == Which::stale)
        key = stale_key(key);
    const BufferPtr buffer = connection->buffer(action.bytes);
    std::fill(buffer->bytes.begin(), buffer->bytes.end(), foreign_byte);
    const Connection::Done note = [this, line, what, key](ibv_wc_status status) {
        journal_.note("touched", {{"line", line},
                                  {"what", what},
                                  {"key", fmt::format("{:#x}", key)},
                                  {"outcome", ibv_wc_status_str(status)}});
    };
    if (writes)
        connection->rdma_write(buffer, action.bytes, address, key, note);
    else
        connection->rdma_read(buffer, action.bytes, address, key, note);
}

}  // namespace kdp::peer
