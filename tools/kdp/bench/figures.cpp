// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/figures.hpp"

#include <algorithm>

namespace kdp::tool::bench {
namespace {

using Value = std::optional<double>;

double an_io(const Turn& turn, double total)
{
    return total / static_cast<double>(turn.ios);
}

double us_an_io(const Turn& turn, std::uint64_t total_ns)
{
    return an_io(turn, static_cast<double>(total_ns)) / 1000;
}

double a_second(const Turn& turn, double total)
{
    return total * 1e9 / static_cast<double>(turn.elapsed_ns);
}

double to_us(double ns)
{
    return ns / 1000;
}
double to_us(std::uint64_t ns)
{
    return static_cast<double>(ns) / 1000;
}

template <auto Latencies::*part>
Value latency_us(const Turn& turn)
{
    return to_us(turn.latency.*part);
}

/// Of reads or of writes, where both are there.
template <auto Turn::*direction, auto Latencies::*part>
Value latency_of_us(const Turn& turn)
{
    if (!(turn.*direction))
        return std::nullopt;
    return to_us((*(turn.*direction)).*part);
}

template <std::uint64_t FabricCounters::*counter>
Value fabric_an_io(const Turn& turn)
{
    if (!turn.fabric)
        return std::nullopt;
    return an_io(turn, static_cast<double>((*turn.fabric).*counter));
}

template <profile::Class c>
Value profiled_us(const Turn& turn)
{
    if (!turn.breakdown)
        return std::nullopt;
    return turn.breakdown->us_an_io(c).value;
}

constexpr Figure all_figures[] = {
    {"iops", "IOPS",
     [](const Turn& t) -> Value { return a_second(t, static_cast<double>(t.ios)); }},
    {"bandwidth_mib_s", "bandwidth, MiB/s",
     [](const Turn& t) -> Value { return a_second(t, static_cast<double>(t.bytes) / (1 << 20)); }},
    {"lat_mean_us", "latency mean, us", latency_us<&Latencies::mean>},
    {"lat_p50_us", "latency p50, us", latency_us<&Latencies::p50>},
    {"lat_p99_us", "latency p99, us", latency_us<&Latencies::p99>},
    {"lat_p99_9_us", "latency p99.9, us", latency_us<&Latencies::p99_9>},
    {"lat_max_us", "latency max, us", latency_us<&Latencies::max>},
    {"lat_read_mean_us", "  of reads: mean, us",
     latency_of_us<&Turn::read_latency, &Latencies::mean>, true},
    {"lat_read_p50_us", "  of reads: p50, us", latency_of_us<&Turn::read_latency, &Latencies::p50>,
     true},
    {"lat_read_p99_us", "  of reads: p99, us", latency_of_us<&Turn::read_latency, &Latencies::p99>,
     true},
    {"lat_write_mean_us", "  of writes: mean, us",
     latency_of_us<&Turn::write_latency, &Latencies::mean>, true},
    {"lat_write_p50_us", "  of writes: p50, us",
     latency_of_us<&Turn::write_latency, &Latencies::p50>, true},
    {"lat_write_p99_us", "  of writes: p99, us",
     latency_of_us<&Turn::write_latency, &Latencies::p99>, true},
    {"system_calls_per_io", "system calls per I/O",
     [](const Turn& t) -> Value {
         if (!t.system_calls)
             return std::nullopt;
         return static_cast<double>(*t.system_calls) / static_cast<double>(t.counted_ios);
     }},
    {"context_switches_per_io", "context switches per I/O",
     [](const Turn& t) -> Value {
         return an_io(t,
                      static_cast<double>(t.cost.voluntary_switches + t.cost.involuntary_switches));
     }},
    {"interrupts_per_io", "interrupts per I/O",
     [](const Turn& t) -> Value {
         if (!t.cost.interrupts)
             return std::nullopt;
         return an_io(t, static_cast<double>(*t.cost.interrupts));
     }},
    {"cpu_process_us_per_io", "CPU this process, us per I/O",
     [](const Turn& t) -> Value { return us_an_io(t, t.cost.process_cpu_ns); }},
    {"cpu_machine_us_per_io", "CPU whole machine, us per I/O",
     [](const Turn& t) -> Value {
         if (!t.cost.machine)
             return std::nullopt;
         return us_an_io(t, t.cost.machine->busy_ns);
     }},

    {"cpu_interrupt_us_per_io", "  of that interrupts, us per I/O",
     [](const Turn& t) -> Value {
         if (!t.cost.machine || !t.cost.machine->interrupt_ns)
             return std::nullopt;
         return us_an_io(t, *t.cost.machine->interrupt_ns);
     }},
    {"cpu_softirq_us_per_io", "  of that softirqs, us per I/O",
     [](const Turn& t) -> Value {
         if (!t.cost.machine || !t.cost.machine->softirq_ns)
             return std::nullopt;
         return us_an_io(t, *t.cost.machine->softirq_ns);
     }},
    {"cpu_application_us_per_io", "CPU of application, us per I/O",
     profiled_us<profile::Class::application>, false, true},
    {"cpu_kernel_path_us_per_io", "CPU of kernel path, us per I/O",
     profiled_us<profile::Class::kernel_path>, false, true},
    {"cpu_provider_calls_us_per_io", "CPU of provider's calls, us per I/O",
     profiled_us<profile::Class::provider_calls>, false, true},
    {"cpu_provider_threads_us_per_io", "CPU of provider's threads, us per I/O",
     profiled_us<profile::Class::provider_threads>, false, true},
    {"cpu_waiting_us_per_io", "CPU of polls in vain, us per I/O",
     profiled_us<profile::Class::waiting>, false, true},
    {"cpu_target_us_per_io", "CPU of target, us per I/O", profiled_us<profile::Class::target>,
     false, true},
    {"cpu_interrupts_us_per_io", "CPU of interrupts, us per I/O",
     profiled_us<profile::Class::interrupts>, false, true},
    {"cpu_other_us_per_io", "CPU of others, us per I/O", profiled_us<profile::Class::other>, false,
     true},
    {"doorbells_per_io", "doorbells per I/O", fabric_an_io<&FabricCounters::doorbells>},
    {"work_requests_per_io", "work requests per I/O", fabric_an_io<&FabricCounters::work_requests>},
    {"cqes_per_io", "CQEs per I/O", fabric_an_io<&FabricCounters::completions>},
    {"registrations_per_io", "registrations per I/O", fabric_an_io<&FabricCounters::registrations>},
    {"bytes_copied_per_byte", "bytes copied per byte moved",
     [](const Turn& t) -> Value {
         if (!t.fabric || !t.fabric->bytes_copied)
             return std::nullopt;
         return static_cast<double>(*t.fabric->bytes_copied) / static_cast<double>(t.bytes);
     }},
};

}  // namespace

std::span<const Figure> figures() noexcept
{
    return all_figures;
}

std::optional<Summary> summarise(const Figure& figure, std::span<const Turn> turns)
{
    const bool any_whole =
        std::any_of(turns.begin(), turns.end(), [](const Turn& turn) { return !turn.interrupted; });
    std::vector<double> values;
    for (const Turn& turn : turns) {
        if (turn.interrupted && any_whole)
            continue;
        if (const auto value = figure.value(turn))
            values.push_back(*value);
    }
    return summarise(std::move(values));
}

std::optional<profile::Projection> projection_of(const Options& options, const Shape& shape,
                                                 const PathResult& result)
{
    const auto breakdown = whole_breakdown(result);
    if (!options.fabric || !breakdown)
        return std::nullopt;
    return profile::project(breakdown->own_us_an_io(), *options.fabric, shape.block_bytes,
                            shape.depth * shape.threads);
}

}  // namespace kdp::tool::bench
