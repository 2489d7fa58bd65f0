// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "listener.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <netdb.h>

#include <fmt/format.h>

#include <nvmf/rdma.h>

namespace kdp::peer {

namespace {

constexpr int backlog = 64;
constexpr std::size_t largest_capsule = std::size_t{1} << 16;
constexpr std::byte garbage_byte{0xa5};
constexpr std::size_t short_bytes = 2;
constexpr std::size_t reject_bytes = 148;  // all that the InfiniBand CM carries

std::runtime_error cm_error(const std::string& what)
{
    return std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

const Action* find(const std::vector<Action>& actions, Verb verb)
{
    const auto found = std::find_if(actions.begin(), actions.end(),
                                    [&](auto& action) { return action.verb == verb; });

    return found == actions.end() ? nullptr : &*found;
}

/// NVMF_RDMA_REJ_*, or 0 for a request that is all right.
std::uint16_t check_request(const std::vector<std::byte>& data, nvmf_rdma_cm_req& request,
                            const Config& config)
{
    if (data.size() < sizeof(request))
        return NVMF_RDMA_REJ_INVALID_LEN;
    std::memcpy(&request, data.data(), sizeof(request));
    if (nvmf_le16toh(request.recfmt) != NVMF_RDMA_RECFMT)
        return NVMF_RDMA_REJ_INVALID_RECFMT;
    if (nvmf_le16toh(request.qid) > *config.queues)
        return NVMF_RDMA_REJ_INVALID_QID;
    if (!request.hrqsize)
        return NVMF_RDMA_REJ_INVALID_HRQSIZE;
    if (!request.hsqsize)
        return NVMF_RDMA_REJ_INVALID_HSQSIZE;
    return 0;
}

}  // namespace

Listener::Listener(Loop& loop, Journal& journal, Rules& rules, Handler& handler,
                   const Config& config)
    : loop_(loop),
      journal_(journal),
      rules_(rules),
      handler_(handler),
      config_(config),
      channel_(rdma_create_event_channel())
{
    if (!channel_)
        throw cm_error("no RDMA connection manager (is rdma_ucm loaded?)");
    fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
    handler_.set_disconnect_all([this] {
        for (const auto& [id, connection] : connections_)
            connection->disconnect();
    });
    loop_.watch(channel_->fd, [this] { on_events(); });
}

Listener::~Listener()
{
    loop_.unwatch(channel_->fd);
    for (const auto& [id, connection] : connections_)
        connection->disconnect();
    connections_.clear();
    for (rdma_cm_id* id : ignored_)
        rdma_destroy_id(id);
    if (id_)
        rdma_destroy_id(id_);
    rdma_destroy_event_channel(channel_);
}

void Listener::listen(const std::string& address, const std::string& port)
{
    addrinfo hints{};
    addrinfo* found = nullptr;

    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    if (const int rc = getaddrinfo(address.c_str(), port.c_str(), &hints, &found))
        throw std::runtime_error(fmt::format("{} port {}: {}", address, port, gai_strerror(rc)));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
    if (rdma_create_id(channel_, &id_, nullptr, RDMA_PS_TCP))
        throw cm_error("rdma_create_id");
    if (rdma_bind_addr(id_, found->ai_addr) || rdma_listen(id_, backlog))
        throw cm_error(fmt::format("cannot listen at {} port {}", address, port));
    const char* transport = "any";
    if (id_->verbs)
        transport =
            id_->verbs->device->transport_type == IBV_TRANSPORT_IWARP ? "iWARP" : "InfiniBand";
    journal_.note("listening", {{"address", address},
                                {"port", std::to_string(ntohs(rdma_get_src_port(id_)))},
                                {"transport", transport}});
}

void Listener::on_events()
{
    rdma_cm_event* event = nullptr;

    while (rdma_get_cm_event(channel_, &event) == 0) {
        rdma_cm_id* const id = event->id;
        const rdma_cm_event_type type = event->event;
        Request request{id, {}, event->param.conn};
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST && event->param.conn.private_data) {
            const auto* data = static_cast<const std::byte*>(event->param.conn.private_data);
            request.data.assign(data, data + event->param.conn.private_data_len);
        }
        rdma_ack_cm_event(event);
        const auto found = connections_.find(id);
        switch (type) {
            case RDMA_CM_EVENT_CONNECT_REQUEST:
                on_request(request);
                break;
            case RDMA_CM_EVENT_ESTABLISHED:
                if (found == connections_.end())
                    break;
                found->second->established();
                handler_.on_connection(ConnectionPtr(found->second), Event::established);
                break;
            case RDMA_CM_EVENT_TIMEWAIT_EXIT:
            case RDMA_CM_EVENT_ADDR_CHANGE:
                break;
            default:  // all the others are ends
                forget(id);
                break;
        }
    }
}

void Listener::forget(rdma_cm_id* id)
{
    const auto found = connections_.find(id);

    if (found == connections_.end())
        return;
    const ConnectionPtr connection = found->second;
    // the end may overtake what was completed before it
    connection->poll();
    journal_.note("ended", {{"queue", std::to_string(connection->qid())}});
    connection->disconnect();
    connection->waiting.clear();
    connections_.erase(id);
    // what is flushed now still tells how it went, and whoever is about to use the
    // connection holds it a little longer
    loop_.after(200, [connection] {});
}

void Listener::refuse(rdma_cm_id* id, std::uint16_t status)
{
    nvmf_rdma_cm_rej data{};

    data.recfmt = nvmf_htole16(NVMF_RDMA_RECFMT);
    data.status = nvmf_htole16(status);
    rdma_reject(id, &data, sizeof(data));
    rdma_destroy_id(id);
}

void Listener::reject(rdma_cm_id* id, const Action& action)
{
    std::array<std::byte, reject_bytes> data{};

    switch (action.which) {
        case Which::nothing:
            rdma_reject(id, nullptr, 0);
            break;
        case Which::garbage:
            data.fill(garbage_byte);
            rdma_reject(id, data.data(), data.size());
            break;
        case Which::shortened:
            rdma_reject(id, data.data(), short_bytes);
            break;
        default:
            return refuse(id, static_cast<std::uint16_t>(action.number));
    }
    rdma_destroy_id(id);
}

void Listener::on_request(const Request& request)
{
    nvmf_rdma_cm_req wanted{};
    const std::uint16_t bad = check_request(request.data, wanted, config_);
    const std::uint16_t qid = nvmf_le16toh(wanted.qid);
    Occurrence seen;

    seen.event = Event::cm_request;
    seen.queue = qid;
    journal_.note("request", {{"queue", std::to_string(qid)},
                              {"hrqsize", std::to_string(nvmf_le16toh(wanted.hrqsize))},
                              {"hsqsize", std::to_string(nvmf_le16toh(wanted.hsqsize))}});
    const auto actions = rules_.due(seen);
    if (const Action* action = find(actions, Verb::reject))
        return reject(request.id, *action);
    if (find(actions, Verb::ignore))
        return ignored_.push_back(request.id);
    if (find(actions, Verb::drop)) {
        rdma_destroy_id(request.id);
        return;
    }
    if (bad) {
        journal_.note("refused", {{"reason", nvmf_rdma_rej_text(bad)}});
        return refuse(request.id, bad);
    }
    try {
        accept(request, qid, actions);
    } catch (const std::runtime_error& error) {
        journal_.note("no-resources", {{"reason", error.what()}});
    }
}

void Listener::accept(const Request& request, std::uint16_t qid, const std::vector<Action>& actions)
{
    const auto receives = static_cast<unsigned>(*config_.receives);
    const std::size_t capsule =
        std::clamp<std::size_t>(*config_.ioccsz * 16, 4096 + NVMF_SQE_SIZE, largest_capsule);
    const auto connection = std::make_shared<Connection>(loop_, request.id, qid, receives, capsule);
    connection->set_handler(
        [this, weak = std::weak_ptr(connection)](std::span<const std::byte> data) {
            if (const auto self = weak.lock(); self && !self->ended())
                handler_.on_capsule(self, data);
        });
    connections_[request.id] = connection;

    nvmf_rdma_cm_rep reply{};
    const Action* recfmt = find(actions, Verb::recfmt);
    const Action* crqsize = find(actions, Verb::crqsize);
    reply.recfmt = nvmf_htole16(static_cast<std::uint16_t>(recfmt ? recfmt->number : 0));
    reply.crqsize = nvmf_htole16(static_cast<std::uint16_t>(crqsize ? crqsize->number : receives));
    rdma_conn_param param{};
    param.private_data = &reply;
    param.private_data_len = sizeof(reply);
    if (const Action* other = find(actions, Verb::private_data)) {
        if (other->which == Which::nothing)
            param.private_data_len = 0;
        else if (other->which == Which::garbage)
            std::memset(&reply, static_cast<int>(garbage_byte), sizeof(reply));
        else
            param.private_data_len = static_cast<std::uint8_t>(
                other->which == Which::shortened ? short_bytes : other->number);
        if (!param.private_data_len)
            param.private_data = nullptr;
    }
    ibv_device_attr attr{};
    ibv_query_device(request.id->verbs, &attr);
    param.initiator_depth = static_cast<std::uint8_t>(
        std::min<int>(request.param.initiator_depth, attr.max_qp_init_rd_atom));
    param.responder_resources = static_cast<std::uint8_t>(
        std::min<int>(request.param.responder_resources, attr.max_qp_rd_atom));
    param.rnr_retry_count = 7;
    if (rdma_accept(request.id, &param)) {
        journal_.note("accept-failed", {{"reason", std::strerror(errno)}});
        return forget(request.id);
    }
    journal_.note("accepted", {{"queue", std::to_string(qid)}});
    handler_.on_connection(connection, Event::accepted);
}

}  // namespace kdp::peer
