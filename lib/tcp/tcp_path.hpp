// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The baseline: an NVMe/TCP host on sockets.
///
///     user's memory ◄──────────────── recvmsg(2) ─┐
///     submit() ─ a batch of capsules ─ sendmsg(2) ─┼─► TCP ◄──► NVMe-oF controller
///     wait() ── poll(2) ───────────────────────────┘
///     keeper thread ─ Keep Alive ─► admin queue
///
/// A batch of commands, with what they carry in the capsule, is one system call; data are sent
/// from and received to where they lie. What is left is what TCP by sockets costs: the
/// kernel's copy of all data, and system calls.
#pragma once

#include <memory>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace kdp {

/// @p count paths to namespace uri.nsid of subsystem uri.nqn at uri.host (numeric IPv4 or IPv6,
/// link-local ones with %interface), with an I/O queue each: a TCP connection of its own.
///
/// Bounded: 10 s to connect, for ICReq, and for each command. The controller must take
/// OpenOptions::depth commands at a time, else EINVAL tells how many it takes.
///
/// Errors: EBUSY fewer I/O queues than asked for; EINVAL address, port, nsid, depth or NQN that
/// cannot be; EHOSTUNREACH, ENETUNREACH no way; ECONNREFUSED nobody listens; ENOENT no such
/// subsystem; ENODEV no such namespace; EACCES host not allowed; ETIMEDOUT; EPROTO,
/// EPROTONOSUPPORT, EOPNOTSUPP a controller that cannot be used, or that refuses a digest.
///
/// A connection that is lost completes what is in flight with ENOTCONN (EIO after a violation of
/// the protocol) and fails every later submit() of all the paths with ENOTCONN; there is no
/// reconnecting. With uri.ddgst a read whose data were damaged on the way completes with EIO
/// and NVMe status 0x22 (Transient Transport Error), and the connection stays; a header that was
/// damaged ends it. The destructor waits up to 5 s for I/O in flight, and is bounded by some
/// more seconds for an orderly shutdown.
///
/// A process that forks must not use the path in the child.
Result<std::vector<std::unique_ptr<DataPath>>> open_tcp_paths(const PathUri& uri,
                                                              const OpenOptions& options,
                                                              unsigned count);

}  // namespace kdp
