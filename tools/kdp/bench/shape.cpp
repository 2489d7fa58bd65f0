// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/shape.hpp"

#include <fmt/format.h>

#include "units.hpp"

namespace kdp::tool::bench {

std::optional<Workload> parse_workload(std::string_view text)
{
    for (const auto w : {Workload::read, Workload::write, Workload::randread, Workload::randwrite,
                         Workload::rw, Workload::randrw})
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
        case Workload::rw:
            return "rw";
        case Workload::randrw:
            return "randrw";
    }
    return "?";
}

std::string describe(const Shape& shape)
{
    std::string text(workload_name(shape.workload));
    if (is_mixed(shape.workload))
        text += fmt::format(", {} % reads", shape.read_percent);
    text += fmt::format(", {}, depth {}", format_bytes(shape.block_bytes), shape.depth);
    if (shape.threads > 1)
        text += fmt::format(", {} threads", shape.threads);
    return text;
}

}  // namespace kdp::tool::bench
