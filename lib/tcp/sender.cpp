// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sender.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

#include "crc32c.hpp"

namespace kdp::tcp {
namespace {

/// Parts of PDUs in one call; far below UIO_MAXIOV.
constexpr std::size_t parts_at_most = 192;

/// Gathers parts, without the first @p skip bytes of all.
class Gather {
public:
    explicit Gather(std::size_t skip) : skip_(skip) {}

    [[nodiscard]] bool has_room() const noexcept { return count_ + 3 <= parts_.size(); }
    void add(std::span<const std::byte> part) noexcept
    {
        const std::size_t skipped = std::min(skip_, part.size());

        skip_ -= skipped;
        part = part.subspan(skipped);
        if (!part.empty())
            parts_[count_++] = {const_cast<std::byte*>(part.data()), part.size()};
    }
    [[nodiscard]] msghdr message() noexcept
    {
        msghdr message{};
        message.msg_iov = parts_.data();
        message.msg_iovlen = count_;
        return message;
    }

private:
    std::size_t skip_;
    std::array<iovec, parts_at_most> parts_;
    std::size_t count_ = 0;
};

}  // namespace

void OutgoingPdu::finish(std::span<const std::byte> bytes, const nvmf_tcp_params& params)
{
    nvmf_tcp_hdr hdr;

    std::memcpy(&hdr, head.data(), sizeof(hdr));
    data = bytes;
    head_bytes = hdr.hlen;
    if (params.hdgst) {
        nvmf_tcp_put_digest(&head[hdr.hlen], crc32c({head.data(), hdr.hlen}));
        head_bytes += NVMF_TCP_DIGEST_SIZE;
    }
    tail_bytes = 0;
    if (bytes.empty())
        return;
    std::fill(head.begin() + static_cast<std::ptrdiff_t>(head_bytes), head.begin() + hdr.pdo,
              std::byte{0});
    head_bytes = hdr.pdo;
    if (params.ddgst) {
        nvmf_tcp_put_digest(tail.data(), crc32c(bytes));
        tail_bytes = NVMF_TCP_DIGEST_SIZE;
    }
}

void Sender::push(OutgoingPdu& pdu) noexcept
{
    // a slot has one PDU, and there is a place for each slot
    ring_[(head_ + count_++) % ring_.size()] = &pdu;
    pdu.queued = true;
}

/// Bytes that the socket took, or a negative errno value.
long Sender::send_once(int fd)
{
    Gather gather(sent_);

    for (std::size_t i = 0; i < count_ && gather.has_room(); i++) {
        const OutgoingPdu& pdu = *ring_[(head_ + i) % ring_.size()];
        gather.add({pdu.head.data(), pdu.head_bytes});
        gather.add(pdu.data);
        gather.add({pdu.tail.data(), pdu.tail_bytes});
    }
    const msghdr message = gather.message();
    for (;;) {
        calls++;
        const ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            return sent;
        if (errno != EINTR)
            return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    }
}

}  // namespace kdp::tcp
