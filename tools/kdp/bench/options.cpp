// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/options.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include <kdp/uri.hpp>

#include "units.hpp"

namespace kdp::tool::bench {
namespace {

constexpr unsigned most_depth = 1024;
constexpr unsigned most_threads = 256;
constexpr std::size_t most_points = 10'000;
constexpr unsigned usual_read_percent = 50;

Error wrong(std::string sentence)
{
    return Error{EINVAL, std::move(sentence)};
}

std::optional<unsigned> parse_unsigned(std::string_view text)
{
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The parts of "a,b,c", each by @p parse. What is no such part, or is there twice, is refused
/// with "@p option PART: @p wanted".
template <typename T>
Result<std::vector<T>> parse_list(std::string_view option, std::string_view text,
                                  std::string_view wanted,
                                  const std::function<std::optional<T>(std::string_view)>& parse)
{
    std::vector<T> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        const std::optional<T> value = parse(part);
        if (!value)
            return wrong(fmt::format("{} {}: {}", option, part, wanted));
        if (std::find(values.begin(), values.end(), *value) != values.end())
            return wrong(fmt::format("{} {}: {} is there twice", option, text, part));
        values.push_back(*value);
        begin = end + 1;
    }
    return values;
}

std::optional<std::uint32_t> parse_block(std::string_view text)
{
    const auto size = parse_size(text);
    if (!size || *size % 512 != 0 || *size > std::uint64_t{16} << 20)
        return std::nullopt;
    return static_cast<std::uint32_t>(*size);
}

std::optional<unsigned> parse_depth(std::string_view text)
{
    const auto depth = parse_unsigned(text);
    return depth && *depth >= 1 && *depth <= most_depth ? depth : std::nullopt;
}

std::optional<int> parse_cpu(std::string_view text)
{
    const auto cpu = parse_unsigned(text);
    if (!cpu || *cpu >= CPU_SETSIZE)
        return std::nullopt;
    return static_cast<int>(*cpu);
}

Status complete_lists(const RawOptions& raw, Options& options)
{
    auto workloads = parse_list<Workload>(
        "--rw", raw.workloads, "read, write, randread, randwrite, rw or randrw", parse_workload);
    if (!workloads)
        return workloads.error();
    auto blocks = parse_list<std::uint32_t>("--bs", raw.block_bytes,
                                            "a multiple of 512 bytes up to 16m", parse_block);
    if (!blocks)
        return blocks.error();
    auto depths = parse_list<unsigned>(
        "--depth", raw.depths, fmt::format("a number from 1 to {}", most_depth), parse_depth);
    if (!depths)
        return depths.error();
    options.workloads = std::move(workloads).value();
    options.block_bytes = std::move(blocks).value();
    options.depths = std::move(depths).value();
    if (points(options).size() > most_points)
        return wrong(fmt::format("--rw, --bs and --depth make {} points together; {} are enough",
                                 points(options).size(), most_points));
    if (raw.cpus.empty())
        return ok();
    auto cpus = parse_list<int>("--cpus", raw.cpus, "a CPU's number", parse_cpu);
    if (!cpus)
        return cpus.error();
    options.cpus = std::move(cpus).value();
    return ok();
}

Status complete_mixture(const RawOptions& raw, Options& options)
{
    const bool mixed = std::any_of(options.workloads.begin(), options.workloads.end(), is_mixed);
    if (raw.read_percent && !mixed)
        return wrong("--read-percent: belongs to --rw rw or randrw");
    if (raw.read_percent && *raw.read_percent > 100)
        return wrong(fmt::format("--read-percent {}: 0 to 100", *raw.read_percent));
    if (mixed)
        options.read_percent = raw.read_percent.value_or(usual_read_percent);
    return ok();
}

std::string what_writes(const Options& options)
{
    for (const Workload w : options.workloads)
        if (is_write(w) || is_mixed(w))
            return fmt::format("--rw {}", workload_name(w));
    return "--verify fills the region under test, so it";
}

}  // namespace

bool Options::writes() const noexcept
{
    return verify || std::any_of(workloads.begin(), workloads.end(),
                                 [](Workload w) { return is_write(w) || is_mixed(w); });
}

std::uint32_t Options::largest_block() const noexcept
{
    return *std::max_element(block_bytes.begin(), block_bytes.end());
}

unsigned Options::largest_depth() const noexcept
{
    return *std::max_element(depths.begin(), depths.end());
}

std::vector<Shape> points(const Options& options)
{
    std::vector<Shape> shapes;
    for (const Workload w : options.workloads)
        for (const std::uint32_t block : options.block_bytes)
            for (const unsigned depth : options.depths) {
                const unsigned reads = is_mixed(w)
                                           ? options.read_percent.value_or(usual_read_percent)
                                       : is_write(w) ? 0
                                                     : 100;
                shapes.push_back({w, reads, block, depth, options.threads});
            }
    return shapes;
}

Status complete_options(const RawOptions& raw, Options& options)
{
    if (const Status lists = complete_lists(raw, options); !lists)
        return lists;
    if (const Status mixture = complete_mixture(raw, options); !mixture)
        return mixture;
    if (options.threads < 1 || options.threads > most_threads)
        return wrong(fmt::format("--threads {}: 1 to {}", options.threads, most_threads));

    if (!raw.fabric.empty()) {
        const auto fabric = profile::parse_fabric(raw.fabric);
        if (!fabric)
            return fabric.error();
        options.fabric = fabric.value();
        options.profile = true;
    }
    const auto region = parse_size(raw.region_bytes);
    if (!region)
        return wrong(fmt::format("--size {}: a size, for example 64m", raw.region_bytes));
    options.region_bytes = *region;
    if (options.region_bytes / options.largest_block() / options.threads < options.largest_depth())
        return wrong(fmt::format("--size {}: less than --depth times --bs{}", raw.region_bytes,
                                 options.threads > 1 ? " times --threads" : ""));

    if (options.ios == 0 && !(options.runtime_s > 0))
        return wrong("--runtime: seconds, more than 0");
    if (options.ios != 0 && options.ios < options.threads)
        return wrong(fmt::format("--ios {}: fewer than --threads", options.ios));
    if (options.writes() && !options.allow_write)
        return wrong(
            fmt::format("{} overwrites the first {} of every path given; say --allow-write if that "
                        "is wanted",
                        what_writes(options), format_bytes(options.region_bytes)));
    for (const std::string& uri : options.uris)
        if (const auto parsed = parse_uri(uri); !parsed)
            return wrong(fmt::format("{}: {}", uri, parsed.error().text));
    return ok();
}

}  // namespace kdp::tool::bench
