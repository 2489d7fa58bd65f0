// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What the fabrics layer needs of a transport: a queue that is connected (RDMA: the CM's
/// handshake is over; TCP: ICResp has come) and takes one command at a time. Every queue can
/// be used that way, I/O queues for their Connect command; the admin queue is used no other
/// way.
///
///     transport      opens the queue ──► CommandQueue
///     fabrics::Admin Connect, properties, Identify, features, Keep Alive ──► run()
///     fabrics::Keeper sleeps on watch(), then check_events()
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <poll.h>

#include <nvmf/capsule.h>
#include <kdp/result.hpp>

#include "patience.hpp"

namespace kdp::fabrics {

/// Data that go with a command: the first @p bytes of the queue's page.
struct PageData {
    enum class Way : std::uint8_t { none, to_controller, to_host } way = Way::none;
    std::uint32_t bytes = 0;
};

class CommandQueue {
public:
    virtual ~CommandQueue() = default;
    CommandQueue(const CommandQueue&) = delete;
    CommandQueue& operator=(const CommandQueue&) = delete;

    /// NVMF_IDENTIFY_SIZE bytes for the data of commands that run() is given.
    [[nodiscard]] virtual std::span<std::byte> page() const noexcept = 0;

    /// Send @p sqe and sleep until it is answered. The queue sets the command identifier and
    /// the data pointer: which SGL there is for @p data is the transport's to know.
    ///
    /// Returns the response, whatever its status. ETIMEDOUT when @p patience ends, ENOTCONN
    /// when the connection did, EPROTO when the peer broke the rules: the queue is broken
    /// afterwards, so that a late answer finds nothing to write to. The caller owns the queue;
    /// nothing else is in flight on it. @p what names the command in the error's text.
    virtual Result<nvmf_response> run(const nvmf_sqe& sqe, PageData data, Patience patience,
                                      const char* what) = 0;

    /// What a thread sleeps on that watches the connection while another one drives the queue:
    /// the events that tell of its end. A descriptor of -1 where there is nothing to watch.
    [[nodiscard]] virtual pollfd watch() const noexcept = 0;
    /// After watch() was ready: an error once the connection is lost. Never sleeps. One thread
    /// at a time, beside the one that drives the queue.
    virtual Status check_events() = 0;

    [[nodiscard]] virtual bool broken() const noexcept = 0;
    /// Why it broke.
    [[nodiscard]] virtual const Error& error() const noexcept = 0;
    /// Give the queue up: no memory is touched any more when this returns. The first reason
    /// stays. By the thread that drives the queue.
    virtual void break_with(Error why) = 0;

    /// "192.0.2.1:4420"
    [[nodiscard]] virtual const std::string& peer() const noexcept = 0;

protected:
    CommandQueue() = default;
};

}  // namespace kdp::fabrics
