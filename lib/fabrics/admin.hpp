// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A controller, seen from its admin queue: brought up, asked what it can do, kept
/// alive, shut down.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nvmf/fabrics.h>
#include <nvmf/identify.h>
#include <kdp/host_id.hpp>

#include "queue.hpp"

namespace kdp::verbs {

class Admin {
public:
    struct Target {
        Endpoint endpoint;
        std::string nqn;
        HostIdentity host;
        std::uint32_t keep_alive_ms = 0;
    };

    /// Connect the admin queue, enable the controller, identify it, and ask for one I/O
    /// queue. Every command is bounded by 10 s, readiness by what the controller says.
    static Result<std::unique_ptr<Admin>> open(Target target);

    /// Shuts the controller down in order, if it is still there; bounded.
    ~Admin();
    Admin(const Admin&) = delete;
    Admin& operator=(const Admin&) = delete;

    /// ENODEV unless @p nsid is an active namespace.
    Result<nvmf_ns_info> identify_namespace(std::uint32_t nsid);

    /// Connect I/O queue 1 for @p depth commands in flight.
    Result<std::unique_ptr<Queue>> open_io_queue(unsigned depth);

    /// One Keep Alive command. ETIMEDOUT, ENOTCONN: the controller is lost. Gives up
    /// soon once @p stop is signalled.
    Status keep_alive(const Latch& stop);

    [[nodiscard]] const nvmf_ctrl_info& info() const noexcept { return info_; }
    [[nodiscard]] unsigned max_depth() const noexcept;
    [[nodiscard]] Queue& queue() noexcept { return *queue_; }

private:
    explicit Admin(Target target) : target_(std::move(target)) {}
    Result<std::uint16_t> fabrics_connect(Queue& queue, std::uint16_t qid, unsigned entries);
    Result<std::uint64_t> property_get(std::uint32_t offset, bool eight_bytes, const char* what);
    Status property_set(std::uint32_t offset, std::uint32_t value, const char* what);
    Status enable();
    Status identify();
    void shut_down();

    Target target_;
    std::unique_ptr<Queue> queue_;
    std::uint64_t cap_ = 0;
    std::uint32_t cc_ = 0;
    std::uint16_t cntlid_ = NVMF_CNTLID_DYNAMIC;
    nvmf_ctrl_info info_{};
    std::chrono::milliseconds command_time_{10000};
};

}  // namespace kdp::verbs
