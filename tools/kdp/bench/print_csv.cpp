// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/print_csv.hpp"

#include <fmt/format.h>

#include "bench/figures.hpp"
#include "report.hpp"

namespace kdp::tool::bench {
namespace {

std::string quoted(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

std::string number(const std::optional<double>& value)
{
    return value ? fmt::format("{}", *value) : "";
}

std::string statistics(const std::optional<Summary>& summary)
{
    if (!summary)
        return ",,,,";
    return fmt::format("{},{},{},{},{}", summary->mean, number(summary->half_width),
                       summary->median, summary->min, summary->max);
}

}  // namespace

std::string to_csv(const RunReport& report)
{
    std::string out =
        "rw,read_percent,bs,depth,threads,path,uri,failure,rounds,figure,"
        "mean,half_width,median,min,max\n";
    for (const PointReport& point : report.points) {
        const Shape& shape = point.shape;
        const std::string where =
            fmt::format("{},{},{},{},{}", workload_name(shape.workload), shape.read_percent,
                        shape.block_bytes, shape.depth, shape.threads);
        for (const PathResult& result : point.results) {
            const PathReport& path = report.paths[result.path];
            const std::string who = fmt::format(
                "{},{},{},{}", quoted(path.label), quoted(path.uri),
                result.failure ? errno_name(result.failure->error.code) : "", result.turns.size());
            for (const Figure& figure : figures())
                out += fmt::format("{},{},{},{}\n", where, who, figure.key,
                                   statistics(summarise(figure, result.turns)));
        }
    }
    return out;
}

}  // namespace kdp::tool::bench
