// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One connection, of one queue: its QP, receives, buffers, and what is in flight on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <rdma/rdma_cma.h>

#include <nvmf/capsule.h>

#include "loop.hpp"

namespace kdp::peer {

class Controller;

/// Registered memory; goes back to its connection's pool when nobody else holds it.
struct Buffer {
    Buffer(std::shared_ptr<ibv_pd> domain, std::size_t size);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::shared_ptr<ibv_pd> pd;
    std::vector<std::byte> bytes;
    ibv_mr* mr = nullptr;
};
using BufferPtr = std::shared_ptr<Buffer>;

/// Memory of the host's that a command has opened to us.
struct Remote {
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint32_t key = 0;
    bool invalidate = false;  ///< the host asks us to
};

class Connection : public std::enable_shared_from_this<Connection> {
public:
    using Done = std::function<void(ibv_wc_status)>;
    using OnCapsule = std::function<void(std::span<const std::byte>)>;

    /// Takes @p id over. Throws std::runtime_error when the device gives no resources.
    Connection(Loop& loop, rdma_cm_id* id, std::uint16_t qid, unsigned receives,
               std::size_t capsule_bytes);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void set_handler(OnCapsule handler) { on_capsule_ = std::move(handler); }

    [[nodiscard]] rdma_cm_id* id() const { return id_; }
    [[nodiscard]] std::uint16_t qid() const { return qid_; }
    [[nodiscard]] bool ended() const { return ended_; }

    BufferPtr buffer(std::size_t bytes);

    // Work requests, in the order of the calls. @p done may be empty.
    void rdma_write(const BufferPtr& buffer, std::size_t bytes, std::uint64_t address,
                    std::uint32_t key, Done done);
    void rdma_read(const BufferPtr& buffer, std::size_t bytes, std::uint64_t address,
                   std::uint32_t key, Done done);
    void send(const BufferPtr& buffer, std::size_t bytes, std::optional<std::uint32_t> invalidate,
              Done done);

    /// The host has said that it is ready to use the connection.
    void established();

    /// Hang up, or answer the host's hanging up. A connection that is not yet established
    /// hangs up when it is: before that the CM sends nothing, and does not say so.
    void disconnect();

    /// Take what has completed and tell whoever posted it.
    void poll();

    /// Commands that have no answer yet, by their identifier.
    std::map<std::uint16_t, std::optional<Remote>> in_flight;
    /// What waits until another command is in flight beside it.
    std::deque<std::function<bool()>> waiting;
    std::shared_ptr<Controller> controller;

private:
    struct Work {
        ibv_send_wr wr{};
        ibv_sge sge{};
        BufferPtr buffer;
        Done done;
    };

    void create(unsigned receives, std::size_t capsule_bytes);
    void destroy();
    void post_receive(unsigned slot);
    void post(Work work);
    void post_pending();
    void complete(const ibv_wc& wc);

    Loop& loop_;
    rdma_cm_id* id_;
    std::uint16_t qid_;
    std::shared_ptr<ibv_pd> pd_;
    ibv_comp_channel* channel_ = nullptr;
    ibv_cq* cq_ = nullptr;
    std::vector<std::byte> capsules_;
    std::size_t capsule_bytes_ = 0;
    ibv_mr* capsules_mr_ = nullptr;
    std::vector<BufferPtr> pool_;
    std::unordered_map<std::uint64_t, Work> posted_;
    std::deque<Work> pending_;
    std::uint64_t next_work_ = 0;
    OnCapsule on_capsule_;
    bool established_ = false;
    bool ended_ = false;
};

}  // namespace kdp::peer
