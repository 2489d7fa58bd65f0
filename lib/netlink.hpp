// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One request over generic netlink: exact errno, and the kernel's own sentence.
///
/// libnl maps errno values to fewer NLE_* codes and drops the extended ack; this reads both
/// from the NLMSG_ERROR message itself.
#pragma once

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <kdp/result.hpp>

namespace kdp {

struct NlSocketDelete {
    void operator()(nl_sock* socket) const noexcept { nl_socket_free(socket); }
};
struct NlMessageDelete {
    void operator()(nl_msg* message) const noexcept { nlmsg_free(message); }
};
using NlMessage = std::unique_ptr<nl_msg, NlMessageDelete>;

class GenericNetlink {
public:
    /// Find @p family. @p timeout_ms bounds each receive. Generic netlink runs a request
    /// inside sendmsg(2), so the time that a command takes is bounded by its handler.
    /// ENOENT: no such family.
    [[nodiscard]] static Result<GenericNetlink> open(const char* family, int timeout_ms);

    /// A message to fill with attributes. @p flags: NLM_F_DUMP or 0.
    [[nodiscard]] NlMessage message(std::uint8_t command, std::uint8_t version, int flags) const;

    /// Takes the attributes of one answer (index: attribute type).
    using OnAnswer = std::function<Status(nlattr** attributes)>;

    /// Send and collect until ACK or DONE. @p max_attribute: highest type that is parsed.
    /// An error's text is the extended ack, or empty when the kernel gave none.
    /// EINTR from a dump that changed underneath: ask again.
    [[nodiscard]] Status transact(NlMessage message, int max_attribute, const OnAnswer& on_answer);

    /// Join @p group of @p family (the one that this was opened for), for receive().
    [[nodiscard]] Status subscribe(const char* family, const char* group);

    /// Wait for messages of the groups joined, and hand each on: one datagram, which may be
    /// several or none. ENOBUFS: the kernel dropped some. EINTR: a signal came.
    [[nodiscard]] Status receive(int max_attribute, const OnAnswer& on_message);

private:
    GenericNetlink() = default;
    std::unique_ptr<nl_sock, NlSocketDelete> socket_;
    int family_ = 0;
};

/// The sentence of an extended ack in a whole NLMSG_ERROR or NLMSG_DONE message; empty
/// without one. @p header is trusted for nothing but having nlmsg_len readable bytes.
[[nodiscard]] std::string extended_ack_text(const nlmsghdr* header);

}  // namespace kdp
