// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp advise: which path, for which block size and depth, and how sure that is.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "advise/advise.hpp"
#include "advise/print_json.hpp"
#include "advise/print_text.hpp"
#include "bench/print_json.hpp"
#include "bench/runner.hpp"
#include "command.hpp"
#include "document/load.hpp"
#include "html/page.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "output_file.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "advise";

/// What is measured. Small and large I/Os, alone and many at once; quick: the corners only.
constexpr const char* full_sizes = "4k,16k,64k,256k";
constexpr const char* full_depths = "1,4,16,64";
constexpr unsigned full_rounds = 5;
constexpr double full_runtime_s = 1;
constexpr const char* quick_sizes = "4k,64k";
constexpr const char* quick_depths = "1,16";
constexpr unsigned quick_rounds = 3;
constexpr double quick_runtime_s = 0.5;

struct Arguments {
    std::vector<std::string> uris;
    std::string from;
    std::vector<std::string> needs;
    std::string html;
    std::string save;
    bool json = false;
    bool quick = false;
    bool allow_write = false;
    // Empty and nullopt: as the matrix has it.
    std::string workloads, sizes, depths, region;
    std::optional<unsigned> rounds;
    std::optional<double> runtime_s;
    std::optional<std::uint64_t> ios;
};

/// What the advice is on, and what the exit status is when it was given.
struct Measured {
    document::Bench bench;
    std::optional<bench::Failure> failure;
    bool interrupted = false;
};

/// Each need once, in the order of all_needs.
Result<std::vector<advise::Need>> needs_of(const std::vector<std::string>& names)
{
    std::vector<advise::Need> given;
    for (const std::string& name : names) {
        const auto need = advise::parse_need(name);
        if (!need) {
            std::string known;
            for (const advise::Need one : advise::all_needs)
                known += fmt::format("{}{}", known.empty() ? "" : ", ", advise::need_name(one));
            return Error{EINVAL, fmt::format("--need {}: it is one of {}", name, known)};
        }
        given.push_back(*need);
    }
    std::vector<advise::Need> needs;
    for (const advise::Need need : advise::all_needs)
        if (std::find(given.begin(), given.end(), need) != given.end())
            needs.push_back(need);
    return needs;
}

Result<bench::Options> matrix(const Arguments& arguments)
{
    const auto or_default = [](const std::string& text, const char* standard) {
        return text.empty() ? std::string(standard) : text;
    };
    bench::RawOptions raw;
    raw.workloads =
        or_default(arguments.workloads, arguments.allow_write ? "randread,randwrite" : "randread");
    raw.block_bytes = or_default(arguments.sizes, arguments.quick ? quick_sizes : full_sizes);
    raw.depths = or_default(arguments.depths, arguments.quick ? quick_depths : full_depths);
    raw.region_bytes = or_default(arguments.region, "64m");
    bench::Options options;
    options.uris = arguments.uris;
    options.rounds = arguments.rounds.value_or(arguments.quick ? quick_rounds : full_rounds);
    options.runtime_s =
        arguments.runtime_s.value_or(arguments.quick ? quick_runtime_s : full_runtime_s);
    options.ios = arguments.ios.value_or(0);
    options.allow_write = arguments.allow_write;
    if (const Status fits = bench::complete_options(raw, options); !fits)
        return fits.error();
    return options;
}

/// One line on the terminal, overwritten by the next.
void show_progress(const std::string& step)
{
    fmt::print(stderr, "\r\033[K{}", step);
    std::fflush(stderr);
}

/// Run the matrix. Its JSON is what the advice is on, and what goes to @p save, if that is there.
Result<Measured> measure(const bench::Options& options, std::optional<OutputFile>& save)
{
    catch_interrupts();
    bench::Surroundings surroundings;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (terminal)
        surroundings.progress = show_progress;
    const bench::RunReport result = bench::run(options, surroundings);
    if (terminal)
        show_progress("");
    const document::Json json = bench::to_json(options, bench::look_around(), result);
    if (save) {
        save->write(json_text(json) + "\n");
        if (const Status written = save->commit(); !written)
            return written.error();
    }
    auto read = document::read_bench(json);
    if (!read)
        return read.error();
    return Measured{std::move(*read), result.failure, result.interrupted};
}

Result<Measured> load(const std::string& name)
{
    auto read = document::load_document(name);
    if (!read)
        return read.error();
    auto* bench = std::get_if<document::Bench>(&read.value());
    if (!bench)
        return Error{EINVAL, "an experiment: a document of kdp bench --json is expected"};
    return Measured{std::move(*bench), std::nullopt, false};
}

void print_advice(const Arguments& arguments, const document::Bench& bench,
                  const advise::Advice& advice)
{
    const std::string text = arguments.json ? json_text(advise::to_json(bench, advice)) + "\n"
                                            : advise::to_text(bench, advice);
    (void)std::fputs(text.c_str(), stdout);
}

/// The files are made before anything is measured, so that no run of minutes has no place to go.
Status create(const std::string& name, std::optional<OutputFile>& file)
{
    if (name.empty())
        return ok();
    auto made = OutputFile::create(name);
    if (!made)
        return made.error();
    file.emplace(std::move(*made));
    return ok();
}

std::string usage_error(const Arguments& arguments)
{
    if (arguments.uris.empty() == arguments.from.empty())
        return "either the URIs of paths to be measured, or --from with what was measured";
    if (!arguments.from.empty() && !arguments.save.empty())
        return "--save is for what is measured now: --from has it already";
    return "";
}

int advise_on(const Arguments& arguments)
{
    if (const std::string wrong = usage_error(arguments); !wrong.empty())
        return report_usage(self, wrong);
    const auto needs = needs_of(arguments.needs);
    if (!needs)
        return report_usage(self, needs.error().text);
    const auto options = matrix(arguments);
    if (!options && arguments.from.empty())
        return report_usage(self, options.error().text);
    std::optional<OutputFile> page, save;
    for (const Status& created : {create(arguments.html, page), create(arguments.save, save)})
        if (!created)
            return report(self, "", created.error());

    const auto measured =
        arguments.from.empty() ? measure(options.value(), save) : load(arguments.from);
    if (!measured)
        return report(self, arguments.from, measured.error());
    const document::Bench& bench = measured.value().bench;
    if (page) {
        const html::NamedDocument named{arguments.from == "-" ? "" : arguments.from, bench};
        page->write(html::page(std::span(&named, 1), needs.value()));
        if (const Status written = page->commit(); !written)
            return report(self, "", written.error());
    }
    print_advice(arguments, bench, advise::advise(bench, needs.value()));
    const int printed = finish_output(self);
    if (const auto& failure = measured.value().failure)
        return report(self, failure->subject, failure->error);
    return measured.value().interrupted ? exit_failed : printed;
}

void add_matrix(CLI::App& sub, Arguments& arguments)
{
    sub.add_flag("--quick", arguments.quick, "Fewer sizes, depths and rounds: half a minute");
    sub.add_option("--rw", arguments.workloads, "As kdp bench [randread]");
    sub.add_option("--bs", arguments.sizes,
                   fmt::format("Sizes of one I/O [{}; quick: {}]", full_sizes, quick_sizes));
    sub.add_option("--depth", arguments.depths,
                   fmt::format("I/Os in flight [{}; quick: {}]", full_depths, quick_depths));
    sub.add_option("--rounds", arguments.rounds,
                   fmt::format("Rounds [{}; quick: {}]", full_rounds, quick_rounds))
        ->check(CLI::Range(1, 10000));
    auto* runtime = sub.add_option(
        "--runtime", arguments.runtime_s,
        fmt::format("Seconds a path and round [{}; quick: {}]", full_runtime_s, quick_runtime_s));
    sub.add_option("--ios", arguments.ios, "I/Os a path and round, in place of a time")
        ->check(CLI::PositiveNumber)
        ->excludes(runtime);
    sub.add_option("--size", arguments.region, "The part of each path that is used [64m]");
    sub.add_flag("--allow-write", arguments.allow_write,
                 "Yes, overwrite: measure randwrite as well");
    sub.add_option("--save", arguments.save, "Keep the measurements, as kdp bench --json")
        ->type_name("FILE");
}

}  // namespace

void add_advise(CLI::App& app, Run& run)
{
    auto arguments = std::make_shared<Arguments>();
    CLI::App* sub = app.add_subcommand(
        "advise", "Which path to take, for which block size and depth, and how sure that is");
    sub->add_option("uri", arguments->uris, "Paths to measure, as for kdp bench")->type_name("URI");
    sub->add_option("--from", arguments->from,
                    "Measure nothing: read the JSON of kdp bench --json; - is standard input")
        ->type_name("FILE");
    sub->add_option("--need", arguments->needs,
                    "What the path must be good for: filesystem, sharing, crash-safe, "
                    "no-spare-core, isolation")
        ->type_name("NEED,...")
        ->delimiter(',');
    add_matrix(*sub, *arguments);
    sub->add_option("--html", arguments->html, "Write a page with charts, advice and all figures")
        ->type_name("OUT");
    sub->add_flag("--json", arguments->json, "JSON, see kdp-advise(8)");
    sub->callback([arguments, &run] { run = [arguments] { return advise_on(*arguments); }; });
}

}  // namespace kdp::tool
