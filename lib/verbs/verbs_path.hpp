// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The userspace-direct path: an NVMe-oF host on libibverbs and librdmacm.
///
///     user's memory ── registered once ──┐
///     submit() ─ SQE ─ ibv_post_send ────┼─► QP ◄──► NVMe-oF controller
///     poll() ◄─ ibv_poll_cq ─────────────┘
///     keeper thread ─ Keep Alive, CM events ─► admin QP
///
/// Reads and long writes name the user's memory by a keyed SGL; the controller WRITEs
/// and READs it. Writes that fit the controller's capsules are gathered by the HCA
/// from where they lie. Nothing is copied and, unless the URI asks for it, nothing is
/// registered per I/O. poll() makes no system call of its own; what a provider does below
/// ibv_poll_cq and ibv_post_send is its own affair (soft-RoCE's ibv_post_send is a write(2)).
/// Documentation/verbs-path.md tells more.
#pragma once

#include <memory>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace kdp {

/// Connect to the namespace that @p uri names, its address numeric, by @p count (1 and up) I/O
/// queues of one controller: a path for each. They share the admin queue and its keeper.
///
/// Bounded: 5 s for address and route each, 10 s to connect and for each command.
/// The controller must take OpenOptions::depth commands at a time, else EINVAL tells
/// how many it takes; there is never less than was asked for.
///
/// Errors: EBUSY fewer I/O queues than asked for; EINVAL address, port, nsid, depth or NQN that
/// cannot be; ENODEV no RDMA device on the way, or no such namespace; EHOSTUNREACH, ENETUNREACH no
/// way; ECONNREFUSED nobody listens or the target refuses; ENOENT no such subsystem; EACCES host
/// not allowed; ETIMEDOUT; EPROTO, EOPNOTSUPP a controller that cannot be used.
///
/// A controller that is lost completes what is in flight with ENOTCONN (EIO after a
/// violation of the protocol) and fails every later submit() with ENOTCONN. With
/// PathUri::ctrl_loss_tmo it is connected again for so long, and what was in flight is sent
/// again; only then, or when another namespace is found, it is lost. The destructor waits up to
/// 5 s for I/O in flight; the last of the paths is bounded by some more seconds for an orderly
/// shutdown.
///
/// A process that forks must not use the path in the child.
Result<std::vector<std::unique_ptr<DataPath>>> open_verbs_paths(const PathUri& uri,
                                                                const OpenOptions& options,
                                                                unsigned count);

}  // namespace kdp
