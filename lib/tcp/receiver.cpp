// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "receiver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

#include <fmt/format.h>

#include "crc32c.hpp"

namespace kdp::tcp {

/// Every PDU that a host receives has a header of 24 bytes, and C2HTermReq no digest. Whoever
/// sends that is about to close: its data are not waited for.
std::size_t Receiver::shortest_head() const noexcept
{
    return sizeof(nvmf_tcp_data) + (params_.hdgst ? NVMF_TCP_DIGEST_SIZE : 0);
}

std::span<const std::byte> Receiver::header() const noexcept
{
    return {head_.data(), std::min<std::size_t>(head_have_, sizeof(nvmf_tcp_data))};
}

/// How many bytes to ask for, beyond the data of the PDU at hand.
std::size_t Receiver::wanted(bool data_expected) const noexcept
{
    if (!data_expected)
        return buffer_.size();
    switch (phase_) {
        case Phase::common:
            return shortest_head() - head_have_;
        case Phase::head:
            return layout_.head - head_have_;
        case Phase::data:
            return layout_.tail + shortest_head();
        case Phase::tail:
            return layout_.tail - buffered() + shortest_head();
    }
    return buffer_.size();
}

Receiver::Outcome Receiver::receive(int fd, bool data_expected)
{
    if (breached_)
        return Outcome::breach;
    // a tail that came in part is all that can be there
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
    end_ -= begin_;
    begin_ = 0;

    const std::span<std::byte> direct =
        phase_ == Phase::data ? data_.subspan(data_have_) : std::span<std::byte>();
    const std::size_t room = std::min(wanted(data_expected), buffer_.size() - end_);
    iovec parts[] = {{direct.data(), direct.size()}, {buffer_.data() + end_, room}};
    msghdr message{};
    message.msg_iov = direct.empty() ? parts + 1 : parts;
    message.msg_iovlen = direct.empty() ? 1 : 2;

    ssize_t got;
    do {
        got = recvmsg(fd, &message, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        error_ = errno;
        return error_ == EAGAIN || error_ == EWOULDBLOCK ? Outcome::drained : Outcome::failed;
    }
    if (got == 0)
        return Outcome::ended;
    const auto bytes = static_cast<std::size_t>(got);
    const std::size_t placed = std::min(bytes, direct.size());
    data_have_ += placed;
    end_ += bytes - placed;

    while (take())
        continue;
    if (breached_)
        return Outcome::breach;
    return bytes < direct.size() + room ? Outcome::drained : Outcome::more;
}

/// The next step with what is there; false when there is too little for it, or after a breach.
bool Receiver::take()
{
    switch (phase_) {
        case Phase::common:
            return take_common();
        case Phase::head:
            return take_head();
        case Phase::data:
            return take_data();
        case Phase::tail:
            return take_tail();
    }
    return false;
}

bool Receiver::take_common()
{
    const std::size_t part = std::min(buffered(), NVMF_TCP_HDR_SIZE - head_have_);

    std::memcpy(head_.data() + head_have_, buffer_.data() + begin_, part);
    begin_ += part;
    head_have_ += part;
    if (head_have_ < NVMF_TCP_HDR_SIZE)
        return false;
    if (nvmf_tcp_hdr_parse(head_.data(), &params_, &layout_, &breach_.fault)) {
        breach_.text = fmt::format("a PDU of type {} that is not as it should be (byte {})",
                                   static_cast<unsigned>(head_[0]), breach_.fault.fei);
        breached_ = true;
        return false;
    }
    phase_ = Phase::head;
    return true;
}

bool Receiver::take_head()
{
    const std::size_t part = std::min<std::size_t>(buffered(), layout_.head - head_have_);

    std::memcpy(head_.data() + head_have_, buffer_.data() + begin_, part);
    begin_ += part;
    head_have_ += part;
    if (head_have_ < layout_.head)
        return false;
    if (params_.hdgst && layout_.type != NVMF_TCP_C2H_TERM) {
        const std::uint32_t came = nvmf_tcp_get_digest(&head_[layout_.hlen]);
        if (came != crc32c({head_.data(), layout_.hlen})) {
            breach_ = {{NVMF_TCP_FES_HDGST, came}, "a header that its digest does not fit"};
            breached_ = true;
            return false;
        }
    }
    data_ = {};
    data_have_ = 0;
    if (!handler_.on_header(layout_, head_.data(), data_, breach_)) {
        breached_ = true;
        return false;
    }
    if (!layout_.data)
        return end_pdu(true);
    phase_ = Phase::data;
    return true;
}

bool Receiver::take_data()
{
    const std::size_t part = std::min(buffered(), data_.size() - data_have_);

    if (part)
        std::memcpy(data_.data() + data_have_, buffer_.data() + begin_, part);
    begin_ += part;
    data_have_ += part;
    if (data_have_ < data_.size())
        return false;
    if (!layout_.tail)
        return end_pdu(true);
    phase_ = Phase::tail;
    return true;
}

bool Receiver::take_tail()
{
    if (buffered() < layout_.tail)
        return false;
    const std::uint32_t came = nvmf_tcp_get_digest(buffer_.data() + begin_);
    begin_ += layout_.tail;
    return end_pdu(came == crc32c(data_));
}

bool Receiver::end_pdu(bool intact)
{
    phase_ = Phase::common;
    breached_ = !handler_.on_end(layout_, head_.data(), intact, breach_);
    if (!breached_)
        head_have_ = 0;
    return !breached_;
}

}  // namespace kdp::tcp
