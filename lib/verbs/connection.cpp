// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <nvmf/capsule.h>
#include <nvmf/rdma.h>

namespace kdp::verbs {

using namespace std::chrono_literals;

namespace {

constexpr auto resolve_time = 5000ms;
constexpr auto connect_time = 10000ms;
constexpr auto disconnect_time = 1000ms;

// InfiniBand CM, table 106: reasons of a REJ
constexpr int rej_invalid_service_id = 8;
constexpr int rej_consumer_defined = 28;

// ibv_ack_cq_events() takes a mutex: one call for many
constexpr unsigned ack_batch = 256;

}  // namespace

/// A CM event, copied so that it can be acknowledged at once.
struct Connection::Event {
    rdma_cm_event_type type;
    int status;
    std::array<std::byte, 64> data;  // more than any NVMe-oF message has
    std::size_t data_bytes;
};

Result<std::unique_ptr<Connection>> Connection::create(const Endpoint& endpoint, Depth depth,
                                                       Patience patience)
{
    std::unique_ptr<Connection> connection(new Connection(endpoint.text));

    if (Status s = connection->resolve(endpoint, patience); !s)
        return s.error();
    if (Status s = connection->make_qp(depth); !s)
        return s.error();
    return connection;
}

Connection::~Connection()
{
    disconnect();
    if (cq_)
        ibv_ack_cq_events(cq_.get(), unacked_cq_events_);  // or its destruction would wait for them
}

Status Connection::resolve(const Endpoint& endpoint, Patience patience)
{
    const auto failed = [&](int code) {
        switch (code) {
            case ENODEV:
                return Error{ENODEV, "no RDMA device of this machine leads to " + peer_ +
                                         "; see `rdma link show`"};
            case EADDRNOTAVAIL:
                return Error{ENODEV, "the interface that leads to " + peer_ +
                                         " has no usable RDMA address; see `rdma link show`"};
            case ETIMEDOUT:
                return Error{EHOSTUNREACH,
                             "nobody has the address of " + peer_ + ", or it does not answer"};
            default:
                return error_from_errno(code, "no way to " + peer_);
        }
    };

    channel_.reset(rdma_create_event_channel());
    if (!channel_) {
        const int code = errno;
        if (code == ENOENT || code == ENODEV)
            return Error{ENODEV,
                         "this machine has no RDMA device, or its module rdma_ucm is not loaded; "
                         "see `rdma link show`"};
        return error_from_errno(code, "cannot use the RDMA connection manager");
    }
    if (Status s = fabrics::set_nonblocking(channel_->fd); !s)
        return s;
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP))
        return failed(errno);
    id_.reset(id);

    // the kernel reads the address only; librdmacm's prototype is older than const
    sockaddr_storage address = endpoint.address;
    if (rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address),
                          static_cast<int>(resolve_time.count())))
        return failed(errno);
    Result<Event> event =
        wait_event(patience.for_part(resolve_time + 1s), "resolve the address of");
    if (!event)
        return event.error();
    if (event->type != RDMA_CM_EVENT_ADDR_RESOLVED)
        return failed(event->status ? std::abs(event->status) : EHOSTUNREACH);

    if (rdma_resolve_route(id, static_cast<int>(resolve_time.count())))
        return failed(errno);
    event = wait_event(patience.for_part(resolve_time + 1s), "find a route to");
    if (!event)
        return event.error();
    if (event->type != RDMA_CM_EVENT_ROUTE_RESOLVED)
        return failed(event->status ? std::abs(event->status) : EHOSTUNREACH);
    return ok();
}

Status Connection::make_qp(Depth depth)
{
    const std::string on = "RDMA device " + device_name() + ": ";

    pd_.reset(ibv_alloc_pd(id_->verbs));
    if (!pd_)
        return error_from_errno(errno, on + "cannot allocate a protection domain");
    comp_channel_.reset(ibv_create_comp_channel(id_->verbs));
    if (!comp_channel_)
        return error_from_errno(errno, on + "cannot make a completion channel");
    if (Status s = fabrics::set_nonblocking(comp_channel_->fd); !s)
        return s;
    // a flushed work request completes even when it was unsignalled: room for every one
    cq_.reset(ibv_create_cq(id_->verbs, static_cast<int>(depth.send + depth.receive), nullptr,
                            comp_channel_.get(), 0));
    if (!cq_)
        return error_from_errno(errno, on + "cannot make a completion queue of " +
                                           std::to_string(depth.send + depth.receive) + " entries");

    // capsule and in-capsule data are two SGEs; without them, or without inline
    // capsules, the path works too, only with more steps
    constexpr struct {
        std::uint32_t sges, inline_bytes;
    } wishes[] = {{2, NVMF_SQE_SIZE}, {2, 0}, {1, 0}};
    int code = 0;
    for (const auto& wish : wishes) {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq_.get();
        attr.qp_type = IBV_QPT_RC;
        attr.cap.max_send_wr = depth.send;
        attr.cap.max_recv_wr = depth.receive;
        attr.cap.max_send_sge = wish.sges;
        attr.cap.max_recv_sge = 1;
        attr.cap.max_inline_data = wish.inline_bytes;
        if (rdma_create_qp(id_.get(), pd_.get(), &attr) == 0) {
            qp_.reset(id_.get());
            inline_bytes_ = attr.cap.max_inline_data;
            send_sges_ = attr.cap.max_send_sge;
            return ok();
        }
        code = errno;
    }
    return error_from_errno(code, on + "cannot make a queue pair of " + std::to_string(depth.send) +
                                      " send and " + std::to_string(depth.receive) +
                                      " receive work requests; a smaller depth may do");
}

Result<unsigned> Connection::connect(std::uint16_t qid, std::uint16_t entries, std::uint16_t cntlid,
                                     Patience patience)
{
    nvmf_rdma_cm_req request;
    rdma_conn_param param{};

    nvmf_rdma_req_fill(&request, qid, entries, cntlid);
    param.private_data = &request;
    param.private_data_len = sizeof(request);
    param.responder_resources = RDMA_MAX_RESP_RES;  // the controller READs our write data
    param.initiator_depth = 0;                      // and we never READ
    param.flow_control = 1;
    param.retry_count = 7;
    param.rnr_retry_count = 7;  // rule H11: without end
    if (rdma_connect(id_.get(), &param))
        return error_from_errno(errno, "cannot connect to " + peer_);
    Result<Event> event = wait_event(patience.for_part(connect_time), "connect to");
    if (!event)
        return event.error();
    if (event->type != RDMA_CM_EVENT_ESTABLISHED)
        return refused(*event);
    connected_ = true;
    const int crqsize = nvmf_rdma_rep_parse(event->data.data(), event->data_bytes);
    if (crqsize < 0)
        return Error{EPROTO, peer_ +
                                 " accepted the connection but is no NVMe-oF controller: "
                                 "its private data are not of format 0"};
    return static_cast<unsigned>(crqsize);
}

Error Connection::refused(const Event& event) const
{
    switch (event.type) {
        case RDMA_CM_EVENT_REJECTED:
            if (event.status == rej_consumer_defined) {
                const int why = nvmf_rdma_rej_parse(event.data.data(), event.data_bytes);
                return Error{why == NVMF_RDMA_REJ_NO_RESOURCES ? EBUSY : ECONNREFUSED,
                             peer_ + " refused the connection: " + nvmf_rdma_rej_text(why)};
            }
            if (event.status == rej_invalid_service_id || event.status == -ECONNREFUSED)
                return Error{ECONNREFUSED, "nobody listens for NVMe over RDMA at " + peer_ +
                                               "; check the port and that the target is up"};
            return Error{ECONNREFUSED, peer_ + " rejected the connection, CM reason " +
                                           std::to_string(event.status)};
        case RDMA_CM_EVENT_UNREACHABLE:
            return Error{EHOSTUNREACH, peer_ + " did not answer the connection request"};
        default:
            return error_from_errno(
                event.status < 0 ? -event.status : ECONNABORTED,
                "connecting to " + peer_ + " ended with " + rdma_event_str(event.type));
    }
}

void Connection::disconnect()
{
    {
        const std::lock_guard lock(end_mutex_);
        if (!connected_)
            return;
        connected_ = false;
        // a connection that the peer has ended still wants our answer, but has no more to say
        if (rdma_disconnect(id_.get()) || ended_)
            return;
    }
    const Patience patience = Patience::in(disconnect_time);
    for (;;) {
        Result<Event> event = wait_event(patience, "disconnect from");
        if (!event || event->type == RDMA_CM_EVENT_DISCONNECTED ||
            event->type == RDMA_CM_EVENT_DEVICE_REMOVAL ||
            event->type == RDMA_CM_EVENT_TIMEWAIT_EXIT)
            return;
    }
}

void Connection::kill()
{
    const std::lock_guard lock(end_mutex_);

    if (connected_)
        rdma_disconnect(id_.get());
    connected_ = false;
    qp_.reset();
}

void Connection::hang_up()
{
    const std::lock_guard lock(end_mutex_);

    if (connected_)
        rdma_disconnect(id_.get());
    connected_ = false;
}

std::optional<Connection::Event> Connection::next_event()
{
    rdma_cm_event* event = nullptr;

    if (rdma_get_cm_event(channel_.get(), &event))
        return std::nullopt;
    Event copy{};
    copy.type = event->event;
    copy.status = event->status;
    if (event->param.conn.private_data) {
        copy.data_bytes =
            std::min<std::size_t>(event->param.conn.private_data_len, copy.data.size());
        std::memcpy(copy.data.data(), event->param.conn.private_data, copy.data_bytes);
    }
    rdma_ack_cm_event(event);  // not yet acknowledged events would hold up rdma_destroy_id()
    return copy;
}

Result<Connection::Event> Connection::wait_event(Patience patience, const char* what)
{
    for (;;) {
        if (std::optional<Event> event = next_event())
            return *event;
        pollfd fd{channel_->fd, POLLIN, 0};
        if (!patience.sleep({&fd, 1}))
            return Error{ETIMEDOUT, std::string("could not ") + what + " " + peer_ + " in time"};
    }
}

Status Connection::check_events()
{
    while (std::optional<Event> event = next_event()) {
        switch (event->type) {
            case RDMA_CM_EVENT_DISCONNECTED:
            case RDMA_CM_EVENT_TIMEWAIT_EXIT:
                ended_ = true;
                return Error{ENOTCONN, peer_ + " closed the connection"};
            case RDMA_CM_EVENT_DEVICE_REMOVAL:
                return Error{ENODEV, "RDMA device " + device_name() + " was removed"};
            case RDMA_CM_EVENT_ADDR_CHANGE:
                break;  // of bonding; the QP goes on, or its errors will tell
            default:
                return Error{ENOTCONN, std::string("the connection to ") + peer_ + " ended with " +
                                           rdma_event_str(event->type)};
        }
    }
    return ok();
}

Status Connection::arm()
{
    const int rc = ibv_req_notify_cq(cq_.get(), 0);

    if (rc)
        return error_from_errno(rc > 0 ? rc : errno, "cannot arm the completion queue");
    return ok();
}

void Connection::take_cq_events()
{
    ibv_cq* cq;
    void* context;

    while (ibv_get_cq_event(comp_channel_.get(), &cq, &context) == 0)
        unacked_cq_events_++;
    if (unacked_cq_events_ >= ack_batch) {
        ibv_ack_cq_events(cq_.get(), unacked_cq_events_);
        unacked_cq_events_ = 0;
    }
}

std::string Connection::device_name() const
{
    return id_ && id_->verbs ? ibv_get_device_name(id_->verbs->device) : "";
}

}  // namespace kdp::verbs
