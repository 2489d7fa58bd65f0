// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One command at a time, waited for: what connecting and administration need.
#pragma once

#include <nvmf/capsule.h>

#include "queue.hpp"

namespace kdp::verbs {

/// Send @p sqe and sleep until it is answered. Its data are the first @p bytes of the
/// queue's scratch page, either way; 0 for a command without data.
///
/// Returns the response, whatever its status. ETIMEDOUT after @p deadline, ENOTCONN
/// when the connection ended: in both cases the queue is broken afterwards, so that a
/// late answer finds nothing to write to. The caller owns the queue and its CM events.
/// Once @p hurry is signalled, by another thread, it waits no more than a second.
Result<nvmf_response> run_command(Queue& queue, const nvmf_sqe& sqe, std::size_t bytes,
                                  Deadline deadline, const char* what,
                                  const Latch* hurry = nullptr);

/// The same, and a status other than success is an Error too.
Result<nvmf_response> run_checked(Queue& queue, const nvmf_sqe& sqe, std::size_t bytes,
                                  Deadline deadline, const char* what,
                                  const Latch* hurry = nullptr);

}  // namespace kdp::verbs
