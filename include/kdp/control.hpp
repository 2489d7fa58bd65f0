// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Control of the kdp_host module by generic netlink: connect, disconnect, change, rescan,
/// describe.
///
/// Each call opens a socket of its own, so all of them may be called from any thread.
/// They sleep until the module has answered. Errors carry the module's own sentence and
/// the exact errno that <kdp/kdp_netlink.h> lists; besides:
///   ENODEV     the module is not loaded
///   EPERM      connect, disconnect, reset, set and rescan need CAP_NET_ADMIN and CAP_SYS_ADMIN
///   ETIMEDOUT  no answer after 70 s
///   EPROTO     the module's answer makes no sense (another version)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kdp/kdp_netlink.h>
#include <kdp/address.hpp>
#include <kdp/export.hpp>
#include <kdp/host_id.hpp>
#include <kdp/result.hpp>

namespace kdp::control {

/// What to connect to. An empty optional leaves the choice to the module.
struct ConnectRequest {
    SocketAddress traddr{};                   ///< where the target listens, with its port
    SocketAddress host_traddr{};              ///< local address; empty: the route decides
    std::string subsystem_nqn{};              ///< which of the target's subsystems, 1 to 223 bytes
    HostIdentity host{};                      ///< who we are to it: host_identity()
    std::optional<std::uint32_t> instance{};  ///< N of the name kdpN
    std::optional<std::uint32_t> nr_io_queues{};     ///< for what the others do not take
    std::optional<std::uint32_t> nr_write_queues{};  ///< for all but reads
    std::optional<std::uint32_t> nr_poll_queues{};   ///< for I/O whose issuer polls
    std::optional<std::uint32_t> queue_size{};       ///< entries of an I/O queue
    std::optional<std::uint32_t> keep_alive_ms{};    ///< keep-alive timeout
    std::optional<std::uint32_t> cq_mode{};          ///< enum kdp_cq_mode_attr
    std::optional<std::int32_t> spin_us{};           ///< 0: sleep at once, -1: never
    std::optional<std::int32_t> ctrl_loss_tmo{};     ///< s; 0: no reconnect, -1: for ever
    std::optional<std::int32_t> fast_io_fail_tmo{};  ///< s; -1: as long as ctrl_loss_tmo
    std::optional<std::uint32_t> reconnect_delay{};  ///< s, the longest
    bool duplicate = false;                          ///< a second connection to the same is wanted
};

/// What connect() made.
struct Connected {
    std::uint32_t instance = 0;  ///< N of the name kdpN
    std::string name;            ///< "kdp0"
};

/// Connect and wait for the namespaces. When it returns, the kernel knows the devices;
/// wait_for_nodes() waits for /dev.
[[nodiscard]] KDP_API Result<Connected> connect(const ConnectRequest& request);

/// Shut one controller down in order; returns when everything is gone.
[[nodiscard]] KDP_API Status disconnect(std::uint32_t instance);

/// Have the connection made anew; returns at once: the state tells how it went (is_settled()).
[[nodiscard]] KDP_API Status reset(std::uint32_t instance);

/// What to change of a connected controller; at least one of them.
struct Settings {
    std::optional<std::uint32_t> cq_mode{};  ///< enum kdp_cq_mode_attr
    std::optional<std::int32_t> spin_us{};   ///< 0: sleep at once, -1: never
};

/// Change a controller while it works; returns when it is done. EINVAL when there is nothing to
/// change, ENODEV when there is no such controller, ENOMEM when all is as it was.
[[nodiscard]] KDP_API Status set(std::uint32_t instance, const Settings& settings);

/// Make the disks of one controller what its target lists now: add, remove, resize. Returns
/// when done. Where the target tells of changes by itself, nobody needs this.
///   ENODEV      no such controller, or there is no connection and none is coming
///   EAGAIN      the connection is just being made anew: that looks, too
///   ECONNRESET  the connection broke meanwhile
///   EIO         the target does not list its namespaces
[[nodiscard]] KDP_API Status rescan(std::uint32_t instance);

/// An identifier of a namespace, as it is written; empty where the controller tells none.
template <std::size_t bytes>
using NamespaceId = std::optional<std::array<std::uint8_t, bytes>>;

/// A namespace that is connected, with its devices.
struct Namespace {
    std::uint32_t nsid = 0;        ///< its identifier in the subsystem
    std::string disk;              ///< "kdp0n1"
    std::string char_device;       ///< "kdpg0n1"
    std::uint64_t blocks = 0;      ///< logical blocks
    std::uint32_t block_size = 0;  ///< bytes
    NamespaceId<16> uuid{};        ///< UUID
    NamespaceId<16> nguid{};       ///< Namespace Globally Unique Identifier
    NamespaceId<8> eui64{};        ///< IEEE Extended Unique Identifier
};

/// Sums over the I/O queues since the connect; see enum kdp_stat.
struct Stats {
    std::array<std::uint64_t, KDP_S_MAX + 1> by_id{};  ///< indexed by enum kdp_stat
};

/// The name of each counter, for JSON and tables: KDP_S_WR_SEND is "wr_send".
struct StatName {
    kdp_stat id;            ///< index into Stats::by_id
    std::string_view name;  ///< "wr_send"
};
/// All counters that this version knows.
[[nodiscard]] KDP_API std::span<const StatName> stat_names() noexcept;

/// A controller, connected or not just now.
struct Controller {
    std::uint32_t instance = 0;               ///< N of the name kdpN
    std::string name;                         ///< "kdp0"
    std::uint32_t state = KDP_STATE_NEW;      ///< enum kdp_ctrl_state
    SocketAddress traddr;                     ///< where its target listens
    std::string subsystem_nqn;                ///< of the target
    std::string host_nqn;                     ///< who we are to it
    std::uint32_t cntlid = 0;                 ///< the target's number of it
    std::string serial;                       ///< as the target tells it
    std::string model;                        ///< as the target tells it
    std::string firmware;                     ///< its revision, as the target tells it
    std::string rdma_device;                  ///< "rxe0"
    std::uint32_t nr_io_queues = 0;           ///< of all sets
    std::uint32_t nr_write_queues = 0;        ///< of them, those without reads
    std::uint32_t nr_poll_queues = 0;         ///< of them, those that are polled
    std::uint32_t queue_size = 0;             ///< commands in flight an I/O queue
    std::uint32_t keep_alive_ms = 0;          ///< keep-alive timeout
    std::uint32_t cq_mode = KDP_MODE_THREAD;  ///< enum kdp_cq_mode_attr
    std::int32_t spin_us = 0;                 ///< 0: sleep at once, -1: never
    std::int32_t ctrl_loss_tmo = 0;           ///< s
    std::int32_t fast_io_fail_tmo = 0;        ///< s
    std::uint32_t reconnect_delay = 0;        ///< s
    std::uint32_t reconnects = 0;             ///< how often the connection was made anew
    std::string reason;                       ///< why it broke last; empty if it never did
    std::uint32_t max_transfer = 0;           ///< bytes
    std::uint32_t inline_size = 0;            ///< bytes of a write in the capsule
    Stats stats;                              ///< of all I/O queues
    std::vector<Namespace> namespaces;        ///< by nsid
};

/// One queue of a connected controller.
struct Queue {
    std::uint32_t instance = 0;               ///< N of the name kdpN
    std::string controller;                   ///< "kdp0"
    std::uint32_t qid = 0;                    ///< 0: the admin queue
    std::uint32_t cpu = 0;                    ///< where completions are wanted
    std::uint32_t cq_mode = KDP_MODE_THREAD;  ///< enum kdp_cq_mode_attr
    std::uint32_t set = KDP_SET_ADMIN;        ///< enum kdp_queue_set
    std::uint32_t depth = 0;                  ///< commands in flight at most
    Stats stats;                              ///< of this queue
};

/// A change of a controller's state.
struct Event {
    std::uint32_t instance = 0;           ///< N of the name kdpN
    std::string controller;               ///< "kdp0"
    std::uint32_t state = KDP_STATE_NEW;  ///< the new one
    std::string subsystem_nqn;            ///< of the target
    std::uint32_t reconnects = 0;         ///< how often the connection was made anew
    std::string reason;                   ///< why the connection broke last; empty if it never did
};

/// Hears of the state changes of this network namespace, from its making on. Needs no privilege.
class KDP_API Monitor {
public:
    /// Begin to hear.
    [[nodiscard]] static Result<Monitor> open();
    /// The other one must not be used any more, but be assigned to.
    Monitor(Monitor&&) noexcept;
    /// The other one must not be used any more, but be assigned to.
    Monitor& operator=(Monitor&&) noexcept;
    ~Monitor();

    /// Wait for the next. ENOBUFS: some were lost, since they were not fetched in time; the next
    /// call goes on. EINTR: a signal came.
    [[nodiscard]] Result<Event> next();

private:
    struct Impl;
    explicit Monitor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// "new", "connecting", "live", "failed", "deleting", "resetting", "gone"; "unknown" for what
/// this version knows not.
[[nodiscard]] KDP_API std::string_view state_name(std::uint32_t state) noexcept;

/// "thread", "event", "caller"; "unknown" for what this version knows not.
[[nodiscard]] KDP_API std::string_view cq_mode_name(std::uint32_t mode) noexcept;
/// enum kdp_cq_mode_attr of cq_mode_name(); nullopt for anything else.
[[nodiscard]] KDP_API std::optional<std::uint32_t> cq_mode_of_name(std::string_view name) noexcept;

/// Is there nothing to wait for: neither a connection that is being made, nor a controller that
/// goes?
[[nodiscard]] KDP_API bool is_settled(std::uint32_t state) noexcept;

/// "admin", "default", "read", "poll"; "unknown" for what this version knows not.
[[nodiscard]] KDP_API std::string_view queue_set_name(std::uint32_t set) noexcept;

/// All controllers of this network namespace, by instance. Needs no privilege.
[[nodiscard]] KDP_API Result<std::vector<Controller>> list();
/// One of them. ENODEV when there is no such controller.
[[nodiscard]] KDP_API Result<Controller> get(std::uint32_t instance);

/// The queues of all connected controllers of this network namespace, or of one, by controller
/// and queue. Needs no privilege. ENODEV when there is no such controller; one that is just
/// connecting or disconnecting has no queues.
[[nodiscard]] KDP_API Result<std::vector<Queue>> queues(std::optional<std::uint32_t> instance);

/// Wait until the nodes of the controller and all its namespaces stand in @p dev_directory.
/// ETIMEDOUT after @p timeout_ms names the missing one.
[[nodiscard]] KDP_API Status wait_for_nodes(const Controller& controller, int timeout_ms,
                                            const std::string& dev_directory = "/dev");

/// N of "kdpN" or "/dev/kdpN"; nullopt for anything else.
[[nodiscard]] KDP_API std::optional<std::uint32_t> instance_of_name(std::string_view name);

}  // namespace kdp::control
