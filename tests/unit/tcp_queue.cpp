// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The tcp path's queue against a controller that keeps the rules.
#include "tcp_peer.hpp"

#include <cerrno>

using golden::hex;
using tcp_peer::Bytes;
using tcp_peer::Controller;
using tcp_peer::ic_resp;
using tcp_peer::QueueTest;
using tcp_peer::Way;
using tcp_peer::operator+;

namespace {

class TcpQueue : public QueueTest {
protected:
    void open_fails(int code, const std::string& words, const Bytes& answer, bool hdgst = false)
    {
        connect();
        send(answer);
        shutdown(far_.get(), SHUT_WR);
        const auto opened =
            kdp::tcp::Queue::open(std::move(near_), "peer:4420", {1, hdgst, false},
                                  kdp::fabrics::Patience::in(std::chrono::seconds(20)));
        ASSERT_FALSE(opened) << words;
        EXPECT_EQ(opened.error().code, code) << opened.error().text;
        EXPECT_NE(opened.error().text.find(words), std::string::npos) << opened.error().text;
    }
};

constexpr Controller plain{};
constexpr Controller headers{true, false};
constexpr Controller contents{false, true};
constexpr Controller everything{true, true};

TEST_F(TcpQueue, AsksForAConnection)
{
    connect();
    send(ic_resp(3));
    auto opened = kdp::tcp::Queue::open(std::move(near_), "peer:4420", {1, true, true});
    ASSERT_TRUE(opened);
    EXPECT_EQ(receive(), hex("00 00 80 00  80 00 00 00  00 00 00 03  00 00 00 00  00*112"));
    EXPECT_TRUE((*opened)->agreed().hdgst && (*opened)->agreed().ddgst);
}

TEST_F(TcpQueue, WhatIsNoController)
{
    open_fails(ENOTCONN, "closed the connection", {});
    open_fails(ENOTCONN, "closed the connection", hex("01 00 80 00"));
    open_fails(EPROTO, "no ICResp", hex("05*128"));
    open_fails(EPROTO, "refused ICReq: unsupported parameter",
               hex("03 00 18 00  18 00 00 00  06 00 0b 00 00 00  00*10"));
    open_fails(EOPNOTSUPP, "hdgst=1", ic_resp(0), true);
    open_fails(EPROTO, "byte 11", ic_resp(2));
    Bytes other = ic_resp();
    other[8] = 1;
    open_fails(EPROTONOSUPPORT, "another version", other);
}

TEST_F(TcpQueue, NoAnswerInTime)
{
    connect();
    const auto opened =
        kdp::tcp::Queue::open(std::move(near_), "peer:4420", {1, false, false},
                              kdp::fabrics::Patience::in(std::chrono::milliseconds(20)));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ETIMEDOUT);
}

TEST_F(TcpQueue, CommandWithoutData)
{
    open();
    const std::uint16_t slot = queue_->acquire();
    nvmf_sqe_init(&queue_->sqe(slot), 0, 0x01020304);
    queue_->post(slot, 77);
    queue_->ring();
    // the identifier: slot 0, generation 1
    EXPECT_EQ(receive(), hex("04 00 48 00  48 00 00 00  00 40 00 10  04 03 02 01  00*16 "
                             "00*8 00*4 00*3 5a  00*24"));
    send(controller_.response(0x1000, 0, 0x1122334455667788));
    const auto finished = queue_->reap();
    ASSERT_EQ(finished.size(), 1U);
    EXPECT_EQ(finished[0].cookie, 77U);
    EXPECT_EQ(finished[0].result, 0x1122334455667788U);
    EXPECT_EQ(queue_->in_flight(), 0U);
    EXPECT_EQ(queue_->doorbells, 1U);
}

TEST_F(TcpQueue, BatchIsOneMessage)
{
    open(4);
    for (unsigned i = 0; i < 4; i++) {
        const std::uint16_t slot = queue_->acquire();
        nvmf_sqe_init(&queue_->sqe(slot), 0, 1);
        queue_->post(slot, i);
    }
    EXPECT_TRUE(receive().empty());
    EXPECT_FALSE(queue_->has_slot());
    queue_->ring();
    queue_->ring();
    EXPECT_EQ(queue_->doorbells, 1U);
    EXPECT_EQ(receive().size(), 4U * 72);
    // answered in another order, all at once
    send(controller_.response(0x1002) + controller_.response(0x1000) +
         controller_.response(0x1003) + controller_.response(0x1001));
    const auto finished = queue_->reap();
    ASSERT_EQ(finished.size(), 4U);
    EXPECT_EQ(finished[0].cookie, 2U);
    EXPECT_EQ(finished[3].cookie, 1U);
    EXPECT_EQ(queue_->in_flight(), 0U);
}

TEST_F(TcpQueue, ErrorsOfTheController)
{
    open();
    Bytes memory(4096);
    const auto cid = start(5, Way::to_host, as_memory(memory));
    send(controller_.response(cid, NVMF_SC_LBA_RANGE | NVMF_SC_DNR));
    expect_finished(5, NVMF_SC_LBA_RANGE | NVMF_SC_DNR);
}

class TcpQueueDigests : public TcpQueue, public testing::WithParamInterface<Controller> {};

INSTANTIATE_TEST_SUITE_P(All, TcpQueueDigests,
                         testing::Values(plain, headers, contents, everything),
                         [](const auto& info) {
                             return std::string(info.param.hdgst ? "Header" : "") +
                                    (info.param.ddgst ? "Data" : "") + "Digests";
                         });

/// Two reads and a response without data: C2HData in pieces with and without SUCCESS, padding.
TEST_P(TcpQueueDigests, FragmentedAtEveryByte)
{
    const Bytes a = random_bytes(700), b = random_bytes(512);
    for (std::size_t cut = 0; cut <= 2; cut++) {
        // 0: byte by byte; 1: in two parts, at each byte; 2: all at once
        std::size_t at = cut == 1 ? 1 : 0, length = 2;
        do {
            open(4, GetParam());
            Bytes first(700), second(512);
            const auto ca = start(1, Way::to_host, as_memory(first));
            const auto cb = start(2, Way::to_host, as_memory(second));
            const auto cc = start(3);
            const auto part = [&](std::size_t from, std::size_t n) {
                return std::span(a).subspan(from, n);
            };
            const Bytes stream =
                controller_.data(ca, 0, part(0, 100)) + controller_.data(cb, 0, b, 4 | 8) +
                controller_.data(ca, 100, part(100, 3), 0, 8) + controller_.response(cc) +
                controller_.data(ca, 103, part(103, 597), 4) + controller_.response(ca);
            length = stream.size();
            std::vector<std::uint64_t> order;
            const auto feed = [&](std::size_t from, std::size_t n) {
                send(std::span(stream).subspan(from, n));
                for (bool more = true; more;) {
                    for (const auto& done : queue_->reap()) {
                        EXPECT_EQ(done.status, 0);
                        order.push_back(done.cookie);
                    }
                    more = !queue_->drained();
                }
                ASSERT_FALSE(queue_->broken()) << queue_->error().text << ", cut at " << at;
            };
            if (cut == 0)
                for (std::size_t i = 0; i < length; i++)
                    feed(i, 1);
            else
                feed(0, at), feed(at, length - at);
            EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 3, 1})) << "cut at " << at;
            EXPECT_EQ(first, a);
            EXPECT_EQ(second, b);
        } while (cut == 1 && ++at < length && !HasFailure());
    }
}

TEST_P(TcpQueueDigests, InCapsuleData)
{
    open(4, GetParam());
    queue_->set_in_capsule(512);
    Bytes data = random_bytes(512), longer = random_bytes(516);
    const auto cid = start(1, Way::to_controller, as_memory(data));
    const unsigned head = GetParam().hdgst ? 76 : 72;
    ASSERT_EQ(seen_.size(), head + 512 + (GetParam().ddgst ? 4 : 0));
    EXPECT_EQ(seen_[3], head);                                                  // PDO
    EXPECT_EQ(Bytes(&seen_[32], &seen_[48]), hex("00*8 00 02 00 00 00*3 01"));  // by offset 0
    EXPECT_TRUE(std::equal(data.begin(), data.end(), &seen_[head]));
    Bytes crc;
    tcp_peer::put(crc, kdp::tcp::crc32c_by_table(std::as_bytes(std::span(data))), 4);
    if (GetParam().ddgst) {
        EXPECT_EQ(Bytes(seen_.end() - 4, seen_.end()), crc);
    }
    crc.clear();
    tcp_peer::put(crc, kdp::tcp::crc32c_by_table(std::as_bytes(std::span(seen_).first(72))), 4);
    if (GetParam().hdgst) {
        EXPECT_EQ(Bytes(&seen_[72], &seen_[76]), crc);
    }
    send(controller_.response(cid));
    expect_finished(1);

    start(2, Way::to_controller, as_memory(longer));
    EXPECT_EQ(seen_.size(), head);
    EXPECT_EQ(Bytes(&seen_[32], &seen_[48]), hex("00*8 04 02 00 00 00*3 5a"));
}

/// R2Ts in any order, each answered by PDUs of MAXH2CDATA at most.
TEST_P(TcpQueueDigests, SolicitedData)
{
    open(4, GetParam(), 4096);
    Bytes data = random_bytes(16384);
    const auto cid = start(1, Way::to_controller, as_memory(data));
    const unsigned head = GetParam().hdgst ? 28 : 24, tail = GetParam().ddgst ? 4 : 0;

    send(controller_.r2t(cid, 0x1234, 4096, 12288));
    expect_nothing_finished();
    Bytes got = receive();
    ASSERT_EQ(got.size(), 3 * (head + 4096 + tail));
    for (std::uint32_t i = 0; i < 3; i++) {
        const std::uint8_t* pdu = &got[i * (head + 4096 + tail)];
        Bytes want = hex("06 00 18 00");
        want[1] = static_cast<std::uint8_t>((GetParam().hdgst ? 1 : 0) |
                                            (GetParam().ddgst ? 2 : 0) | (i == 2 ? 4 : 0));
        want[3] = static_cast<std::uint8_t>(head);
        tcp_peer::put(want, head + 4096 + tail, 4);
        tcp_peer::put(want, cid, 2);
        tcp_peer::put(want, 0x1234, 2);
        tcp_peer::put(want, 4096 + i * 4096, 4);
        tcp_peer::put(want, 4096, 4);
        tcp_peer::put(want, 0, 4);
        if (GetParam().hdgst)
            tcp_peer::put_crc(want, 0);
        EXPECT_EQ(Bytes(pdu, pdu + head), want);
        EXPECT_TRUE(std::equal(pdu + head, pdu + head + 4096, &data[4096 + i * 4096]));
    }
    send(controller_.r2t(cid, 9, 0, 4096));
    expect_nothing_finished();
    got = receive();
    ASSERT_EQ(got.size(), head + 4096 + tail);
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + 4096, &got[head]));
    send(controller_.response(cid));
    expect_finished(1);
    EXPECT_EQ(queue_->doorbells, 1U) << "what an R2T asks for is not a batch of commands";
}

/// The socket takes a part at a time; what is received meanwhile does not wait for it.
TEST_P(TcpQueueDigests, SocketIsFull)
{
    open(4, GetParam());
    Bytes data = random_bytes(1 << 22);
    const auto cid = start(1, Way::to_controller, as_memory(data));
    const auto other = start(2);
    send(controller_.r2t(cid, 1, 0, 1 << 22) + controller_.response(other));
    expect_finished(2);
    EXPECT_TRUE(queue_->readiness().events & POLLOUT);
    Bytes got;
    for (int i = 0; i < 10000 && got.size() < data.size(); i++) {
        const Bytes part = receive();
        got.insert(got.end(), part.begin(), part.end());
        expect_nothing_finished();
    }
    const Bytes last = receive();
    got.insert(got.end(), last.begin(), last.end());
    EXPECT_FALSE(queue_->readiness().events & POLLOUT);
    const unsigned head = GetParam().hdgst ? 28 : 24, tail = GetParam().ddgst ? 4 : 0;
    ASSERT_EQ(got.size(), head + data.size() + tail);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin() + head));
    send(controller_.response(cid));
    expect_finished(1);
}

TEST_F(TcpQueue, CoarseAlignmentOfTheController)
{
    open(1, everything, 0x400000, 31);
    queue_->set_in_capsule(4096);
    Bytes data = random_bytes(4);
    start(1, Way::to_controller, as_memory(data));
    ASSERT_EQ(seen_.size(), 128U + 4 + 4);
    EXPECT_EQ(seen_[3], 128);
    EXPECT_EQ(Bytes(&seen_[76], &seen_[128]), hex("00*52"));
    EXPECT_EQ(Bytes(&seen_[128], &seen_[132]), data);
}

/// A command that failed is not over while its data are being sent: the memory is in use.
TEST_F(TcpQueue, FailedWhileItsDataAreSent)
{
    open(2);
    Bytes data = random_bytes(1 << 22);
    const auto cid = start(1, Way::to_controller, as_memory(data));
    send(controller_.r2t(cid, 1, 0, 1 << 22) + controller_.response(cid, NVMF_SC_WRITE_FAULT));
    expect_nothing_finished();
    std::size_t finished = 0, got = 0;
    for (int i = 0; i < 10000 && !finished; i++) {
        got += receive().size();
        for (const auto& done : queue_->reap()) {
            EXPECT_EQ(done.status, NVMF_SC_WRITE_FAULT);
            finished++;
        }
    }
    EXPECT_EQ(finished, 1U);
    EXPECT_EQ(got + receive().size(), 24U + (1 << 22));
    EXPECT_FALSE(queue_->broken());
}

TEST_F(TcpQueue, DamagedDataFailTheCommandAlone)
{
    open(2, everything);
    Bytes memory(512), good = random_bytes(512);
    for (const unsigned flags : {4U, 4U | 8U}) {
        const auto cid = start(1, Way::to_host, as_memory(memory));
        Bytes pdu = controller_.data(cid, 0, good, flags);
        pdu[28 + 100] ^= 1;
        send(pdu);
        if (!(flags & 8)) {
            expect_nothing_finished();
            send(controller_.response(cid));
        }
        expect_finished(1, NVMF_SC_TRANSIENT_TRANSPORT);
    }
    // … also when only the first of several pieces was, and not the next command
    auto cid = start(2, Way::to_host, as_memory(memory));
    Bytes pdu = controller_.data(cid, 0, std::span(good).first(256));
    pdu.back() ^= 0x80;
    send(pdu + controller_.data(cid, 256, std::span(good).subspan(256), 4 | 8));
    expect_finished(2, NVMF_SC_TRANSIENT_TRANSPORT);
    cid = start(3, Way::to_host, as_memory(memory));
    send(controller_.data(cid, 0, good, 4 | 8));
    expect_finished(3);
    EXPECT_EQ(memory, good);
}

/// A generation makes 15 identifiers of a slot differ from the next.
TEST_F(TcpQueue, IdentifiersOfASlotDiffer)
{
    open(1);
    std::uint16_t last = 0;
    for (unsigned i = 0; i < 40; i++) {
        const auto cid = start(i);
        EXPECT_NE(cid, last);
        EXPECT_EQ(cid & 0xfff, 0);
        send(controller_.response(cid));
        expect_finished(i);
        last = cid;
    }
}

TEST_F(TcpQueue, RunsOneCommand)
{
    open(1);
    nvmf_sqe sqe;
    nvmf_sqe_init(&sqe, 0x7f, 1);
    std::memset(queue_->page().data(), 0x5a, 1024);
    send(controller_.response(0x1000, 0, 5));
    using Page = kdp::fabrics::PageData;
    auto response = queue_->run(sqe, {Page::Way::to_controller, 1024}, {}, "Connect");
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(response->result, 5U);
    EXPECT_EQ(receive().size(), 72U + 1024) << "whatever in-capsule size I/O has";

    send(controller_.data(0x2000, 0, random_bytes(4096), 4) + controller_.response(0x2000));
    response = queue_->run(sqe, {Page::Way::to_host, 4096}, {}, "Identify");
    ASSERT_TRUE(response) << response.error().text;
    EXPECT_EQ(std::memcmp(queue_->page().data(), random_bytes(4096).data(), 4096), 0);

    response = queue_->run(sqe, {}, kdp::fabrics::Patience::in(std::chrono::milliseconds(20)),
                           "Keep Alive");
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ETIMEDOUT);
    EXPECT_TRUE(queue_->broken());
}

TEST_F(TcpQueue, WatchTellsOfTheEndOnly)
{
    open(1);
    send(Bytes{5});  // something to receive is none
    EXPECT_TRUE(queue_->check_events());
    far_.reset();
    EXPECT_FALSE(queue_->check_events());
}

}  // namespace
