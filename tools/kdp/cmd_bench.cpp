// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp bench: data paths side by side.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/print_csv.hpp"
#include "bench/print_json.hpp"
#include "bench/print_text.hpp"
#include "bench/runner.hpp"
#include "command.hpp"
#include "html/page.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "output_file.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

using namespace bench;

constexpr std::string_view self = "bench";

struct Arguments {
    RawOptions raw;
    Options options;
    bool json = false;
    std::string csv_file;
    std::string html_file;
    std::string log_file;
    std::string stacks_file;
};

/// One line on the terminal, overwritten by the next.
void show_progress(const std::string& step)
{
    fmt::print(stderr, "\r\033[K{}", step);
    std::fflush(stderr);
}

bool on_terminal()
{
    const char* type = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && type && std::string_view(type) != "dumb";
}

/// The files that a run writes beside what it prints. They are made before anything is measured.
struct Files {
    std::optional<OutputFile> csv;
    std::optional<OutputFile> html;
    std::optional<LatencyLog> log;
    std::optional<OutputFile> stacks_file;
    profile::Stacks stacks;

    [[nodiscard]] Status create(const Arguments& arguments)
    {
        if (!arguments.csv_file.empty()) {
            auto file = OutputFile::create(arguments.csv_file);
            if (!file)
                return file.error();
            csv.emplace(std::move(file).value());
        }
        if (!arguments.html_file.empty()) {
            auto file = OutputFile::create(arguments.html_file);
            if (!file)
                return file.error();
            html.emplace(std::move(file).value());
        }
        if (!arguments.log_file.empty()) {
            auto file = LatencyLog::create(arguments.log_file);
            if (!file)
                return file.error();
            log.emplace(std::move(file).value());
        }
        if (!arguments.stacks_file.empty()) {
            auto file = OutputFile::create(arguments.stacks_file);
            if (!file)
                return file.error();
            stacks_file.emplace(std::move(file).value());
        }
        return ok();
    }

    /// Each is tried, whatever became of the others. Returns the exit status.
    [[nodiscard]] int finish(const Arguments& arguments, const RunReport& result)
    {
        int status = exit_ok;
        const auto note = [&](const Status& written) {
            if (!written)
                status = report(self, "", written.error());
        };
        if (csv) {
            csv->write(to_csv(result));
            note(csv->commit());
        }
        if (html && result.has_figures())
            note(write_page(to_json(arguments.options, look_around(), result)));
        if (stacks_file) {
            for (const auto& [stack, count] : stacks)
                stacks_file->write(fmt::format("{} {}\n", stack, count));
            note(stacks_file->commit());
        }
        if (log)
            note(log->commit());
        return status;
    }

private:
    [[nodiscard]] Status write_page(const nlohmann::ordered_json& json)
    {
        const auto page = html::bench_page(json);
        if (!page)
            return page.error();
        html->write(page.value());
        return html->commit();
    }
};

/// A full disk is an error that is told; fmt::print() would throw.
Status print(const Arguments& arguments, const RunReport& result)
{
    std::string text;
    if (arguments.json)
        text = json_text(to_json(arguments.options, look_around(), result)) + "\n";
    else if (result.has_figures())
        text = to_text(arguments.options, look_around(), result);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        return error_from_errno(errno, "writing the results");
    return ok();
}

int bench_paths(Arguments& arguments)
{
    if (!arguments.stacks_file.empty())
        arguments.options.profile = true;
    if (const Status fits = complete_options(arguments.raw, arguments.options); !fits)
        return report_usage(self, fits.error().text);
    Files files;
    if (const Status created = files.create(arguments); !created)
        return report(self, "", created.error());

    catch_interrupts();
    const bool terminal = on_terminal();
    Surroundings surroundings;
    if (terminal)
        surroundings.progress = show_progress;
    surroundings.log = files.log ? &*files.log : nullptr;
    surroundings.stacks = &files.stacks;
    const RunReport result = run(arguments.options, surroundings);
    if (terminal)
        show_progress("");

    int status = exit_ok;
    if (const Status printed = print(arguments, result); !printed)
        status = report(self, "", printed.error());
    if (const int written = files.finish(arguments, result); written != exit_ok)
        status = written;
    if (result.failure)
        return report(self, result.failure->subject, result.failure->error);
    return result.interrupted ? exit_failed : status;
}

void add_load(CLI::App& sub, Options& options, RawOptions& raw)
{
    sub.add_option("--rw", raw.workloads,
                   "read, write (in order), randread, randwrite; rw, randrw (mixed); a list: "
                   "read,randread")
        ->capture_default_str();
    sub.add_option("--read-percent,--rwmixread", raw.read_percent,
                   "Of mixed I/Os, how many are reads [50]");
    sub.add_option("--bs", raw.block_bytes, "Size of one I/O; a list: 4k,64k")
        ->capture_default_str();
    sub.add_option("--depth", raw.depths, "I/Os in flight, of each thread; a list: 1,16")
        ->capture_default_str();
    sub.add_option("--threads", options.threads,
                   "Threads, each with a queue and a part of --size of its own")
        ->capture_default_str();
    sub.add_option("--cpus,--cpu", raw.cpus,
                   "Thread i runs on CPU i of this list, and from its start again");
}

void add_extent(CLI::App& sub, Options& options, RawOptions& raw)
{
    auto* runtime = sub.add_option("--runtime", options.runtime_s, "Seconds a path and round")
                        ->capture_default_str();
    sub.add_option("--ios", options.ios, "I/Os a path and round, in place of a time")
        ->check(CLI::PositiveNumber)
        ->excludes(runtime);
    sub.add_option("--rounds", options.rounds, "Rounds")
        ->capture_default_str()
        ->check(CLI::Range(1, 10000));
    sub.add_option("--warmup", options.warmup_ios, "I/Os before each measurement that do not count")
        ->capture_default_str();
    sub.add_option("--size", raw.region_bytes, "The part of each path that is used, from its begin")
        ->capture_default_str();
    sub.add_option("--seed", options.seed, "For places and patterns")->capture_default_str();
}

void add_profile(CLI::App& sub, Arguments& arguments)
{
    sub.add_flag("--profile", arguments.options.profile,
                 "Tell apart what CPU time is spent on: application, kernel path, RDMA provider, "
                 "target (needs CAP_PERFMON and CAP_SYSLOG)");
    sub.add_option("--fabric", arguments.raw.fabric,
                   "Project latency and IOPS a core for a fabric in hardware, such as "
                   "rtt=2us,gbps=100 (also post=TIME); implies --profile")
        ->type_name("MODEL");
    sub.add_option("--profile-stacks", arguments.stacks_file,
                   "One line for each call chain that was seen, for a flame graph; implies "
                   "--profile")
        ->type_name("FILE");
}

}  // namespace

void add_bench(CLI::App& app, Run& run)
{
    auto arguments = std::make_shared<Arguments>();
    Options& options = arguments->options;
    CLI::App* sub = app.add_subcommand(
        "bench", "Measure data paths side by side: each has its turn in each round");
    sub->add_option("uri", options.uris,
                    "Paths: kernel:/dev/kdpg0n1, block:/dev/kdp0n1 (any block device or file), "
                    "verbs://ADDR:4420/NQN?nsid=1, tcp://ADDR:4420/NQN?nsid=1")
        ->type_name("URI")
        ->required();
    add_load(*sub, options, arguments->raw);
    add_extent(*sub, options, arguments->raw);
    sub->add_flag("--verify", options.verify,
                  "Check all data block by block; what reads: FILLS --size of each path first");
    sub->add_flag("--allow-write", options.allow_write,
                  "Yes, overwrite: whatever writes and --verify want it. A device in use or "
                  "with partitions is refused all the same");
    sub->add_flag("--json", arguments->json, "JSON with the figures of each round");
    sub->add_option("--csv", arguments->csv_file, "One line for each point, path and figure")
        ->type_name("FILE");
    sub->add_option("--html", arguments->html_file,
                    "One page with charts, tables and advice, which needs nothing else")
        ->type_name("FILE");
    sub->add_option("--log", arguments->log_file, "One line for each measured I/O")
        ->type_name("FILE");
    add_profile(*sub, *arguments);
    sub->callback([arguments, &run] { run = [arguments] { return bench_paths(*arguments); }; });
}

}  // namespace kdp::tool
