// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp bench: data paths side by side.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "bench/print_json.hpp"
#include "bench/print_text.hpp"
#include "bench/runner.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

using namespace bench;

struct Arguments {
    RawOptions raw;
    Options options;
};

/// One line on the terminal, overwritten by the next.
void show_progress(const std::string& step)
{
    fmt::print(stderr, "\r\033[K{}", step);
    std::fflush(stderr);
}

int bench_paths(Arguments& arguments)
{
    constexpr std::string_view self = "bench";
    if (const Status fits = complete_options(arguments.raw, arguments.options); !fits)
        return report_usage(self, fits.error().text);
    const Options& options = arguments.options;

    catch_interrupts();
    const char* type = std::getenv("TERM");
    const bool terminal = isatty(STDERR_FILENO) != 0 && type && std::string_view(type) != "dumb";
    const RunReport result =
        run(options, terminal ? Progress(show_progress) : Progress([](const std::string&) {}));
    if (terminal)
        show_progress("");

    const bool measured = std::any_of(result.paths.begin(), result.paths.end(),
                                      [](const PathReport& path) { return !path.turns.empty(); });
    if (options.json)
        fmt::print("{}\n", json_text(to_json(options, look_around(), result)));
    else if (measured)
        fmt::print("{}", to_text(options, look_around(), result));
    std::fflush(stdout);

    if (result.failure)
        return report(self, result.failure->subject, result.failure->error);
    return result.interrupted ? exit_failed : exit_ok;
}

}  // namespace

void add_bench(CLI::App& app, Run& run)
{
    auto arguments = std::make_shared<Arguments>();
    Options& options = arguments->options;
    RawOptions& raw = arguments->raw;
    CLI::App* sub = app.add_subcommand(
        "bench", "Measure data paths side by side: each has its turn in each round");
    sub->add_option("uri", options.uris,
                    "Paths: kernel:/dev/kdpg0n1, block:/dev/kdp0n1 (any block device or file), "
                    "verbs://ADDR:4420/NQN?nsid=1")
        ->type_name("URI")
        ->required();
    sub->add_option("--rw", raw.workload, "read, write, randread or randwrite")
        ->capture_default_str();
    sub->add_option("--bs", raw.block_bytes, "Size of one I/O")->capture_default_str();
    sub->add_option("--depth", options.depth, "I/Os in flight")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    auto* runtime = sub->add_option("--runtime", options.runtime_s, "Seconds a path and round")
                        ->capture_default_str();
    sub->add_option("--ios", options.ios, "I/Os a path and round, in place of a time")
        ->check(CLI::PositiveNumber)
        ->excludes(runtime);
    sub->add_option("--rounds", options.rounds, "Rounds")
        ->capture_default_str()
        ->check(CLI::Range(1, 10000));
    sub->add_option("--warmup", options.warmup_ios,
                    "I/Os before each measurement that do not count")
        ->capture_default_str();
    sub->add_option("--size", raw.region_bytes,
                    "The part of each path that is used, from its begin")
        ->capture_default_str();
    sub->add_option("--seed", options.seed, "For places and patterns")->capture_default_str();
    sub->add_option("--cpu", options.cpu, "Run on this CPU, with all threads of this process")
        ->check(CLI::NonNegativeNumber);
    sub->add_flag("--verify", options.verify,
                  "Check all data block by block; reads: FILLS --size of each path first");
    sub->add_flag("--allow-write", options.allow_write,
                  "Yes, overwrite: --rw write, randwrite and --verify want it. A device in use or "
                  "with partitions is refused all the same");
    sub->add_flag("--json", options.json, "JSON with the figures of each round");
    sub->callback([arguments, &run] { run = [arguments] { return bench_paths(*arguments); }; });
}

}  // namespace kdp::tool
