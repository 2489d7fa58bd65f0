// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/figures.hpp"

#include <algorithm>

namespace kdp::tool::advise {
namespace {

constexpr std::string_view machine_key = "cpu_machine_us_per_io";
constexpr std::string_view process_key = "cpu_process_us_per_io";
constexpr double tick_us = 10'000;  // USER_HZ: what /proc/stat counts in

}  // namespace

std::string_view figure_key(Figure figure) noexcept
{
    switch (figure) {
        case Figure::latency:
            return "latency";
        case Figure::tail:
            return "tail";
        case Figure::iops:
            return "iops";
        case Figure::cpu:
            return "cpu";
    }
    return "";
}

std::string_view figure_name(Figure figure) noexcept
{
    switch (figure) {
        case Figure::latency:
            return "latency, mean";
        case Figure::tail:
            return "latency, p99";
        case Figure::iops:
            return "IOPS";
        case Figure::cpu:
            return "CPU time per I/O";
    }
    return "";
}

std::string_view figure_unit(Figure figure) noexcept
{
    return figure == Figure::iops ? "1/s" : "µs";
}

std::string_view summary_key(Figure figure, const document::Point& point,
                             const std::vector<std::size_t>& paths) noexcept
{
    switch (figure) {
        case Figure::latency:
            return "lat_mean_us";
        case Figure::tail:
            return "lat_p99_us";
        case Figure::iops:
            return "iops";
        case Figure::cpu:
            break;
    }
    const bool everywhere = std::all_of(paths.begin(), paths.end(), [&](std::size_t path) {
        const document::PathResult* result = point.find(path);
        return !result || result->failure || result->find(machine_key);
    });
    return everywhere ? machine_key : process_key;
}

document::Estimate as_measured(const document::PathResult& result, std::string_view key,
                               const document::Estimate& estimate) noexcept
{
    document::Estimate widened = estimate;
    if (key == machine_key && widened.half_width && result.least_ios != 0)
        widened.half_width =
            std::max(*widened.half_width, tick_us / static_cast<double>(result.least_ios));
    return widened;
}

}  // namespace kdp::tool::advise
