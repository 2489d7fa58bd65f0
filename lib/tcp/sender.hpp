// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// PDUs on their way out: gathered by sendmsg(2) from where they lie, many in one call. Beyond
/// the kernel's copy into the socket there is none of the data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nvmf/tcp.h>

namespace kdp::tcp {

/// One PDU. Its memory and that of its data stay as they are until it is out.
struct OutgoingPdu {
    /// Header, digest and padding: at most what the coarsest alignment makes of CapsuleCmd.
    alignas(8) std::array<std::byte, 128> head;
    std::size_t head_bytes = 0;
    std::span<const std::byte> data;
    std::array<std::byte, NVMF_TCP_DIGEST_SIZE> tail;
    std::size_t tail_bytes = 0;
    std::uint16_t slot = 0;  ///< whose it is
    bool queued = false;

    /// Behind the filled-in header: its digest, the padding, the @p bytes and their digest.
    void finish(std::span<const std::byte> bytes, const nvmf_tcp_params& params);
    [[nodiscard]] std::size_t size() const noexcept
    {
        return head_bytes + data.size() + tail_bytes;
    }
};

class Sender {
public:
    /// Room for @p pdus at a time.
    explicit Sender(std::size_t pdus) : ring_(pdus) {}

    void push(OutgoingPdu& pdu) noexcept;
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// Part of a PDU is out, and the rest is not: nothing else can be sent.
    [[nodiscard]] bool in_middle() const noexcept { return sent_ != 0; }

    /// Send what there is, as far as the socket takes it without sleeping. Calls @p done for
    /// each PDU that is out, which may push another one. Returns 0 or an errno value; EAGAIN is
    /// none: empty() tells whether something is left.
    template <typename Done>
    int flush(int fd, Done&& done)
    {
        while (!empty()) {
            const long sent = send_once(fd);
            if (sent < 0)
                return sent == -EAGAIN ? 0 : static_cast<int>(-sent);
            for (sent_ += static_cast<std::size_t>(sent); !empty() && sent_ >= front().size();) {
                OutgoingPdu& pdu = front();
                sent_ -= pdu.size();
                pdu.queued = false;
                head_ = (head_ + 1) % ring_.size();
                count_--;
                done(pdu);
            }
        }
        return 0;
    }

    std::uint64_t calls = 0;  ///< of sendmsg(2)

private:
    long send_once(int fd);
    [[nodiscard]] OutgoingPdu& front() noexcept { return *ring_[head_]; }

    std::vector<OutgoingPdu*> ring_;
    std::size_t head_ = 0;
    std::size_t count_ = 0;
    std::size_t sent_ = 0;  // bytes of the first one that are out
};

}  // namespace kdp::tcp
