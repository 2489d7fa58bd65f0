// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A small NVMe/TCP controller on 127.0.0.1 for tests of the whole path: one namespace of 1 MiB,
/// in-capsule data up to 8 KiB. It believes what it is sent.
#pragma once

#include <netinet/in.h>
#include <poll.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "tcp_peer.hpp"

namespace tcp_peer {

class SmallController {
public:
    static constexpr std::size_t store_bytes = 1 << 20;

    SmallController() : store_(store_bytes)
    {
        listener_ = kdp::UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (bind(listener_.get(), any, length) < 0 || listen(listener_.get(), 16) < 0 ||
            getsockname(listener_.get(), any, &length) < 0)
            std::abort();
        port = ntohs(address.sin_port);
        acceptor_ = std::jthread([this] { accept_all(); });
    }
    ~SmallController()
    {
        shutdown(listener_.get(), SHUT_RDWR);
        acceptor_ = {};
        hang_up();
    }

    /// End every connection.
    void hang_up()
    {
        std::map<int, std::jthread> ending;
        {
            const std::lock_guard lock(mutex_);
            for (const auto& [fd, thread] : connections_)
                shutdown(fd, SHUT_RDWR);
            ending.swap(connections_);
        }
        for (auto& [fd, thread] : ending) {
            thread.join();
            close(fd);
        }
    }

    std::uint16_t port = 0;
    std::atomic<bool> silent{false};  ///< answer no I/O
    std::atomic<unsigned> keep_alives{0};
    std::atomic<unsigned> io_responses{0};  ///< CapsuleResp of I/O queues, Connect not counted
    std::atomic<unsigned> io_queues{0};
    std::atomic<bool> shut_down{false};

private:
    struct Command {
        Bytes pdu;
        Bytes data;
        [[nodiscard]] std::uint32_t at(std::size_t offset, std::size_t n) const
        {
            std::uint32_t value = 0;
            for (std::size_t i = n; i-- > 0;)
                value = value << 8 | pdu[8 + offset + i];
            return value;
        }
    };
    struct Connection {
        int fd;
        Controller controller;
        unsigned qid = 0;
        bool no_sq_flow = false;
    };

    void accept_all()
    {
        for (;;) {
            const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0)
                return;
            const std::lock_guard lock(mutex_);
            connections_.emplace(fd, std::jthread([this, fd] { serve(fd); }));
        }
    }
    static bool take(int fd, Bytes& bytes, std::size_t n)
    {
        bytes.resize(n);
        return n == 0 || recv(fd, bytes.data(), n, MSG_WAITALL) == static_cast<ssize_t>(n);
    }
    static void give(int fd, const Bytes& bytes)
    {
        (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }

    void serve(int fd)
    {
        Bytes request;
        if (!take(fd, request, 128))
            return;
        Connection c{fd, {(request[11] & 1) != 0, (request[11] & 2) != 0}};
        give(fd, ic_resp(request[11], 8192));
        for (Command command; receive_command(c, command);)
            answer(c, command);
        shutdown(fd, SHUT_RDWR);
    }
    static bool receive_pdu(const Connection& c, Bytes& pdu, Bytes& data)
    {
        if (!take(c.fd, pdu, 8))
            return false;
        const std::size_t plen = pdu[4] | pdu[5] << 8 | static_cast<std::size_t>(pdu[6]) << 16;
        const std::size_t head = pdu[3] ? pdu[3] : plen;
        Bytes rest, tail;
        if (!take(c.fd, rest, head - 8))
            return false;
        pdu = pdu + rest;
        const std::size_t digest = plen > head && c.controller.ddgst ? 4 : 0;
        return take(c.fd, data, plen - head - digest) && take(c.fd, tail, digest);
    }
    static bool receive_command(const Connection& c, Command& command)
    {
        return receive_pdu(c, command.pdu, command.data) && command.pdu[0] == 4;
    }

    void answer(Connection& c, const Command& command)
    {
        const auto cid = static_cast<std::uint16_t>(command.at(2, 2));
        const unsigned opcode = command.at(0, 1);
        if (opcode == 0x7f)
            give(c.fd, c.controller.response(cid, 0, fabrics(c, command)));
        else if (c.qid == 0)
            admin(c, opcode, cid, command);
        else if (!silent)
            io(c, opcode, cid, command);
    }
    std::uint64_t fabrics(Connection& c, const Command& command)
    {
        const std::uint32_t property = command.at(44, 4);
        switch (command.at(4, 1)) {
            case 1:  // Connect
                c.qid = command.at(42, 2);
                c.no_sq_flow = command.at(46, 1) & 4;
                io_queues += c.qid != 0;
                return 7;
            case 4:  // Property Get
                return property == 0 ? 127 | 1 << 24 : property == 0x1c ? (shut_down ? 9 : 1) : 0;
            default:  // Property Set
                shut_down = command.at(48, 4) & 0x4000;
                return 0;
        }
    }
    void admin(const Connection& c, unsigned opcode, std::uint16_t cid, const Command& command)
    {
        if (opcode == 0x18)
            keep_alives++;
        if (opcode == 0x09) {
            give(c.fd, c.controller.response(cid, 0, command.at(44, 4)));
        } else if (opcode == 0x06) {
            const golden::Page page = identify(command.at(40, 1), command.at(4, 4));
            give(c.fd, c.controller.data(cid, 0, std::span(page.data(), 4096), 4) +
                           c.controller.response(cid));
        } else {
            give(c.fd, c.controller.response(cid));
        }
    }
    static golden::Page identify(unsigned cns, std::uint32_t nsid)
    {
        golden::Page page(4096);
        if (cns == 1)
            page.put16(78, 7)
                .put8(512, 0x66)
                .put8(513, 0x44)
                .put32(516, 1)
                .put32(536, 0x100001)
                .put32(1792, (64 + 8192) / 16);
        else if (cns == 2 && nsid == 0)
            page.put32(0, 1);
        else if (cns == 0)
            page.put64(0, store_bytes / 512).put8(130, 9);
        return page;
    }
    void io(const Connection& c, unsigned opcode, std::uint16_t cid, const Command& command)
    {
        const std::size_t at = static_cast<std::size_t>(command.at(40, 4)) * 512;
        const std::size_t bytes = (command.at(48, 2) + 1U) * 512;
        if (opcode == 2) {
            Bytes data(bytes);
            {
                const std::lock_guard lock(mutex_);
                std::copy_n(store_.begin() + static_cast<long>(at), bytes, data.begin());
            }
            give(c.fd, c.controller.data(cid, 0, data, c.no_sq_flow ? 4 | 8 : 4));
            if (c.no_sq_flow)
                return;
        } else if (opcode == 1) {
            Bytes data = command.data;
            if (data.empty()) {
                give(c.fd, c.controller.r2t(cid, 1, 0, static_cast<std::uint32_t>(bytes)));
                // a test of one write at a time: nothing else comes between
                for (Bytes pdu, part; data.size() < bytes; data = data + part)
                    if (!receive_pdu(c, pdu, part) || pdu[0] != 6)
                        return;
            }
            const std::lock_guard lock(mutex_);
            std::copy(data.begin(), data.end(), store_.begin() + static_cast<long>(at));
        }
        io_responses++;
        give(c.fd, c.controller.response(cid));
    }

    kdp::UniqueFd listener_;
    std::mutex mutex_;  // what follows
    std::map<int, std::jthread> connections_;
    Bytes store_;
    std::jthread acceptor_;
};

}  // namespace tcp_peer
