// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "html/charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

namespace kdp::tool::html {
namespace {

using namespace document;

/// One series while it is made: three arrays of the same length.
struct Series {
    Json x = Json::array(), y = Json::array(), half = Json::array();

    void add(double at, const Estimate& estimate)
    {
        x.push_back(at);
        y.push_back(estimate.mean);
        half.push_back(estimate.half_width ? Json(*estimate.half_width) : Json(nullptr));
    }
    [[nodiscard]] Json to_json(const std::string& name, std::size_t color) const
    {
        return {{"name", name}, {"color", color}, {"x", x}, {"y", y}, {"half", half}};
    }
};

Json ticks_of(const std::map<double, std::string>& labels)
{
    Json ticks = Json::array();
    for (const auto& [at, label] : labels)
        ticks.push_back({{"at", at}, {"label", label}});
    return ticks;
}

Chart line_chart(std::string id, std::string title, const std::string& x_label,
                 const std::string& y_label, bool log)
{
    Chart chart{std::move(id), std::move(title), "", {}, {}};
    chart.data = {{"id", chart.id},
                  {"title", chart.title},
                  {"kind", "line"},
                  {"x", {{"label", x_label}, {"ticks", Json::array()}}},
                  {"y", {{"label", y_label}, {"log", log}}},
                  {"variants", Json::array()}};
    return chart;
}

std::string point_name(const Point& point)
{
    return fmt::format("{}, {}, depth {}", load_name(point.load), size_name(point.bs), point.depth);
}

/// Where a percentile stands: each further nine as far as the one before.
double percentile_place(double percent)
{
    return -std::log10(1 - percent / 100);
}

Series percentile_series(const PathResult& result, std::map<double, std::string>& labels)
{
    Series series;
    for (const auto& [percent, us] : result.percentiles_us) {
        // What fewer than one I/O lies above is the maximum under another name.
        const double above = static_cast<double>(result.ios) * (1 - percent / 100);
        if (percent < 50 || percent >= 100 || above < 1)
            continue;
        series.add(percentile_place(percent), Estimate{.mean = us, .half_width = std::nullopt});
        labels[percentile_place(percent)] = fmt::format("{:g} %", percent);
    }
    return series;
}

Chart percentile_chart(const Bench& bench, const std::string& id)
{
    Chart chart =
        line_chart(id, "Latency by percentile", "I/Os that are no slower", "latency, µs", true);
    std::map<double, std::string> labels;
    for (const Point& point : bench.points) {
        Json series = Json::array();
        for (const PathResult& result : point.results) {
            const Series one = percentile_series(result, labels);
            if (!one.x.empty())
                series.push_back(one.to_json(bench.paths[result.path].name, result.path));
        }
        if (series.empty())
            continue;
        chart.variants.push_back(point_name(point));
        chart.data["variants"].push_back({{"series", series}});
    }
    chart.data["x"]["ticks"] = ticks_of(labels);
    chart.hint = "All rounds together. A curve ends where less than one I/O lies above.";
    return chart;
}

/// A figure along one of block size and depth, a variant for each of the other.
struct Sweep {
    std::string key;
    std::function<std::uint64_t(const Point&)> along;
    std::function<std::string(std::uint64_t)> label;
    std::function<std::string(const Point&)> variant;
};

/// false: nowhere two places along it, so that there is nothing to draw.
bool fill(Chart& chart, const Bench& bench, const Sweep& sweep)
{
    std::map<double, std::string> labels;
    std::map<std::string, std::vector<const Point*>> by_variant;
    for (const Point& point : bench.points) {
        const std::string name = sweep.variant(point);
        if (by_variant[name].empty())
            chart.variants.push_back(name);
        by_variant[name].push_back(&point);
        const std::uint64_t value = sweep.along(point);
        labels[std::log2(static_cast<double>(value))] = sweep.label(value);
    }
    for (const std::string& name : chart.variants) {
        auto& points = by_variant[name];
        std::sort(points.begin(), points.end(), [&](const Point* a, const Point* b) {
            return sweep.along(*a) < sweep.along(*b);
        });
        Json series = Json::array();
        for (std::size_t path = 0; path < bench.paths.size(); path++) {
            Series one;
            for (const Point* point : points) {
                const PathResult* result = point->find(path);
                if (const Estimate* estimate = result ? result->find(sweep.key) : nullptr)
                    one.add(std::log2(static_cast<double>(sweep.along(*point))), *estimate);
            }
            if (!one.x.empty())
                series.push_back(one.to_json(bench.paths[path].name, path));
        }
        chart.data["variants"].push_back({{"series", series}});
    }
    chart.data["x"]["ticks"] = ticks_of(labels);
    chart.hint = "Means of the rounds; whiskers are their 95 % intervals.";
    return labels.size() > 1;
}

struct CpuPart {
    std::string_view key, name;
};

constexpr std::array breakdown = {
    CpuPart{"cpu_application_us_per_io", "application"},
    CpuPart{"cpu_kernel_path_us_per_io", "kernel path"},
    CpuPart{"cpu_provider_calls_us_per_io", "provider calls"},
    CpuPart{"cpu_provider_threads_us_per_io", "provider threads"},
    CpuPart{"cpu_waiting_us_per_io", "polls in vain"},
    CpuPart{"cpu_target_us_per_io", "target on this machine"},
    CpuPart{"cpu_interrupts_us_per_io", "interrupts"},
    CpuPart{"cpu_other_us_per_io", "other"},
};
constexpr std::size_t process_kind = 0, rest_kind = 7;

Json breakdown_parts(const PathResult& result)
{
    Json parts = Json::array();
    for (std::size_t kind = 0; kind < breakdown.size(); kind++)
        if (const Estimate* estimate = result.find(breakdown[kind].key))
            parts.push_back({{"kind", kind}, {"value", std::max(estimate->mean, 0.0)}});
    return parts;
}

/// Without samples: this process, and what else the machine did.
Json coarse_parts(const PathResult& result)
{
    Json parts = Json::array();
    const Estimate* process = result.find("cpu_process_us_per_io");
    const Estimate* machine = result.find("cpu_machine_us_per_io");
    if (!process)
        return parts;
    parts.push_back({{"kind", process_kind}, {"value", process->mean}});
    if (machine)
        parts.push_back(
            {{"kind", rest_kind}, {"value", std::max(machine->mean - process->mean, 0.0)}});
    return parts;
}

Chart cpu_chart(const Bench& bench, const std::string& id)
{
    Chart chart{id, "CPU time per I/O", "", {}, {}};
    const bool sampled = std::any_of(bench.points.begin(), bench.points.end(), [](const auto& p) {
        return std::any_of(p.results.begin(), p.results.end(), [](const PathResult& result) {
            return !breakdown_parts(result).empty();
        });
    });
    Json kinds = Json::array();
    if (sampled) {
        for (std::size_t kind = 0; kind < breakdown.size(); kind++)
            kinds.push_back({{"index", kind}, {"name", breakdown[kind].name}});
        chart.hint =
            "Sampled on I/Os of its own, after the measured ones. What is left without the "
            "provider is what the path itself costs.";
    } else {
        kinds.push_back({{"index", process_kind}, {"name", "this process"}});
        kinds.push_back({{"index", rest_kind}, {"name", "the rest of the machine"}});
        chart.hint =
            "The rest of the machine: the kernel's threads, interrupts, and a target that runs "
            "here. Where its CPU time is not known, the process alone is shown. "
            "kdp bench --profile tells the parts apart.";
    }
    Json variants = Json::array();
    for (const Point& point : bench.points) {
        Json bars = Json::array();
        for (const PathResult& result : point.results) {
            Json parts = sampled ? breakdown_parts(result) : coarse_parts(result);
            if (!parts.empty())
                bars.push_back({{"name", bench.paths[result.path].name}, {"parts", parts}});
        }
        if (bars.empty())
            continue;
        chart.variants.push_back(point_name(point));
        variants.push_back({{"bars", bars}});
    }
    chart.data = {{"id", id},        {"title", chart.title},
                  {"kind", "stack"}, {"y", {{"label", "CPU time per I/O, µs"}}},
                  {"kinds", kinds},  {"variants", variants}};
    return chart;
}

/// Places of an experiment's x axis: by logarithm or in equal steps, if the values are such.
class XAxis {
public:
    XAxis(const Experiment& experiment, const ExperimentChart& chart) : places_(chart.places())
    {
        const bool positive = std::all_of(places_.begin(), places_.end(),
                                          [](const auto& x) { return x.number.value_or(0) > 0; });
        named_ = chart.named() || (experiment.x_log && !positive);
        log_ = experiment.x_log && !named_;
    }
    [[nodiscard]] double place(const ExperimentX& x) const
    {
        if (named_)
            return static_cast<double>(std::find(places_.begin(), places_.end(), x) -
                                       places_.begin());
        const double number = x.number.value_or(0);
        return log_ ? std::log10(number) : number;
    }
    [[nodiscard]] Json ticks() const
    {
        std::map<double, std::string> labels;
        for (const ExperimentX& x : places_)
            labels[place(x)] = x.name;
        return ticks_of(labels);
    }

private:
    std::vector<ExperimentX> places_;
    bool named_ = false;
    bool log_ = false;
};

bool all_positive(const ExperimentChart& chart)
{
    for (const ExperimentSeries& series : chart.series)
        for (const ExperimentPoint& point : series.points)
            if (point.mean && *point.mean <= 0)
                return false;
    return true;
}

std::string with_unit(const std::string& label, const std::string& unit)
{
    return unit.empty() ? label : fmt::format("{}, {}", label, unit);
}

}  // namespace

std::vector<Chart> charts_of(const Bench& bench, const std::string& prefix)
{
    std::vector<Chart> charts;
    charts.push_back(percentile_chart(bench, prefix + "percentiles"));

    Chart iops = line_chart(prefix + "iops", "IOPS against depth", "I/Os in flight (depth)",
                            "IOPS, 1/s", false);
    if (fill(iops, bench,
             {"iops", [](const Point& p) { return p.depth; },
              [](std::uint64_t depth) { return std::to_string(depth); },
              [](const Point& p) {
                  return fmt::format("{}, {}", load_name(p.load), size_name(p.bs));
              }}))
        charts.push_back(std::move(iops));

    charts.push_back(cpu_chart(bench, prefix + "cpu"));

    Chart sizes = line_chart(prefix + "sizes", "Latency against block size", "block size",
                             "latency, mean, µs", false);
    if (fill(sizes, bench,
             {"lat_mean_us", [](const Point& p) { return p.bs; },
              [](std::uint64_t bs) { return size_name(bs); },
              [](const Point& p) {
                  return fmt::format("{}, depth {}", load_name(p.load), p.depth);
              }}))
        charts.push_back(std::move(sizes));

    std::erase_if(charts, [](const Chart& chart) { return chart.variants.empty(); });
    return charts;
}

std::vector<Chart> charts_of(const Experiment& experiment, const std::string& prefix)
{
    std::vector<Chart> charts;
    std::vector<std::string> names;  // one color a name, in all charts
    for (const ExperimentChart& source : experiment.charts) {
        const XAxis axis(experiment, source);
        const bool log = source.log && all_positive(source);
        Chart chart = line_chart(fmt::format("{}chart{}", prefix, charts.size()), source.title,
                                 with_unit(experiment.x_label, experiment.x_unit),
                                 with_unit(source.title, source.unit), log);
        chart.data["x"]["ticks"] = axis.ticks();
        Json all = Json::array();
        for (const ExperimentSeries& series : source.series) {
            if (std::find(names.begin(), names.end(), series.name) == names.end())
                names.push_back(series.name);
            Series one;
            std::vector<ExperimentPoint> points = series.points;
            std::sort(points.begin(), points.end(), [&](const auto& a, const auto& b) {
                return axis.place(a.x) < axis.place(b.x);
            });
            for (const ExperimentPoint& point : points)
                if (point.mean)
                    one.add(axis.place(point.x),
                            Estimate{.mean = *point.mean, .half_width = point.half_width});
            const auto color = std::find(names.begin(), names.end(), series.name) - names.begin();
            if (!one.x.empty())
                all.push_back(one.to_json(series.name, static_cast<std::size_t>(color)));
        }
        if (all.empty())
            continue;
        chart.variants.emplace_back("");
        chart.data["variants"].push_back({{"series", all}});
        charts.push_back(std::move(chart));
    }
    return charts;
}

}  // namespace kdp::tool::html
