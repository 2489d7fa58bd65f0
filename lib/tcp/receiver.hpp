// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The stream of PDUs that comes in: headers into a buffer of the receiver's own, checked before
/// anything of them is used; data by recvmsg(2) right to where they belong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <nvmf/tcp.h>

namespace kdp::tcp {

/// What the peer did against the rules: for the terminate request, and for people.
struct Breach {
    nvmf_tcp_fault fault{};
    std::string text;  ///< what follows "192.0.2.1:4420 sent "
};

/// Who acts on the PDUs.
class PduHandler {
public:
    virtual ~PduHandler() = default;

    /// A header, whole and as its digest says. Sets @p data to where the layout.data bytes behind
    /// it go, exactly so many. False: a breach, of which @p breach tells.
    virtual bool on_header(const nvmf_tcp_layout& layout, const std::byte* header,
                           std::span<std::byte>& data, Breach& breach) = 0;
    /// The rest of it is there too; @p intact: as the data's digest says, if there is one.
    virtual bool on_end(const nvmf_tcp_layout& layout, const std::byte* header, bool intact,
                        Breach& breach) = 0;
};

class Receiver {
public:
    enum class Outcome : std::uint8_t {
        drained,  ///< there was no more to receive
        more,     ///< there may be more
        ended,    ///< the peer has closed the connection
        failed,   ///< error() tells
        breach,   ///< breach() and header() tell
    };

    /// @p handler is called from receive() only, and outlives this.
    Receiver(const nvmf_tcp_params& params, PduHandler& handler)
        : params_(params), handler_(handler)
    {
    }

    /// One call of recvmsg(2), without sleeping, and everything that follows from what it brought.
    /// @p data_expected: more data may follow soon. Then no more than the next header is asked
    /// for beyond the data that are being received, so that they need not be copied; else as
    /// many PDUs as there are.
    Outcome receive(int fd, bool data_expected);

    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] const Breach& breach() const noexcept { return breach_; }
    /// Of the PDU that is being received, as far as it has come.
    [[nodiscard]] std::span<const std::byte> header() const noexcept;

private:
    enum class Phase : std::uint8_t { common, head, data, tail };

    [[nodiscard]] std::size_t shortest_head() const noexcept;
    [[nodiscard]] std::size_t wanted(bool data_expected) const noexcept;
    [[nodiscard]] std::size_t buffered() const noexcept { return end_ - begin_; }
    bool take();
    bool take_common();
    bool take_head();
    bool take_data();
    bool take_tail();
    bool end_pdu(bool intact);

    static constexpr std::size_t head_at_most = 256;  // PDO has eight bits
    static constexpr std::size_t buffer_bytes = 4096;

    nvmf_tcp_params params_;
    PduHandler& handler_;

    Phase phase_ = Phase::common;
    nvmf_tcp_layout layout_{};
    alignas(8) std::array<std::byte, head_at_most> head_{};  // of the PDU at hand
    std::size_t head_have_ = 0;
    std::span<std::byte> data_;  // all of the PDU at hand
    std::size_t data_have_ = 0;

    std::array<std::byte, buffer_bytes> buffer_;  // received and not yet taken
    std::size_t begin_ = 0;
    std::size_t end_ = 0;

    bool breached_ = false;
    Breach breach_;
    int error_ = 0;
};

}  // namespace kdp::tcp
