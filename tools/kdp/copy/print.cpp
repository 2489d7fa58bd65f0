// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "copy/print.hpp"

#include <fmt/format.h>

#include "units.hpp"

namespace kdp::tool::copy {
namespace {

double seconds(const Report& report)
{
    return static_cast<double>(report.elapsed_ns) / 1e9;
}

std::string rate(const Report& report)
{
    if (report.elapsed_ns == 0)
        return "-";
    return format_bytes(
               static_cast<std::uint64_t>(static_cast<double>(report.bytes) / seconds(report))) +
           "/s";
}

std::string device_at(const Options& options)
{
    return options.offset ? fmt::format("{}@{}", options.device, options.offset) : options.device;
}

std::string data_line(const Options& options, const Report& report)
{
    if (options.buffered)
        return "through memory of this process";
    return fmt::format("{} regions of up to {}, {} registrations", report.regions,
                       format_bytes(report.region_bytes), report.registrations);
}

}  // namespace

nlohmann::ordered_json to_json(const Options& options, const Report& report)
{
    return {{"schema", copy_schema},
            {"direction", options.to_device ? "to-device" : "to-file"},
            {"file", options.file},
            {"device", options.device},
            {"offset", options.offset},
            {"mode", kernel_mode_name(report.mode)},
            {"data", options.buffered ? "buffered" : "regions"},
            {"depth", options.depth},
            {"command_bytes", report.command_bytes},
            {"bytes", report.bytes},
            {"padding_bytes", report.padding_bytes},
            {"seconds", seconds(report)},
            {"cpu_us", report.cpu_user_us + report.cpu_system_us},
            {"cpu_user_us", report.cpu_user_us},
            {"cpu_system_us", report.cpu_system_us},
            {"commands", report.commands},
            {"regions", report.regions},
            {"registrations", report.registrations},
            {"region_bytes", report.region_bytes},
            {"flushed", report.flushed},
            {"interrupted", report.interrupted}};
}

std::string to_text(const Options& options, const Report& report)
{
    const auto ms = [](std::uint64_t us) { return format_figure(static_cast<double>(us) / 1000); };
    const std::string device = device_at(options);
    std::string text = fmt::format("{} from {} to {}\n", format_bytes(report.bytes),
                                   options.to_device ? options.file : device,
                                   options.to_device ? device : options.file);
    text += fmt::format("  time      {} s, {}\n", format_figure(seconds(report)), rate(report));
    text += fmt::format("  CPU       {} ms: user {} ms, system {} ms\n",
                        ms(report.cpu_user_us + report.cpu_system_us), ms(report.cpu_user_us),
                        ms(report.cpu_system_us));
    text += fmt::format("  commands  {} of up to {}, {} in flight, {}{}\n", report.commands,
                        format_bytes(report.command_bytes), options.depth,
                        kernel_mode_name(report.mode), report.flushed ? "; flushed" : "");
    text += fmt::format("  data      {}\n", data_line(options, report));
    if (report.padding_bytes != 0)
        text += fmt::format("  padding   {} bytes of zeroes\n", report.padding_bytes);
    return text;
}

}  // namespace kdp::tool::copy
