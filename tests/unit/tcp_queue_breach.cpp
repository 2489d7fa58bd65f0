// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The tcp path's queue against a controller that breaks the rules: each breach ends the
// connection with a sentence and a terminate request, and touches no memory that is not its own.
#include "tcp_peer.hpp"

#include <cerrno>

using golden::hex;
using tcp_peer::Bytes;
using tcp_peer::Controller;
using tcp_peer::QueueTest;
using tcp_peer::Way;
using tcp_peer::operator+;

namespace {

constexpr std::size_t bytes = 4096;

class TcpBreach : public QueueTest {
protected:
    /// A queue of depth 4 with a read and a write of 4096 bytes in flight.
    void open_busy(Controller controller = {})
    {
        open(4, controller);
        memory_ = Bytes(3 * bytes, 0xa5);
        data_ = random_bytes(bytes);
        read_ = start(1, Way::to_host, as_memory(memory_).subspan(bytes, bytes));
        write_ = start(2, Way::to_controller, as_memory(data_));
    }
    Bytes piece(std::size_t n) const { return Bytes(n, 0x11); }

    /// @p stream breaks the queue; @p fes, @p fei come out of it.
    void expect_breach(const Bytes& stream, const std::string& words, unsigned fes, unsigned fei)
    {
        send(stream);
        const auto finished = queue_->reap();
        EXPECT_TRUE(finished.empty()) << words;
        ASSERT_TRUE(queue_->broken()) << words;
        EXPECT_EQ(queue_->error().code, EPROTO);
        EXPECT_NE(queue_->error().text.find(words), std::string::npos) << queue_->error().text;
        EXPECT_EQ(queue_->error().text.rfind("peer:4420 sent ", 0), 0U) << queue_->error().text;

        Bytes got = receive();
        ASSERT_GE(got.size(), 24U) << words;
        // the H2CData of R2Ts that were right may come before
        while (got.size() > 24 && got[0] == 6)
            got.erase(got.begin(), got.begin() + static_cast<long>(golden_length(got)));
        Bytes want = hex("02 00 18 00");
        tcp_peer::put(want, got.size(), 4);
        tcp_peer::put(want, fes, 2);
        tcp_peer::put(want, fei, 4);
        want.resize(24);
        EXPECT_EQ(Bytes(got.begin(), got.begin() + 24), want) << words;
        EXPECT_LE(got.size(), 24U + 24);
        EXPECT_GE(got.size(), 24U + 8) << "with what was wrong behind it";
        EXPECT_TRUE(far_end_closed());

        unsigned cancelled = 0;
        queue_->cancel_all([&](std::uint64_t) { cancelled++; });
        EXPECT_EQ(cancelled, 2U);
        EXPECT_EQ(queue_->in_flight(), 0U);
        EXPECT_EQ(Bytes(memory_.begin(), memory_.begin() + bytes), Bytes(bytes, 0xa5));
        EXPECT_EQ(Bytes(memory_.begin() + 2 * bytes, memory_.end()), Bytes(bytes, 0xa5));
    }
    static std::size_t golden_length(const Bytes& pdu)
    {
        return pdu[4] | static_cast<std::size_t>(pdu[5]) << 8 |
               static_cast<std::size_t>(pdu[6]) << 16;
    }

    Bytes memory_;  // the middle third is the read's
    Bytes data_;
    std::uint16_t read_ = 0;
    std::uint16_t write_ = 0;
};

TEST_F(TcpBreach, WrongIdentifiers)
{
    const auto stale = [](std::uint16_t cid) { return static_cast<std::uint16_t>(cid - 0x1000); };
    open_busy();
    expect_breach(controller_.response(4), "not in flight", 1, 20);  // beyond the slots
    open_busy();
    expect_breach(controller_.response(0xffff), "not in flight", 1, 20);
    open_busy();
    expect_breach(controller_.response(0x1002), "not in flight", 1, 20);  // a free slot
    open_busy();
    expect_breach(controller_.response(stale(read_)), "not in flight", 1, 20);
    open_busy();
    expect_breach(controller_.data(stale(read_), 0, piece(512)), "not in flight", 1, 8);
    open_busy();
    expect_breach(controller_.r2t(stale(write_), 1, 0, 512), "not in flight", 1, 8);
}

TEST_F(TcpBreach, AnsweredTwice)
{
    open_busy();
    const auto cid = start(3);
    send(controller_.response(cid));
    expect_finished(3);
    expect_breach(controller_.response(cid), "not in flight", 1, 20);
}

TEST_F(TcpBreach, DataOutOfRange)
{
    open_busy();
    expect_breach(controller_.data(read_, 0, piece(bytes + 4)), "4100 bytes at 0 of 4096", 4, 0);
    open_busy();
    expect_breach(controller_.data(read_, bytes, piece(4)), "4 bytes at 4096 of 4096", 4, 0);
    open_busy();
    expect_breach(controller_.data(read_, 0xfffffffc, piece(8)), "of 4096", 4, 0);
    open_busy();
    expect_breach(controller_.data(write_, 0, piece(4)), "4 bytes at 0 of 0", 4, 0);
}

TEST_F(TcpBreach, DataOutOfOrder)
{
    open_busy();
    expect_breach(controller_.data(read_, 512, piece(512)), "data at 512 where those at 0", 1, 12);
    open_busy();
    expect_breach(controller_.data(read_, 0, piece(512)) + controller_.data(read_, 0, piece(512)),
                  "data at 0 where those at 512", 1, 12);
    open_busy();
    expect_breach(controller_.data(read_, 0, piece(512)) + controller_.data(read_, 516, piece(512)),
                  "data at 516 where those at 512", 1, 12);
}

TEST_F(TcpBreach, SuccessTooSoon)
{
    open_busy();
    expect_breach(controller_.response(read_), "after 0 of them", 2, 0);
    open_busy();
    expect_breach(controller_.data(read_, 0, piece(512), 4) + controller_.response(read_),
                  "after 512 of them", 2, 0);
    open_busy();
    expect_breach(controller_.data(read_, 0, piece(512), 4 | 8), "after 512 of them", 2, 0);
    open_busy();
    expect_breach(controller_.response(write_), "after 0 of them", 2, 0);
    open_busy();
    expect_breach(controller_.data(read_, 0, piece(512), 8), "type 7", 1, 1);
}

TEST_F(TcpBreach, LengthsThatContradict)
{
    open_busy();
    Bytes pdu = controller_.data(read_, 0, piece(512));
    pdu[16] = 4;  // DATAL 516
    expect_breach(pdu, "C2HData of 516 bytes with 512", 1, 16);
    open_busy();
    pdu = controller_.data(read_, 0, piece(512));
    std::fill(&pdu[16], &pdu[20], 0);
    expect_breach(pdu, "C2HData of 0 bytes", 1, 16);
    open_busy();
    pdu = controller_.response(read_);
    pdu[4] = 25;
    expect_breach(pdu, "type 5", 1, 4);
}

TEST_F(TcpBreach, RequestsToTransfer)
{
    open_busy();
    expect_breach(controller_.r2t(write_, 1, 0, bytes + 1), "R2T for 4097 bytes at 0", 4, 0);
    open_busy();
    expect_breach(controller_.r2t(write_, 1, 4000, 100), "R2T for 100 bytes at 4000", 4, 0);
    open_busy();
    expect_breach(controller_.r2t(write_, 1, 0xffffff00, 0x200), "R2T for 512 bytes", 4, 0);
    open_busy();
    expect_breach(controller_.r2t(write_, 1, 0, 0), "R2T of no bytes", 1, 16);
    open_busy();
    expect_breach(controller_.r2t(read_, 1, 0, 512), "R2T for 512 bytes at 0 of 0", 4, 0);
}

TEST_F(TcpBreach, AskedForTwice)
{
    open_busy();
    send(controller_.r2t(write_, 1, 0, 4096));
    expect_nothing_finished();
    expect_breach(controller_.r2t(write_, 2, 0, 4), "4096 of which it has", 4, 0);
}

TEST_F(TcpBreach, DataOfACapsuleAreNotAskedFor)
{
    open_busy();
    queue_->set_in_capsule(bytes);
    const auto cid = start(3, Way::to_controller, as_memory(data_));
    send(controller_.response(cid));
    expect_finished(3);
    const auto next = start(4, Way::to_controller, as_memory(data_));
    send(controller_.r2t(next, 1, 0, 512));
    queue_->reap();
    EXPECT_TRUE(queue_->broken());
    EXPECT_NE(queue_->error().text.find("R2T for 512"), std::string::npos) << queue_->error().text;
}

TEST_F(TcpBreach, MoreRequestsThanOne)
{
    open(2);
    Bytes data = random_bytes(1 << 22);
    const auto cid = start(1, Way::to_controller, as_memory(data));
    send(controller_.r2t(cid, 1, 0, 1 << 21));
    expect_nothing_finished();  // the socket is full
    send(controller_.r2t(cid, 2, 1 << 21, 512));
    EXPECT_TRUE(queue_->reap().empty());
    EXPECT_TRUE(queue_->broken());
    EXPECT_NE(queue_->error().text.find("more R2Ts"), std::string::npos) << queue_->error().text;
    // in the middle of H2CData nothing can be said: the connection just ends
    Bytes got = receive(1 << 23);
    EXPECT_LT(got.size(), 24U + (1 << 21));
}

TEST_F(TcpBreach, DamagedHeaders)
{
    for (std::size_t at = 8; at < 28; at++) {
        open_busy({true, false});
        Bytes pdu = controller_.response(read_, NVMF_SC_INTERNAL);
        pdu[at] ^= 4;
        const auto came = static_cast<unsigned>(pdu[24] | pdu[25] << 8 | pdu[26] << 16) |
                          static_cast<unsigned>(pdu[27]) << 24;
        expect_breach(pdu, "a header that its digest does not fit", 3, came);
    }
}

TEST_F(TcpBreach, DigestsThatWereNotAgreedOn)
{
    open_busy();
    expect_breach(Controller{true, false}.response(read_), "type 5", 1, 1);
    open_busy({true, true});
    expect_breach(Controller{}.response(read_), "type 5", 1, 1);
    open_busy({false, true});
    expect_breach(Controller{}.data(read_, 0, piece(512)), "type 7", 1, 1);
}

TEST_F(TcpBreach, NoSuchPdu)
{
    open_busy();
    expect_breach(tcp_peer::ic_resp(), "type 1", 2, 0);
    open_busy();
    expect_breach(hex("ff*24"), "type 255", 1, 0);
}

TEST_F(TcpBreach, TheControllerEndsIt)
{
    open_busy();
    send(hex("03 00 18 00  20 00 00 00  05 00 00 00 00 00  00*10  00*8"));
    EXPECT_TRUE(queue_->reap().empty());
    EXPECT_TRUE(queue_->broken());
    EXPECT_EQ(queue_->error().code, EPROTO);
    EXPECT_NE(queue_->error().text.find("data transfer limit exceeded"), std::string::npos)
        << queue_->error().text;
    EXPECT_TRUE(far_end_closed());
}

TEST_F(TcpBreach, WhatFinishedBeforeIsNotLost)
{
    open_busy();
    send(controller_.data(read_, 0, random_bytes(bytes), 4 | 8) + controller_.response(read_));
    const auto finished = queue_->reap();
    ASSERT_EQ(finished.size(), 1U);
    EXPECT_EQ(finished[0].cookie, 1U);
    EXPECT_TRUE(queue_->broken());
    EXPECT_TRUE(std::equal(memory_.begin() + bytes, memory_.begin() + 2 * bytes,
                           random_bytes(bytes).begin()));
}

TEST_F(TcpBreach, TheConnectionEnds)
{
    open_busy();
    const Bytes pdu = controller_.data(read_, 0, piece(512));
    send(std::span(pdu).first(100));
    EXPECT_TRUE(queue_->reap().empty());
    EXPECT_FALSE(queue_->broken());
    far_.reset();
    queue_->reap();
    EXPECT_TRUE(queue_->broken());
    EXPECT_EQ(queue_->error().code, ENOTCONN);
    queue_->break_with(kdp::Error{EIO, "another reason"});
    EXPECT_EQ(queue_->error().code, ENOTCONN) << "the first reason stays";
}

}  // namespace
