// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp copy: a file to a namespace, or back, from the page cache to the wire.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "bench/clock.hpp"
#include "command.hpp"
#include "copy/copy.hpp"
#include "copy/print.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "report.hpp"
#include "units.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "copy";
constexpr std::uint64_t progress_every_ns = 200'000'000;

struct Arguments {
    copy::RawOptions raw;
    copy::Options options;
    bool no_flush = false;
};

/// One line on the terminal, overwritten by the next.
class ProgressLine {
public:
    ProgressLine()
    {
        const char* type = std::getenv("TERM");
        terminal_ = isatty(STDERR_FILENO) != 0 && type && std::string_view(type) != "dumb";
        begin_ns_ = last_ns_ = bench::now_ns();
    }

    void show(std::uint64_t bytes, std::uint64_t total)
    {
        const std::uint64_t now = bench::now_ns();
        if (!terminal_ || now - last_ns_ < progress_every_ns)
            return;
        last_ns_ = now;
        const double s = static_cast<double>(now - begin_ns_) / 1e9;
        fmt::print(stderr, "\r\033[K{} of {}, {} %, {}/s", format_bytes(bytes), format_bytes(total),
                   bytes * 100 / total,
                   format_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / s)));
        std::fflush(stderr);
    }
    void clear() const
    {
        if (!terminal_)
            return;
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }

private:
    bool terminal_ = false;
    std::uint64_t begin_ns_ = 0;
    std::uint64_t last_ns_ = 0;
};

int copy_data(Arguments& arguments)
{
    if (const Status fits = copy::complete_options(arguments.raw, arguments.options); !fits)
        return report_usage(self, fits.error().text);
    copy::Options& options = arguments.options;
    options.flush = !arguments.no_flush;

    catch_interrupts();
    ProgressLine line;
    const auto result = copy::run(
        options, [&](std::uint64_t bytes, std::uint64_t total) { line.show(bytes, total); });
    line.clear();
    if (const auto* failure = std::get_if<copy::Failure>(&result))
        return report(self, failure->subject, failure->error);

    const auto& done = std::get<copy::Report>(result);
    if (options.json)
        fmt::print("{}\n", json_text(copy::to_json(options, done)));
    else
        fmt::print("{}", copy::to_text(options, done));
    std::fflush(stdout);
    if (!done.interrupted)
        return exit_ok;
    return report(self, "",
                  Error{EINTR, fmt::format("interrupted after {} of {} bytes; nothing was flushed",
                                           done.bytes, done.total)});
}

}  // namespace

void add_copy(CLI::App& app, Run& run)
{
    auto arguments = std::make_shared<Arguments>();
    copy::Options& options = arguments->options;
    copy::RawOptions& raw = arguments->raw;
    CLI::App* sub =
        app.add_subcommand("copy", "Copy a file to a namespace, or back, without a buffer between");
    sub->add_option("source", raw.source,
                    "A file; or /dev/kdpg0n1[@OFFSET], OFFSET in bytes, for example 64m")
        ->type_name("SRC")
        ->required();
    sub->add_option("destination", raw.destination, "The other of the two; a file on tmpfs")
        ->type_name("DST")
        ->required();
    sub->add_option("--length", raw.length,
                    "Copy so much; default: all of the file, or the namespace up to its end");
    sub->add_option("--depth", options.depth, "Commands in flight")
        ->capture_default_str()
        ->check(CLI::Range(1, 256));
    sub->add_option("--bs", raw.command_bytes,
                    "Data of one command at most; default: as much as the device takes");
    sub->add_option("--chunk", raw.chunk_bytes,
                    "Data of a region at most; fewer where no more can be pinned")
        ->capture_default_str();
    sub->add_option("--mode", raw.mode,
                    "ioctl, uring or uring-poll; default: uring, or else ioctl");
    sub->add_flag("--buffered", options.buffered,
                  "Through memory of this process, as other programs do it; any file, and devices "
                  "of the in-tree driver as well");
    sub->add_flag("--pad", options.pad,
                  "Fill the last block up with zeroes if the file ends within it");
    sub->add_flag("--no-flush", arguments->no_flush, "No Flush at the end");
    sub->add_flag("--json", options.json, "JSON, see kdp-copy(8)");
    sub->callback([arguments, &run] { run = [arguments] { return copy_data(*arguments); }; });
}

}  // namespace kdp::tool
