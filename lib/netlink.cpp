// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "netlink.hpp"

#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace kdp {
namespace {

/// What the callbacks of one transaction share.
struct Exchange {
    int max_attribute = 0;
    const GenericNetlink::OnAnswer* on_answer = nullptr;
    bool done = false;
    Error error;
};

int on_valid(nl_msg* message, void* argument)
{
    auto& exchange = *static_cast<Exchange*>(argument);
    std::vector<nlattr*> attributes(exchange.max_attribute + 1);
    // genlmsg_parse changes nothing in the message, whatever its prototype says
    if (genlmsg_parse(nlmsg_hdr(message), 0, attributes.data(), exchange.max_attribute, nullptr) <
        0) {
        exchange.error = Error{EPROTO, "the answer cannot be parsed"};
        return NL_SKIP;
    }
    const Status status = (*exchange.on_answer)(attributes.data());
    if (!status && exchange.error.code == 0)
        exchange.error = status.error();
    return NL_OK;
}

int on_ack(nl_msg*, void* argument)
{
    static_cast<Exchange*>(argument)->done = true;
    return NL_STOP;
}

/// NLMSG_DONE ends a dump and carries an error code of its own.
int on_finish(nl_msg* message, void* argument)
{
    auto& exchange = *static_cast<Exchange*>(argument);
    const nlmsghdr* header = nlmsg_hdr(message);
    int code = 0;
    if (header->nlmsg_len >= NLMSG_HDRLEN + sizeof(code))
        std::memcpy(&code, nlmsg_data(header), sizeof(code));
    if (code < 0 && exchange.error.code == 0)
        exchange.error = Error{-code, extended_ack_text(header)};
    exchange.done = true;
    return NL_STOP;
}

int on_error(sockaddr_nl*, nlmsgerr* err, void* argument)
{
    auto& exchange = *static_cast<Exchange*>(argument);
    const auto* header =
        reinterpret_cast<const nlmsghdr*>(reinterpret_cast<const char*>(err) - NLMSG_HDRLEN);
    exchange.error = Error{-err->error, extended_ack_text(header)};
    exchange.done = true;
    return NL_STOP;
}

/// libnl's own failures, where no kernel errno exists.
int errno_of_libnl(int code)
{
    switch (-code) {
        case NLE_NOMEM:
            return ENOMEM;
        case NLE_AGAIN:
            return ETIMEDOUT;
        case NLE_INTR:
        case NLE_DUMP_INTR:
            return EINTR;
        case NLE_OBJ_NOTFOUND:
            return ENOENT;
        case NLE_PERM:
        case NLE_NOACCESS:
            return EPERM;
        case NLE_AF_NOSUPPORT:
            return EAFNOSUPPORT;
        case NLE_OPNOTSUPP:
            return EOPNOTSUPP;
        default:
            return EIO;
    }
}

/// A multicast message has no number that this side has chosen.
int accept_any_sequence(nl_msg*, void*)
{
    return NL_OK;
}

struct NlCallbackDelete {
    void operator()(nl_cb* callbacks) const noexcept { nl_cb_put(callbacks); }
};

}  // namespace

std::string extended_ack_text(const nlmsghdr* header)
{
    if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
        return "";
    std::size_t at = NLMSG_HDRLEN;
    if (header->nlmsg_type == NLMSG_ERROR) {
        // the error code, then the request: its header alone when capped
        if (header->nlmsg_len < NLMSG_HDRLEN + sizeof(nlmsgerr))
            return "";
        nlmsgerr err;
        std::memcpy(&err, reinterpret_cast<const char*>(header) + NLMSG_HDRLEN, sizeof(err));
        at += sizeof(err);
        if (!(header->nlmsg_flags & NLM_F_CAPPED) && err.msg.nlmsg_len > sizeof(nlmsghdr))
            at += NLMSG_ALIGN(err.msg.nlmsg_len - sizeof(nlmsghdr));
    } else {
        at += NLMSG_ALIGN(sizeof(int));
    }
    if (at >= header->nlmsg_len)
        return "";
    auto* first =
        reinterpret_cast<nlattr*>(const_cast<char*>(reinterpret_cast<const char*>(header)) + at);
    const nlattr* text =
        nla_find(first, static_cast<int>(header->nlmsg_len - at), NLMSGERR_ATTR_MSG);
    if (!text)
        return "";
    const auto* chars = static_cast<const char*>(nla_data(text));
    return std::string(chars, strnlen(chars, static_cast<std::size_t>(nla_len(text))));
}

Result<GenericNetlink> GenericNetlink::open(const char* family, int timeout_ms)
{
    GenericNetlink netlink;
    netlink.socket_.reset(nl_socket_alloc());
    if (!netlink.socket_)
        return error_from_errno(ENOMEM, "netlink socket");
    nl_sock* socket = netlink.socket_.get();
    int rc = genl_connect(socket);
    if (rc < 0)
        return Error{errno_of_libnl(rc), std::string("netlink socket: ") + nl_geterror(rc)};

    const int fd = nl_socket_get_fd(socket);
    const int on = 1;
    const timeval timeout{timeout_ms / 1000, suseconds_t{timeout_ms % 1000} * 1000};
    // without the extended ack the errno still says what happened
    (void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0)
        return error_from_errno(errno, "netlink socket: receive timeout");
    nl_socket_enable_msg_peek(socket);

    rc = genl_ctrl_resolve(socket, family);
    if (rc < 0)
        return Error{errno_of_libnl(rc),
                     std::string("netlink family ") + family + ": " + nl_geterror(rc)};
    netlink.family_ = rc;
    return netlink;
}

NlMessage GenericNetlink::message(std::uint8_t command, std::uint8_t version, int flags) const
{
    NlMessage message(nlmsg_alloc());
    if (message && !genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family_, 0,
                                NLM_F_REQUEST | flags, command, version))
        message.reset();
    return message;
}

Status GenericNetlink::transact(NlMessage message, int max_attribute, const OnAnswer& on_answer)
{
    const std::unique_ptr<nl_cb, NlCallbackDelete> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks || !message)
        return error_from_errno(ENOMEM, "netlink message");
    Exchange exchange{max_attribute, &on_answer, false, {}};
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_ack, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &exchange);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &exchange);

    int rc = nl_send_auto(socket_.get(), message.get());
    while (rc >= 0 && !exchange.done)
        rc = nl_recvmsgs(socket_.get(), callbacks.get());
    if (exchange.error.code != 0)
        return exchange.error;
    if (rc < 0)
        return Error{errno_of_libnl(rc), rc == -NLE_AGAIN
                                             ? std::string("the kernel does not answer")
                                             : std::string("netlink: ") + nl_geterror(rc)};
    return ok();
}

Status GenericNetlink::subscribe(const char* family, const char* group)
{
    nl_sock* socket = socket_.get();
    int rc = genl_ctrl_resolve_grp(socket, family, group);
    if (rc >= 0)
        rc = nl_socket_add_memberships(socket, rc, 0);
    if (rc < 0)
        return Error{errno_of_libnl(rc),
                     std::string("netlink group ") + group + ": " + nl_geterror(rc)};
    // whoever waits for events waits as long as it takes
    const timeval forever{};
    if (setsockopt(nl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever)) <
        0)
        return error_from_errno(errno, "netlink socket: receive timeout");
    return ok();
}

Status GenericNetlink::receive(int max_attribute, const OnAnswer& on_message)
{
    const std::unique_ptr<nl_cb, NlCallbackDelete> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks)
        return error_from_errno(ENOMEM, "netlink callbacks");
    Exchange exchange{max_attribute, &on_message, false, {}};
    nl_cb_set(callbacks.get(), NL_CB_SEQ_CHECK, NL_CB_CUSTOM, accept_any_sequence, nullptr);
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &exchange);

    // libnl goes on after a signal; the caller wants to know of it
    pollfd readable{nl_socket_get_fd(socket_.get()), POLLIN, 0};
    if (poll(&readable, 1, -1) < 0)
        return error_from_errno(errno, "netlink");
    const int rc = nl_recvmsgs(socket_.get(), callbacks.get());
    if (exchange.error.code != 0)
        return exchange.error;
    if (rc == -NLE_NOMEM)
        return Error{ENOBUFS, "messages of the kernel were lost"};
    if (rc < 0)
        return Error{errno_of_libnl(rc), std::string("netlink: ") + nl_geterror(rc)};
    return ok();
}

}  // namespace kdp
