// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/cost.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <string>

#include "bench/clock.hpp"
#include "bench/interrupts.hpp"

namespace kdp::tool::bench {
namespace {

constexpr std::uint64_t machine_time_needs_ns = 500'000'000;

std::optional<MachineTime> read_machine_time()
{
    std::ifstream file("/proc/stat");
    std::string cpu;
    // user nice system idle iowait irq softirq
    std::array<std::uint64_t, 7> ticks{};
    file >> cpu;
    for (auto& value : ticks)
        file >> value;
    const long hz = sysconf(_SC_CLK_TCK);
    if (!file || cpu != "cpu" || hz <= 0)
        return std::nullopt;
    const std::uint64_t tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(hz);
    const auto [user, nice, system, idle, iowait, irq, softirq] = ticks;
    MachineTime time{(user + nice + system + irq + softirq) * tick_ns, {}, {}};
    // not one tick since boot: this kernel books interrupts on whom they interrupt
    if (irq != 0)
        time.interrupt_ns = irq * tick_ns;
    if (softirq != 0)
        time.softirq_ns = softirq * tick_ns;
    return time;
}

MachineTime difference(const MachineTime& end, const MachineTime& begin)
{
    // the tallies of /proc/stat may step back a little
    const auto minus = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
    MachineTime time{minus(end.busy_ns, begin.busy_ns), {}, {}};
    if (end.interrupt_ns && begin.interrupt_ns)
        time.interrupt_ns = minus(*end.interrupt_ns, *begin.interrupt_ns);
    if (end.softirq_ns && begin.softirq_ns)
        time.softirq_ns = minus(*end.softirq_ns, *begin.softirq_ns);
    return time;
}

}  // namespace

CostSample cost_so_far()
{
    CostSample sample;
    timespec cpu{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    sample.total.process_cpu_ns = static_cast<std::uint64_t>(cpu.tv_sec) * 1'000'000'000 +
                                  static_cast<std::uint64_t>(cpu.tv_nsec);
    sample.total.process_user_ns =
        static_cast<std::uint64_t>(usage.ru_utime.tv_sec) * 1'000'000'000 +
        static_cast<std::uint64_t>(usage.ru_utime.tv_usec) * 1000;
    sample.total.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
    sample.total.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
    sample.total.machine = read_machine_time();
    sample.total.interrupts = interrupts_so_far();
    sample.wall_ns = now_ns();
    return sample;
}

Cost cost_between(const CostSample& begin, const CostSample& end)
{
    const Cost &a = begin.total, &b = end.total;
    Cost cost;
    cost.voluntary_switches = b.voluntary_switches - a.voluntary_switches;
    cost.involuntary_switches = b.involuntary_switches - a.involuntary_switches;
    cost.process_cpu_ns = b.process_cpu_ns - a.process_cpu_ns;
    cost.process_user_ns = b.process_user_ns - a.process_user_ns;
    if (a.machine && b.machine && end.wall_ns - begin.wall_ns >= machine_time_needs_ns)
        cost.machine = difference(*b.machine, *a.machine);
    if (a.interrupts && b.interrupts)
        cost.interrupts = *b.interrupts - *a.interrupts;
    return cost;
}

}  // namespace kdp::tool::bench
