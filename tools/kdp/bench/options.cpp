// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/options.hpp"

#include <cerrno>

#include <fmt/format.h>

#include <kdp/uri.hpp>

#include "units.hpp"

namespace kdp::tool::bench {

std::optional<Workload> parse_workload(std::string_view text)
{
    for (const auto w : {Workload::read, Workload::write, Workload::randread, Workload::randwrite})
        if (text == workload_name(w))
            return w;
    return std::nullopt;
}

std::string_view workload_name(Workload workload) noexcept
{
    switch (workload) {
        case Workload::read:
            return "read";
        case Workload::write:
            return "write";
        case Workload::randread:
            return "randread";
        case Workload::randwrite:
            return "randwrite";
    }
    return "?";
}

Status complete_options(const RawOptions& raw, Options& options)
{
    const auto wrong = [](std::string sentence) { return Error{EINVAL, std::move(sentence)}; };

    const auto workload = parse_workload(raw.workload);
    if (!workload)
        return wrong(fmt::format("--rw {}: read, write, randread or randwrite", raw.workload));
    options.workload = *workload;

    const auto block = parse_size(raw.block_bytes);
    if (!block || *block % 512 != 0 || *block > (std::uint64_t{16} << 20))
        return wrong(fmt::format("--bs {}: a multiple of 512 bytes up to 16m", raw.block_bytes));
    options.block_bytes = static_cast<std::uint32_t>(*block);

    const auto region = parse_size(raw.region_bytes);
    if (!region)
        return wrong(fmt::format("--size {}: a size, for example 64m", raw.region_bytes));
    options.region_bytes = *region;
    if (options.region_bytes < std::uint64_t{options.block_bytes} * options.depth)
        return wrong(fmt::format("--size {}: less than --depth times --bs", raw.region_bytes));

    if (options.ios == 0 && !(options.runtime_s > 0))
        return wrong("--runtime: seconds, more than 0");
    if (options.writes() && !options.allow_write)
        return wrong(fmt::format(
            "{} overwrites the first {} of every path given; say "
            "--allow-write if that is wanted",
            is_write(options.workload) ? fmt::format("--rw {}", workload_name(options.workload))
                                       : std::string("--verify fills the region under test, so it"),
            format_bytes(options.region_bytes)));
    for (const std::string& uri : options.uris)
        if (const auto parsed = parse_uri(uri); !parsed)
            return wrong(fmt::format("{}: {}", uri, parsed.error().text));
    return ok();
}

}  // namespace kdp::tool::bench
