// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Which class a sample belongs to: the rules, all of them. Nothing here asks the system; what
/// has to be known of it is in Roles.
///
/// 1. The context. From the innermost frame outwards, the first that enters an interrupt ends the
///    chain: what lies beyond it was interrupted and has no part in it.
///
/// 2. The owner. Of what is left, the innermost frame whose module has a role says whose work it
///    is; modules without one (the block layer, TCP/IP, ib_core) work for who called them.
///
///      role       modules                                    how they are found (modules.hpp)
///      path       kdp_host, kdp_core, nvme*, rnbd_client     by name
///      provider   rdma_rxe, siw, mlx5_ib and mlx5_core, …    they use ib_uverbs; what they use
///      target     nvmet*, null_blk, kdp_target, rnbd_server  by name
///
///    The calls by which a provider without a user-space data path enters the kernel
///    (ib_uverbs_write and the functions of ib_uverbs that post, poll and arm) are the provider's.
///
/// 3. The class.
///
///      context          owner      class
///      idle task        –          idle
///      hard interrupt   target     target
///                       else       interrupts
///      soft interrupt   path       kernel path
///                       provider   target, if called by it; provider calls, if called by the
///                                  path; else provider threads
///                       target     target
///                       none       by what the soft interrupt does, see below
///      task             path       kernel path
///                       provider   as above; in a thread of the path always provider calls
///                       target     target
///                       none       in a thread of the path: provider calls, if the provider's
///                                  library made the system call, else kernel path; in a thread
///                                  of the kernel: see below; in another process: other
///      user space       –          application, or provider calls in the provider's library
///
/// A soft interrupt that nobody owns: of the network, with a software provider, it carries the
/// provider's packets (provider threads); with TCP it is the path's own transport (kernel path).
/// TCP to a target on this machine receives inside the sender's own call: then it is the work of
/// the one who did not send. Completions of the block layer and of ib_core's irq_poll are the
/// path's: the in-tree nvme-rdma and kdp are served there, nvmet is by work items. All others
/// (timers, RCU, the scheduler) are interrupts.
///
/// A thread of the kernel that nobody owns: ib_core's work item that serves a CQ is nvmet's where
/// nvmet-rdma is loaded. What a worker does between its work items (it goes to sleep, is woken,
/// looks for the next) is shared out over the classes of that thread's own work items, see Tally;
/// a thread without any goes to other.
///
/// Waiting. A loop that polls a CQ burns time without doing anything: in the kernel, below
/// kdp_conn_spin(), blk_mq_poll() and the like, unless the path handles a completion there; kdp's
/// thread that polls, unless it handles one, or arms its CQs and goes to sleep; in user space, in
/// what libkdp has marked (lib/polling_code.hpp). A poll that finds something looks the same up to
/// there and counts as waiting, too.
///
/// What this cannot tell: soft-RoCE works for both ends of a connection, so that on a machine that
/// is its own target the provider's share is that of two. Code that runs with interrupts off is
/// seen where they are switched on again. A provider that is built into the kernel has no module.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "profile/classes.hpp"
#include "profile/sample.hpp"

namespace kdp::tool::profile {

struct Roles {
    using Modules = std::set<std::string, std::less<>>;

    Modules path;
    Modules provider;
    Modules target;

    /// Whose the network's soft interrupts are.
    enum class Network : std::uint8_t { nobody, provider, path };
    Network network = Network::nobody;
    /// A target that may be this path's runs on this machine.
    bool local_target = false;
};

/// nullopt: a thread of the kernel between its works, to be shared out.
[[nodiscard]] std::optional<Class> classify(const Sample& sample, const Roles& roles);

/// In a task's context, that is, in no interrupt: what the thread itself was doing.
[[nodiscard]] bool in_task_context(const Sample& sample);

}  // namespace kdp::tool::profile
