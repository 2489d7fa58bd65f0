// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The system calls of this process, by the tracepoint raw_syscalls:sys_enter.
///
/// Counting is not free: while the tracepoint is on, every system call of the whole machine takes
/// a slower way. So it is done in a stretch of its own, which is not timed. The events are those
/// of CPUs with a filter on this process's threads, not those of threads: those would hook every
/// context switch, and patch the scheduler's code when they come and go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kdp/result.hpp>

#include "unique_fd.hpp"

namespace kdp::tool::bench {

class SystemCallCounter {
public:
    /// Count from now on what all threads that the process has now call, but readv(2), which
    /// the counter itself uses. Errors, with a sentence for the reader of the results:
    ///   ENOENT          no such tracepoint, or tracefs is not mounted
    ///   EACCES, EPERM   it needs CAP_PERFMON
    ///   EXDEV           thread numbers differ from the kernel's: a PID namespace
    [[nodiscard]] static Result<SystemCallCounter> start();

    /// How many so far; exact. EIO.
    [[nodiscard]] Result<std::uint64_t> count() const;

private:
    std::vector<UniqueFd> events_;  // one a CPU
};

/// "(common_pid==7||(common_pid>=9&&common_pid<=12))" for 7, 9, 10, 11, 12: a tracepoint filter.
/// @p threads: sorted, without repetitions, not empty.
[[nodiscard]] std::string thread_filter(const std::vector<int>& threads);

}  // namespace kdp::tool::bench
