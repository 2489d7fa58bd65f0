// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A controller, seen from its admin queue: brought up, asked what it can do, kept
/// alive, shut down. What carries the commands, the transport knows (command_queue.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <nvmf/fabrics.h>
#include <nvmf/identify.h>
#include <kdp/host_id.hpp>

#include "command_queue.hpp"

namespace kdp::fabrics {

// Base 2.0, 3.1.3.2: an admin queue over fabrics has at least 32 entries
inline constexpr std::uint16_t admin_entries = 32;
// and we send one command at a time
inline constexpr std::uint16_t admin_depth = 1;

/// I/O queues of one controller at most (Base 2.0, figure 311: 65535 is not to be asked for).
inline constexpr unsigned queues_at_most = 65534;

/// A queue of n entries holds n - 1 commands.
constexpr std::uint16_t queue_entries(unsigned depth)
{
    return static_cast<std::uint16_t>(depth + 1);
}

/// Whose controller it is to be, for which host.
struct Subsystem {
    std::string nqn;
    HostIdentity host;
    std::uint32_t keep_alive_ms = 0;
    bool keyed_sgls = false;  ///< the transport needs them (RDMA)
    /// ask for I/O queues without flow control (TCP: fewer PDUs); they are never overfilled
    bool no_sq_flow = false;
};

class Admin {
public:
    /// Connect the admin queue, which the transport has opened for @ref admin_entries, enable
    /// the controller and identify it. Every command is bounded by 10 s, readiness by what the
    /// controller says, and all of it by @p patience, which holds for what follows too.
    static Result<std::unique_ptr<Admin>> open(std::unique_ptr<CommandQueue> queue,
                                               Subsystem subsystem, Patience patience = {});

    /// Shuts the controller down in order, if it is still there; bounded.
    ~Admin();
    Admin(const Admin&) = delete;
    Admin& operator=(const Admin&) = delete;

    /// Have @p count I/O queues allotted. EBUSY, and how many there are, when they are fewer.
    Status ask_for_queues(unsigned count);

    /// With its identifiers, as far as the controller tells them.
    /// ENODEV unless @p nsid is an active namespace.
    Result<nvmf_ns_info> identify_namespace(std::uint32_t nsid);

    /// EINVAL, with a sentence, unless an I/O queue may have @p depth commands in flight.
    [[nodiscard]] Status check_depth(unsigned depth) const;
    /// Fabrics Connect on I/O queue @p qid (1 and up), which the transport has opened for
    /// queue_entries(@p depth) and this controller's cntlid().
    Status join(CommandQueue& queue, std::uint16_t qid, unsigned depth);

    /// One Keep Alive command. ETIMEDOUT, ENOTCONN: the controller is lost. Gives up
    /// soon once @p stop is signalled.
    Status keep_alive(const Latch& stop);

    /// For all commands from now on.
    void set_patience(Patience patience) noexcept { patience_ = patience; }

    [[nodiscard]] const nvmf_ctrl_info& info() const noexcept { return info_; }
    [[nodiscard]] std::uint16_t cntlid() const noexcept { return cntlid_; }
    [[nodiscard]] unsigned max_depth() const noexcept;
    [[nodiscard]] CommandQueue& queue() noexcept { return *queue_; }

private:
    Admin(std::unique_ptr<CommandQueue> queue, Subsystem subsystem, Patience patience)
        : queue_(std::move(queue)), subsystem_(std::move(subsystem)), patience_(patience)
    {
    }
    Result<nvmf_response> command(const nvmf_sqe& sqe, PageData data, const char* what);
    Result<std::uint16_t> connect(CommandQueue& queue, std::uint16_t qid, unsigned entries,
                                  std::uint32_t keep_alive_ms);
    Result<std::uint64_t> property_get(std::uint32_t offset, bool eight_bytes, const char* what);
    Status property_set(std::uint32_t offset, std::uint32_t value, const char* what);
    Status enable();
    Result<nvmf_response> ask(std::uint8_t cns, std::uint32_t nsid, const char* what);
    Status identify();
    Status describe(std::uint32_t nsid, const std::string& name, nvmf_ns_info& info);
    void shut_down();
    [[nodiscard]] const std::string& peer() const noexcept { return queue_->peer(); }

    std::unique_ptr<CommandQueue> queue_;
    Subsystem subsystem_;
    Patience patience_;
    std::chrono::milliseconds step_time_{10000};  // one command
    std::uint64_t cap_ = 0;
    std::uint32_t cc_ = 0;
    std::uint16_t cntlid_ = NVMF_CNTLID_DYNAMIC;
    nvmf_ctrl_info info_{};
};

}  // namespace kdp::fabrics
