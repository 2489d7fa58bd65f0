// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/runner.hpp"

#include <sched.h>

#include <cerrno>

#include <fmt/format.h>

#include "bench/clock.hpp"
#include "bench/path_run.hpp"
#include "bench/system_calls.hpp"
#include "guard.hpp"
#include "interrupt.hpp"

namespace kdp::tool::bench {
namespace {

Status pin_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= CPU_SETSIZE)
        return error_from_errno(EINVAL, fmt::format("--cpu {}", cpu));
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) < 0)
        return error_from_errno(errno, fmt::format("--cpu {}", cpu));
    return ok();
}

double check_cost_ns(const Options& options)
{
    constexpr int rounds = 64;
    std::vector<std::byte> data(options.block_bytes);
    const Pattern pattern(512, options.seed);
    pattern.fill(data, 0);
    (void)pattern.check(data, 0);
    const std::uint64_t begin = now_ns();
    bool held = true;
    for (int i = 0; i < rounds; i++)
        held = !pattern.check(data, 0) && held;
    return held ? static_cast<double>(now_ns() - begin) / rounds : 0;
}

std::optional<Failure> open_all(const Options& options, std::vector<PathRun>& paths,
                                RunReport& report)
{
    for (const std::string& uri : options.uris) {
        if (options.writes()) {
            const auto parsed = parse_uri(uri);
            const Status allowed = parsed ? check_writable(parsed.value()) : parsed.error();
            if (!allowed)
                return Failure{uri, allowed.error()};
        }
        auto path = PathRun::open(uri, options);
        if (!path)
            return Failure{uri, path.error()};
        report.paths.push_back({uri, path->label(), path->path().info(), {}});
        report.region_bytes = std::max(report.region_bytes, path->region_bytes());
        paths.push_back(std::move(path).value());
    }
    return std::nullopt;
}

std::optional<Failure> run_rounds(const Options& options, std::vector<PathRun>& paths,
                                  const Progress& progress, RunReport& report)
{
    for (unsigned round = 1; round <= options.rounds; round++) {
        for (std::size_t turn = 0; turn < paths.size(); turn++) {
            const std::size_t index = round % 2 == 1 ? turn : paths.size() - 1 - turn;
            if (interrupted())
                return std::nullopt;
            progress(fmt::format("round {} of {}: {}", round, options.rounds,
                                 report.paths[index].label));
            auto result = paths[index].take_turn(round, static_cast<unsigned>(index));
            if (!result)
                return Failure{report.paths[index].uri, result.error()};
            if (result->ios > 0)
                report.paths[index].turns.push_back(std::move(result).value());
        }
    }
    return std::nullopt;
}

}  // namespace

RunReport run(const Options& options, const Progress& progress)
{
    RunReport report;
    if (options.cpu >= 0) {
        if (const Status pinned = pin_to(options.cpu); !pinned) {
            report.failure = Failure{"", pinned.error()};
            return report;
        }
    }
    report.clock_ns = clock_cost_ns();
    if (options.verify)
        report.check_ns = check_cost_ns(options);

    if (const auto counter = SystemCallCounter::start(); !counter)
        report.why_no_system_calls = counter.error().text;

    std::vector<PathRun> paths;
    report.failure = open_all(options, paths, report);
    if (options.verify && !is_write(options.workload)) {
        for (std::size_t i = 0; i < paths.size() && !report.failure && !interrupted(); i++) {
            progress(fmt::format("filling through {}", report.paths[i].label));
            if (const Status filled = paths[i].fill(); !filled)
                report.failure = Failure{report.paths[i].uri, filled.error()};
        }
    }
    if (!report.failure)
        report.failure = run_rounds(options, paths, progress, report);
    report.interrupted = interrupted();
    return report;
}

}  // namespace kdp::tool::bench
