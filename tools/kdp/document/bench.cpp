// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/bench.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace kdp::tool::document {
namespace {

std::string query_of(const std::string& uri)
{
    const auto mark = uri.find('?');
    return mark == std::string::npos ? "" : uri.substr(mark + 1);
}

/// Label, where two have the same with the URI's parameters, and where that does not help either
/// with the number.
void name_paths(std::vector<BenchPath>& paths)
{
    for (BenchPath& path : paths)
        path.name = path.label;
    const auto times = [&](const std::string& name) {
        return std::count_if(paths.begin(), paths.end(),
                             [&](const BenchPath& other) { return other.name == name; });
    };
    std::vector<std::string> names;
    for (const BenchPath& path : paths) {
        const std::string query = query_of(path.uri);
        names.push_back(times(path.name) > 1 && !query.empty()
                            ? fmt::format("{} {}", path.label, query)
                            : path.label);
    }
    for (std::size_t i = 0; i < paths.size(); i++)
        paths[i].name = names[i];
    for (std::size_t i = 0; i < paths.size(); i++)
        if (std::count(names.begin(), names.end(), names[i]) > 1)
            paths[i].name = fmt::format("{} [{}]", names[i], i + 1);
}

std::optional<RunFailure> read_failure(const Members& parent)
{
    const auto members = parent.object_or_null("failure");
    if (!members)
        return std::nullopt;
    return RunFailure{members->text_or_null("subject"), members->text("text"),
                      members->text_if_any("errno_name")};
}

/// How many rounds know each figure.
std::map<std::string, unsigned, std::less<>> count_rounds(const std::vector<Members>& rounds)
{
    std::map<std::string, unsigned, std::less<>> known;
    for (const Members& round : rounds) {
        const Members figures = round.object("figures");
        for (const auto& [key, value] : figures.json().items())
            if (figures.number_or_null(key))
                known[key]++;
    }
    return known;
}

Estimate read_estimate(const Members& members, unsigned rounds)
{
    Estimate estimate{.mean = members.number("mean"),
                      .half_width = members.number_or_null("half_width"),
                      .median = members.number("median"),
                      .min = members.number("min"),
                      .max = members.number("max"),
                      .rounds = rounds};
    if (estimate.half_width && *estimate.half_width < 0)
        members.wrong("half_width", "not negative, is expected");
    if (estimate.half_width && rounds < 2)
        members.wrong("half_width", "null is expected, since fewer than two rounds know it");
    return estimate;
}

std::optional<Projection> read_projection(const Members& result)
{
    const auto members = result.object_or_null("projection");
    if (!members)
        return std::nullopt;
    return Projection{members->number_or_null("latency_us"),
                      members->number_or_null("iops_per_core"),
                      members->text_or_null("formula_latency"), members->text("formula_iops")};
}

void check_percentiles(const Members& members, const PathResult& result)
{
    double before = -1;
    for (const auto& [percent, microseconds] : result.percentiles_us) {
        if (percent <= before || percent > 100 || microseconds < 0)
            members.wrong("percentiles_us", "percents from 0 to 100, ascending, are expected");
        before = percent;
    }
}

PathResult read_result(const Members& members, std::size_t paths)
{
    PathResult result;
    result.path = members.count("path");
    if (result.path >= paths)
        members.wrong("path", "an index into \"paths\" is expected");
    const std::vector<Members> rounds = members.objects("rounds");
    const auto known = count_rounds(rounds);
    result.rounds = static_cast<unsigned>(rounds.size());
    result.least_ios = rounds.empty() ? 0 : std::numeric_limits<std::uint64_t>::max();
    for (const Members& round : rounds) {
        const std::uint64_t ios = round.count("ios");
        result.ios += ios;
        result.least_ios = std::min(result.least_ios, ios);
    }
    const Members summary = members.object("summary");
    for (const auto& [key, value] : summary.json().items())
        if (const auto estimate = summary.object_or_null(key)) {
            const auto it = known.find(key);
            result.summary.push_back(
                {key, read_estimate(*estimate, it == known.end() ? 0 : it->second)});
        }
    result.percentiles_us = members.pairs("percentiles_us");
    check_percentiles(members, result);
    result.projection = read_projection(members);
    result.failure = read_failure(members);
    return result;
}

bool same_place(const Point& a, const Point& b)
{
    return a.load == b.load && a.bs == b.bs && a.depth == b.depth;
}

Point read_point(const Members& members, std::size_t paths)
{
    Point point;
    point.load = {members.text("rw"), std::nullopt, members.count("threads")};
    const auto read_percent = members.number_or_null("read_percent");
    if (point.load.rw == "rw" || point.load.rw == "randrw")
        point.load.read_percent = read_percent;
    point.bs = members.count("bs");
    point.depth = members.count("depth");
    for (const char* key : {"bs", "depth", "threads"})
        if (members.count(key) == 0)
            members.wrong(key, "at least 1 is expected");
    for (const Members& result : members.objects("results")) {
        PathResult read = read_result(result, paths);
        if (point.find(read.path))
            result.wrong("path", "this path has a result at this point already");
        point.results.push_back(std::move(read));
    }
    return point;
}

BenchPath read_path(const Members& members)
{
    return {.uri = members.text("uri"),
            .label = members.text("label"),
            .name = {},
            .device = members.text_or_null("device"),
            .rdma_device = members.text_or_null("rdma_device"),
            .blocks = members.count("blocks"),
            .block_size = members.count("block_size"),
            .max_transfer = members.count("max_transfer")};
}

}  // namespace

const Estimate* PathResult::find(std::string_view key) const noexcept
{
    for (const KeyedEstimate& keyed : summary)
        if (keyed.key == key)
            return &keyed.estimate;
    return nullptr;
}

const PathResult* Point::find(std::size_t path) const noexcept
{
    for (const PathResult& result : results)
        if (result.path == path)
            return &result;
    return nullptr;
}

std::vector<Load> Bench::loads() const
{
    std::vector<Load> all;
    for (const Point& point : points)
        if (std::find(all.begin(), all.end(), point.load) == all.end())
            all.push_back(point.load);
    return all;
}

std::vector<std::string> Bench::formulas() const
{
    std::vector<std::string> all;
    for (const Point& point : points)
        for (const PathResult& result : point.results)
            if (result.projection)
                for (const std::string& formula :
                     {result.projection->formula_latency, result.projection->formula_iops})
                    if (!formula.empty() && std::find(all.begin(), all.end(), formula) == all.end())
                        all.push_back(formula);
    return all;
}

std::string load_name(const Load& load)
{
    std::string name = load.rw;
    if (load.read_percent)
        name += fmt::format(", {:g} % reads", *load.read_percent);
    if (load.threads != 1)
        name += fmt::format(", {} threads", load.threads);
    return name;
}

std::string size_name(std::uint64_t bytes)
{
    constexpr std::uint64_t kilo = 1024;
    for (const auto& [unit, letter] :
         {std::pair{kilo * kilo * kilo, 'g'}, std::pair{kilo * kilo, 'm'}, std::pair{kilo, 'k'}})
        if (bytes >= unit && bytes % unit == 0)
            return fmt::format("{}{}", bytes / unit, letter);
    return fmt::format("{}", bytes);
}

Result<Bench> read_bench(const Json& json)
{
    Problem problem;
    const Members members(json, "", problem);
    const std::uint64_t schema = members.count("schema");
    if (!problem.first() && schema != bench_schema_read)
        return Error{EINVAL, fmt::format("a benchmark of schema {}, and this kdp reads {}: measure "
                                         "again, or read it with the kdp that wrote it",
                                         schema, bench_schema_read)};
    Bench bench;
    bench.kdp_version = members.text_if_any("kdp_version");
    bench.environment = read_environment(members.object("environment"));
    bench.options = members.object("options").json();
    bench.system_calls_unavailable = members.text_if_any("system_calls_unavailable");
    bench.profile_unavailable = members.text_if_any("profile_unavailable");
    bench.failure = read_failure(members);
    bench.interrupted = members.boolean("interrupted");
    for (const Members& path : members.objects("paths"))
        bench.paths.push_back(read_path(path));
    name_paths(bench.paths);
    for (const Members& element : members.objects("points")) {
        Point point = read_point(element, bench.paths.size());
        for (const Point& other : bench.points)
            if (same_place(point, other))
                element.wrong("bs", "the same load, size and depth as an earlier point's");
        bench.points.push_back(std::move(point));
    }
    if (problem.first())
        return Error{EINVAL, *problem.first()};
    return bench;
}

}  // namespace kdp::tool::document
