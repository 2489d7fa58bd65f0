// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/print_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/figures.hpp"
#include "text_table.hpp"
#include "units.hpp"

namespace kdp::tool::bench {
namespace {

constexpr std::size_t line_width = 100;
constexpr const char* unknown = "–";

std::string rdma_line(const RdmaDevice& d)
{
    std::string line = fmt::format("{} ({}, {}, {}", d.name,
                                   d.driver.empty()    ? "driver not known"
                                   : d.driver == "rxe" ? "soft-RoCE, rxe"
                                   : d.driver == "siw" ? "soft-iWARP, siw"
                                                       : d.driver,
                                   d.link_layer, d.state);
    if (d.mtu != 0)
        line += fmt::format(", MTU {}", d.mtu);
    line += ")";
    if (!d.netdev.empty())
        line += fmt::format(" on {}, MTU {}", d.netdev, d.netdev_mtu);
    return line;
}

std::string header(const Options& options, const Environment& env, const RunReport& report)
{
    std::string out;
    const auto line = [&](const char* name, const std::string& text) {
        out += wrap(fmt::format("{:<10}{}", name, text), line_width, 10) + "\n";
    };
    line("kernel", env.kernel);
    line("cpu",
         fmt::format("{}, {} online{}", env.cpu_model.empty() ? "model not known" : env.cpu_model,
                     env.cpus, env.mitigations_off ? ", mitigations off" : ""));
    line("machine", fmt::format("{}{}{}",
                                env.emulated          ? "emulated"
                                : env.virtual_machine ? "virtual"
                                                      : "physical",
                                env.machine.empty() ? "" : ": ", env.machine));
    line("clock", fmt::format("{}, {:.0f} ns a look", env.clock_source, report.clock_ns));
    if (env.rdma.empty())
        line("rdma", "no device");
    for (const RdmaDevice& device : env.rdma)
        line("rdma", rdma_line(device));
    line("load",
         fmt::format("{}, {} a piece, depth {}, {} a path and round, rounds: {}, the first {} "
                     "of each path, seed {}{}",
                     workload_name(options.workload), format_bytes(options.block_bytes),
                     options.depth,
                     options.ios != 0 ? fmt::format("{} I/Os", options.ios)
                                      : fmt::format("{} s", options.runtime_s),
                     options.rounds, format_bytes(report.region_bytes), options.seed,
                     options.cpu >= 0 ? fmt::format(", on CPU {}", options.cpu) : ""));
    for (const std::string& sentence : distortions(env))
        line("note", sentence);
    return out;
}

std::string legend(const RunReport& report)
{
    std::string out;
    for (std::size_t i = 0; i < report.paths.size(); i++) {
        const PathReport& path = report.paths[i];
        out += fmt::format("[{}] {}\n    {}, {} in blocks of {}, RDMA device {}\n", i + 1, path.uri,
                           path.info.device, format_bytes(path.info.blocks * path.info.block_size),
                           path.info.block_size,
                           path.info.provider.empty() ? unknown : path.info.provider);
    }
    return out;
}

std::string table(const RunReport& report)
{
    std::vector<TextTable::Column> columns{
        {report.paths.front().turns.size() > 1 ? "median (least-most) of the rounds" : "",
         Align::left}};
    for (std::size_t i = 0; i < report.paths.size(); i++)
        columns.push_back({fmt::format("[{}] {}", i + 1, report.paths[i].label), Align::right});
    TextTable table(std::move(columns));
    for (const Figure& figure : figures()) {
        std::vector<std::string> row{std::string(figure.heading)};
        for (const PathReport& path : report.paths) {
            const auto summary = summarise(figure, path.turns);
            if (!summary)
                row.push_back(unknown);
            else if (path.turns.size() == 1)
                row.push_back(format_figure(summary->median));
            else
                row.push_back(fmt::format("{} ({}-{})", format_figure(summary->median),
                                          format_figure(summary->min),
                                          format_figure(summary->max)));
        }
        table.add_row(std::move(row));
    }
    return table.to_string();
}

std::string notes(const Options& options, const RunReport& report)
{
    std::string out;
    const auto note = [&](const std::string& text) {
        out += wrap("* " + text, line_width, 2) + "\n";
    };
    if (!report.why_no_system_calls.empty())
        note("System calls are not counted: " + report.why_no_system_calls + ".");
    const auto lacks_machine = [](const Turn& turn) { return !turn.cost.machine; };
    const auto lacks_fabric = [](const PathReport& path) {
        return std::any_of(path.turns.begin(), path.turns.end(),
                           [](const Turn& turn) { return !turn.fabric; });
    };
    for (const PathReport& path : report.paths)
        if (std::any_of(path.turns.begin(), path.turns.end(), lacks_machine)) {
            note(
                "The machine's CPU time comes in ticks of 10 ms: measurements under 0.5 s say "
                "nothing.");
            break;
        }
    if (std::any_of(report.paths.begin(), report.paths.end(), lacks_fabric))
        note("Doorbells and the like are known for kdp's own paths only.");
    if (options.verify) {
        std::uint64_t blocks = 0;
        for (const PathReport& path : report.paths)
            for (const Turn& turn : path.turns)
                blocks += turn.verified_blocks;
        note(fmt::format("{} blocks were read and compared with their pattern{}.", blocks,
                         report.failure ? "" : ", all equal"));
        if (!is_write(options.workload))
            note(
                fmt::format("IOPS and CPU times include the comparison, about {} us an I/O; "
                            "latencies do not, at depth 1.",
                            format_figure(report.check_ns / 1000)));
    }
    if (report.interrupted)
        note("Interrupted: the last measurement is shorter, further ones are missing.");
    return out;
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t indent)
{
    std::string out;
    std::size_t begin = 0, room = width;
    while (text.size() - begin > room) {
        auto blank = text.rfind(' ', begin + room);
        if (blank == std::string::npos || blank <= begin)
            blank = text.find(' ', begin + 1);
        if (blank == std::string::npos)
            break;
        out += text.substr(begin, blank - begin) + "\n" + std::string(indent, ' ');
        begin = blank + 1;
        room = width - indent;
    }
    return out + text.substr(begin);
}

std::string to_text(const Options& options, const Environment& environment, const RunReport& report)
{
    std::string out = header(options, environment, report);
    if (report.paths.empty())
        return out;
    out += "\n" + legend(report) + "\n" + table(report);
    const std::string remarks = notes(options, report);
    if (!remarks.empty())
        out += "\n" + remarks;
    return out;
}

}  // namespace kdp::tool::bench
