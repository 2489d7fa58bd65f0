// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/figure_names.hpp"

namespace kdp::tool::document {
namespace {

struct Known {
    std::string_view key, name, unit;
};

constexpr Known all_known[] = {
    {"iops", "IOPS", "1/s"},
    {"bandwidth_mib_s", "bandwidth", "MiB/s"},
    {"lat_mean_us", "latency, mean", "µs"},
    {"lat_p50_us", "latency, p50", "µs"},
    {"lat_p99_us", "latency, p99", "µs"},
    {"lat_p99_9_us", "latency, p99.9", "µs"},
    {"lat_max_us", "latency, most", "µs"},
    {"system_calls_per_io", "system calls per I/O", ""},
    {"context_switches_per_io", "context switches per I/O", ""},
    {"interrupts_per_io", "interrupts per I/O", ""},
    {"cpu_process_us_per_io", "CPU time per I/O, this process", "µs"},
    {"cpu_machine_us_per_io", "CPU time per I/O, whole machine", "µs"},
    {"cpu_interrupt_us_per_io", "CPU time per I/O, interrupts", "µs"},
    {"cpu_softirq_us_per_io", "CPU time per I/O, soft interrupts", "µs"},
    {"cpu_application_us_per_io", "CPU time per I/O, sampled: application", "µs"},
    {"cpu_kernel_path_us_per_io", "CPU time per I/O, sampled: kernel path", "µs"},
    {"cpu_provider_calls_us_per_io", "CPU time per I/O, sampled: provider calls", "µs"},
    {"cpu_provider_threads_us_per_io", "CPU time per I/O, sampled: provider threads", "µs"},
    {"cpu_waiting_us_per_io", "CPU time per I/O, sampled: polls in vain", "µs"},
    {"cpu_target_us_per_io", "CPU time per I/O, sampled: target", "µs"},
    {"cpu_interrupts_us_per_io", "CPU time per I/O, sampled: interrupts", "µs"},
    {"cpu_other_us_per_io", "CPU time per I/O, sampled: other", "µs"},
    {"doorbells_per_io", "doorbells per I/O", ""},
    {"work_requests_per_io", "work requests per I/O", ""},
    {"cqes_per_io", "CQEs per I/O", ""},
    {"registrations_per_io", "registrations per I/O", ""},
    {"bytes_copied_per_byte", "bytes copied per byte moved", ""},
};

}  // namespace

FigureName figure_name(std::string_view key)
{
    for (const Known& known : all_known)
        if (known.key == key)
            return {std::string(known.name), std::string(known.unit)};
    return {std::string(key), ""};
}

}  // namespace kdp::tool::document
