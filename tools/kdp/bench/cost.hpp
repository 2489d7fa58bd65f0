// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a stretch of work costs: context switches, interrupts and CPU time.
#pragma once

#include <cstdint>
#include <optional>

namespace kdp::tool::bench {

/// CPU time of the whole machine, from /proc/stat: all CPUs, all processes, ns. The kernel counts
/// it in ticks of 10 ms, so that stretches under half a second say nothing.
struct MachineTime {
    std::uint64_t busy_ns = 0;                  ///< all but idle, waiting for I/O, and stolen
    std::optional<std::uint64_t> interrupt_ns;  ///< of that: interrupts, where they are told apart
    std::optional<std::uint64_t> softirq_ns;    ///< of that: softirqs, likewise
};

/// Of all threads of this process, where nothing else is said.
struct Cost {
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
    std::uint64_t process_cpu_ns = 0;   ///< user and system
    std::uint64_t process_user_ns = 0;  ///< the part in user space, as getrusage splits it
    std::optional<MachineTime> machine;
    std::optional<std::uint64_t> interrupts;  ///< of the whole machine, from /proc/interrupts
};

/// The tallies at one moment; their difference is a Cost.
struct CostSample {
    std::uint64_t wall_ns = 0;
    Cost total;
};

[[nodiscard]] CostSample cost_so_far();
[[nodiscard]] Cost cost_between(const CostSample& begin, const CostSample& end);

}  // namespace kdp::tool::bench
