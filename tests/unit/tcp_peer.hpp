// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The other end of a tcp::Queue: a socket pair, and PDUs written down by hand. Nothing here
/// uses <nvmf/tcp.h>.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tcp/crc32c.hpp"
#include "tcp/queue.hpp"
#include "wire_golden.hpp"

namespace tcp_peer {

using golden::Bytes;
using kdp::tcp::Finished;
using kdp::tcp::Queue;
using kdp::tcp::Way;

inline void put(Bytes& to, std::uint64_t value, std::size_t n)
{
    for (std::size_t i = 0; i < n; i++)
        to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

inline void put_crc(Bytes& to, std::size_t begin)
{
    put(to, kdp::tcp::crc32c_by_table(std::as_bytes(std::span(to).subspan(begin))), 4);
}

/// What a controller sends, with the digests that it agreed to.
struct Controller {
    bool hdgst = false;
    bool ddgst = false;

    [[nodiscard]] Bytes header(unsigned type, unsigned flags, std::uint32_t data,
                               unsigned padding = 0) const
    {
        const unsigned head = 24 + (hdgst ? 4 : 0) + padding;
        Bytes pdu;
        put(pdu, type, 1);
        put(pdu, flags | (hdgst ? 1 : 0) | (data && ddgst ? 2 : 0), 1);
        put(pdu, 24, 1);
        put(pdu, data ? head : 0, 1);
        put(pdu, head + data + (data && ddgst ? 4 : 0), 4);
        return pdu;
    }
    [[nodiscard]] Bytes response(std::uint16_t cid, std::uint16_t status = 0,
                                 std::uint64_t result = 0) const
    {
        Bytes pdu = header(5, 0, 0);
        put(pdu, result, 8);
        put(pdu, 0, 4);
        put(pdu, cid, 2);
        put(pdu, static_cast<std::uint64_t>(status) << 1, 2);
        if (hdgst)
            put_crc(pdu, 0);
        return pdu;
    }
    [[nodiscard]] Bytes r2t(std::uint16_t cid, std::uint16_t ttag, std::uint32_t offset,
                            std::uint32_t length) const
    {
        Bytes pdu = header(9, 0, 0);
        transfer(pdu, cid, ttag, offset, length);
        return pdu;
    }
    /// @p flags: 4 the last, 8 success.
    [[nodiscard]] Bytes data(std::uint16_t cid, std::uint32_t offset,
                             std::span<const std::uint8_t> bytes, unsigned flags = 0,
                             unsigned padding = 0) const
    {
        Bytes pdu = header(7, flags, static_cast<std::uint32_t>(bytes.size()), padding);
        transfer(pdu, cid, 0, offset, static_cast<std::uint32_t>(bytes.size()));
        pdu.insert(pdu.end(), padding, 0);
        const std::size_t begin = pdu.size();
        pdu.insert(pdu.end(), bytes.begin(), bytes.end());
        if (ddgst)
            put_crc(pdu, begin);
        return pdu;
    }

private:
    void transfer(Bytes& pdu, std::uint16_t cid, std::uint16_t ttag, std::uint32_t offset,
                  std::uint32_t length) const
    {
        put(pdu, cid, 2);
        put(pdu, ttag, 2);
        put(pdu, offset, 4);
        put(pdu, length, 4);
        put(pdu, 0, 4);
        if (hdgst)
            put_crc(pdu, 0);
    }
};

inline Bytes ic_resp(unsigned digests = 0, std::uint32_t maxh2cdata = 0x400000, unsigned cpda = 0)
{
    Bytes pdu = golden::hex("01 00 80 00  80 00 00 00  00 00");
    put(pdu, cpda, 1);
    put(pdu, digests, 1);
    put(pdu, maxh2cdata, 4);
    pdu.resize(128);
    return pdu;
}

inline Bytes operator+(Bytes a, const Bytes& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Both ends, in one thread.
class QueueTest : public testing::Test {
protected:
    void connect()
    {
        int fds[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        near_ = kdp::UniqueFd(fds[0]);
        far_ = kdp::UniqueFd(fds[1]);
    }
    /// A queue that has agreed with the controller.
    void open(unsigned depth = 4, Controller controller = {}, std::uint32_t maxh2cdata = 0x400000,
              unsigned cpda = 0)
    {
        connect();
        controller_ = controller;
        const unsigned digests = (controller.hdgst ? 1 : 0) | (controller.ddgst ? 2 : 0);
        send(ic_resp(digests, maxh2cdata, cpda));
        auto opened =
            Queue::open(std::move(near_), "peer:4420",
                        {static_cast<std::uint16_t>(depth), controller.hdgst, controller.ddgst},
                        kdp::fabrics::Patience::in(std::chrono::seconds(20)));
        ASSERT_TRUE(opened) << opened.error().text;
        queue_ = std::move(*opened);
        EXPECT_EQ(receive(128).size(), 128U);  // ICReq
    }

    void send(std::span<const std::uint8_t> bytes)
    {
        ASSERT_EQ(::send(far_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    /// Up to @p most bytes that are there.
    Bytes receive(std::size_t most = 1 << 20)
    {
        Bytes bytes(most);
        std::size_t have = 0;
        for (;;) {
            const ssize_t n =
                recv(far_.get(), bytes.data() + have, bytes.size() - have, MSG_DONTWAIT);
            if (n <= 0)
                break;
            have += static_cast<std::size_t>(n);
        }
        bytes.resize(have);
        return bytes;
    }
    [[nodiscard]] bool far_end_closed() const
    {
        char byte;
        const ssize_t n = recv(far_.get(), &byte, 1, MSG_DONTWAIT);
        return n == 0 || (n < 0 && errno == ECONNRESET);  // with something unread
    }

    /// Post and send a command, throw away what the controller sees of it, return its identifier.
    std::uint16_t start(std::uint64_t cookie, Way way = Way::none, std::span<std::byte> data = {})
    {
        const std::uint16_t slot = queue_->acquire();
        nvmf_sqe_init(&queue_->sqe(slot), way == Way::to_host ? 2 : 1, 1);
        queue_->post(slot, cookie, way, data);
        const std::uint16_t cid = queue_->sqe(slot).cid;
        queue_->ring();
        seen_ = receive();
        return cid;
    }
    void expect_finished(std::uint64_t cookie, std::uint16_t status = 0)
    {
        const auto finished = queue_->reap();
        ASSERT_EQ(finished.size(), 1U) << queue_->error().text;
        EXPECT_EQ(finished[0].cookie, cookie);
        EXPECT_EQ(finished[0].status, status);
        EXPECT_FALSE(queue_->broken());
    }
    void expect_nothing_finished()
    {
        EXPECT_TRUE(queue_->reap().empty());
        EXPECT_FALSE(queue_->broken()) << queue_->error().text;
    }

    static Bytes random_bytes(std::size_t n)
    {
        Bytes bytes(n);
        std::uint32_t state = static_cast<std::uint32_t>(n) + 1;
        for (std::uint8_t& b : bytes)
            b = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
        return bytes;
    }
    static std::span<std::byte> as_memory(Bytes& bytes)
    {
        return std::as_writable_bytes(std::span(bytes));
    }

    kdp::UniqueFd near_;
    kdp::UniqueFd far_;
    Controller controller_;
    std::unique_ptr<Queue> queue_;
    Bytes seen_;
};

}  // namespace tcp_peer
