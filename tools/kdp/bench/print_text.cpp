// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/print_text.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/figures.hpp"
#include "bench/print_profile.hpp"
#include "report.hpp"
#include "text_table.hpp"
#include "units.hpp"

namespace kdp::tool::bench {
namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t paths_a_table = 4;
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

template <typename T, typename Name>
std::string join(const std::vector<T>& list, const Name& name)
{
    std::string out;
    for (const T& item : list)
        out += (out.empty() ? "" : ", ") + std::string(name(item));
    return out;
}

std::string load_of(const Options& options, const RunReport& report)
{
    std::string text = join(options.workloads, workload_name);
    if (options.read_percent)
        text += fmt::format(" ({} % reads where mixed)", *options.read_percent);
    text += fmt::format("; {} a piece; depth {}", join(options.block_bytes, format_bytes),
                        fmt::join(options.depths, ", "));
    if (options.threads > 1)
        text += fmt::format(" of each of {} threads", options.threads);
    text += fmt::format("; {} a path and round; rounds: {}; the first {} of each path; seed {}",
                        options.ios != 0 ? fmt::format("{} I/Os", options.ios)
                                         : fmt::format("{} s", options.runtime_s),
                        options.rounds, format_bytes(report.region_bytes), options.seed);
    if (!options.cpus.empty())
        text += fmt::format("; on CPUs {}", fmt::join(options.cpus, ", "));
    return text;
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
    line("load", load_of(options, report));
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

std::string cell(const Figure& figure, const PathResult& result)
{
    const auto summary = summarise(figure, result.turns);
    if (!summary)
        return unknown;
    if (!summary->half_width)
        return format_figure(summary->mean);
    return fmt::format("{} ± {}", format_figure(summary->mean),
                       format_figure(*summary->half_width));
}

std::string numbered(const RunReport& report, std::size_t path)
{
    return fmt::format("[{}] {}", path + 1, report.paths[path].label);
}

std::string first_heading(const Options& options)
{
    return options.rounds > 1 ? "mean of the rounds ± half of its 95 % interval" : "";
}

/// A figure a row; paths @p begin to @p end - 1 are the columns.
std::string table_of_paths(const RunReport& report, const PointReport& point, bool profiled,
                           std::size_t begin, std::size_t end)
{
    std::vector<TextTable::Column> columns{{"", Align::left}};
    for (std::size_t path = begin; path < end; path++)
        columns.push_back({numbered(report, path), Align::right});
    TextTable table(std::move(columns));
    for (const Figure& figure : figures()) {
        if ((figure.only_mixed && !point.shape.mixed()) || (figure.only_profiled && !profiled))
            continue;
        std::vector<std::string> row{std::string(figure.heading)};
        for (std::size_t path = begin; path < end; path++)
            row.push_back(cell(figure, point.results[path]));
        table.add_row(std::move(row));
    }
    return table.to_string();
}

std::string full_table(const RunReport& report, const PointReport& point, bool profiled)
{
    std::string out;
    for (std::size_t begin = 0; begin < report.paths.size(); begin += paths_a_table)
        out += (begin == 0 ? "" : "\n") +
               table_of_paths(report, point, profiled, begin,
                              std::min(begin + paths_a_table, report.paths.size()));
    return out;
}

struct SweepColumn {
    std::string_view key;  ///< of the figure
    const char* heading;
};

constexpr SweepColumn sweep_columns[] = {{"iops", "IOPS"},
                                         {"lat_mean_us", "latency, us"},
                                         {"lat_p99_us", "p99, us"},
                                         {"cpu_process_us_per_io", "CPU process"},
                                         {"cpu_machine_us_per_io", "CPU machine"}};
constexpr SweepColumn sweep_profile_columns[] = {{"cpu_application_us_per_io", "application"},
                                                 {"cpu_kernel_path_us_per_io", "kernel path"},
                                                 {"cpu_provider_calls_us_per_io", "provider calls"},
                                                 {"cpu_provider_threads_us_per_io", "its threads"},
                                                 {"cpu_target_us_per_io", "target"}};

/// A point and path a row.
std::string sweep_table(const RunReport& report, std::span<const SweepColumn> shown)
{
    std::vector<TextTable::Column> columns{
        {"rw", Align::left}, {"bs", Align::right}, {"depth", Align::right}, {"path", Align::left}};
    for (const SweepColumn& column : shown)
        columns.push_back({column.heading, Align::right});
    TextTable table(std::move(columns));
    for (const PointReport& point : report.points) {
        std::vector<std::string> row{std::string(workload_name(point.shape.workload)),
                                     format_bytes(point.shape.block_bytes),
                                     fmt::format("{}", point.shape.depth)};
        for (const PathResult& result : point.results) {
            row.resize(3);  // only the first row of a point says which
            row.push_back(numbered(report, result.path) + (result.failure ? " !" : ""));
            for (const SweepColumn& column : shown)
                for (const Figure& figure : figures())
                    if (figure.key == column.key)
                        row.push_back(cell(figure, result));
            table.add_row(row);
            row.assign(3, "");
        }
    }
    return table.to_string();
}

std::string sweep_tables(const Options& options, const RunReport& report)
{
    std::string out = sweep_table(report, sweep_columns) +
                      "CPU: us per I/O, of this process and of the whole machine";
    if (options.rounds > 1)
        out += "; ±: half of the mean's 95 % interval over the rounds";
    out += "\n";
    if (options.profile)
        out += "\nCPU time by what it is spent on, us per I/O\n" +
               sweep_table(report, sweep_profile_columns);
    return out;
}

std::string tables(const Options& options, const RunReport& report)
{
    if (report.points.size() > 1)
        return sweep_tables(options, report);
    const std::string heading = first_heading(options);
    return (heading.empty() ? "" : heading + "\n") +
           full_table(report, report.points.front(), options.profile);
}

template <typename Predicate>
bool any_turn(const RunReport& report, const Predicate& predicate)
{
    for (const PointReport& point : report.points)
        for (const PathResult& result : point.results)
            if (std::any_of(result.turns.begin(), result.turns.end(), predicate))
                return true;
    return false;
}

std::vector<std::string> notes_on_verification(const Options& options, const RunReport& report)
{
    std::uint64_t blocks = 0;
    bool reads = false;
    for (const PointReport& point : report.points) {
        reads = reads || point.shape.reads();
        for (const PathResult& result : point.results)
            for (const Turn& turn : result.turns)
                blocks += turn.verified_blocks;
    }
    std::vector<std::string> out{
        fmt::format("{} blocks were read and compared with their pattern{}.", blocks,
                    report.failure ? "" : ", all equal")};
    if (reads)
        out.push_back(fmt::format(
            "IOPS and CPU times of reads include the comparison, about {} us for {}; latencies do "
            "not, at depth 1.",
            format_figure(report.check_ns / 1000), format_bytes(options.largest_block())));
    return out;
}

std::vector<std::string> notes_on_failures(const RunReport& report)
{
    std::vector<std::string> out;
    std::vector<bool> told(report.paths.size());
    for (const PointReport& point : report.points)
        for (const PathResult& result : point.results) {
            if (!result.failure || told[result.path])
                continue;
            told[result.path] = true;
            out.push_back(fmt::format(
                "{} FAILED at {}, after {} rounds there, and takes no further part: {} ({}).",
                numbered(report, result.path), describe(point.shape), result.turns.size(),
                result.failure->error.text, errno_name(result.failure->error.code)));
        }
    return out;
}

std::string notes(const Options& options, const RunReport& report)
{
    std::string out;
    const auto note = [&](const std::string& text) {
        out += wrap("* " + text, line_width, 2) + "\n";
    };
    for (const std::string& text : notes_on_failures(report))
        note(text);
    for (const std::string& text : notes_on_profile(options, report))
        note(text);
    if (!report.why_no_system_calls.empty())
        note("System calls are not counted: " + report.why_no_system_calls + ".");
    if (any_turn(report, [](const Turn& turn) { return !turn.cost.machine; }))
        note(
            "The machine's CPU time comes in ticks of 10 ms: measurements under 0.5 s say "
            "nothing.");
    if (any_turn(report, [](const Turn& turn) { return !turn.fabric; }))
        note("Doorbells and the like are known for kdp's own paths only.");
    if (options.verify)
        for (const std::string& text : notes_on_verification(options, report))
            note(text);
    if (any_turn(report, [](const Turn& turn) { return turn.interrupted; }))
        note("Rounds that ended early are left out, but where there is no other.");
    if (report.interrupted)
        note("Interrupted: what would have followed is missing.");
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
    if (report.points.empty())
        return out;
    out += "\n" + legend(report) + "\n" + tables(options, report);
    if (const std::string projected = projections(options, report); !projected.empty())
        out += "\n" + projected;
    const std::string remarks = notes(options, report);
    if (!remarks.empty())
        out += "\n" + remarks;
    return out;
}

}  // namespace kdp::tool::bench
