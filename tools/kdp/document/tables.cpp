// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "document/figure_names.hpp"
#include "units.hpp"

namespace kdp::tool::document {
namespace {

constexpr const char* unknown = "–";

const Cell nothing_known{unknown, "", std::nullopt, std::nullopt};

std::vector<const Point*> points_of(const Bench& bench, const Load& load)
{
    std::vector<const Point*> points;
    for (const Point& point : bench.points)
        if (point.load == load)
            points.push_back(&point);
    return points;
}

/// Each key that any path knows at any of the points, in the order of the document.
std::vector<std::string> keys_of(const std::vector<const Point*>& points)
{
    std::vector<std::string> keys;
    for (const Point* point : points)
        for (const PathResult& result : point->results)
            for (const KeyedEstimate& keyed : result.summary)
                if (std::find(keys.begin(), keys.end(), keyed.key) == keys.end())
                    keys.push_back(keyed.key);
    return keys;
}

std::vector<std::string> path_names(const Bench& bench)
{
    std::vector<std::string> names;
    for (const BenchPath& path : bench.paths)
        names.push_back(path.name);
    return names;
}

/// A cell of each path.
template <typename Value>
std::vector<Cell> across(const Bench& bench, const Point& point, const Value& value)
{
    std::vector<Cell> cells;
    for (std::size_t path = 0; path < bench.paths.size(); path++) {
        const PathResult* result = point.find(path);
        Cell cell = result ? value(*result) : nothing_known;
        if (!cell.value && result && result->failure)
            cell.mean = "failed";
        cells.push_back(std::move(cell));
    }
    return cells;
}

std::vector<Cell> across(const Bench& bench, const Point& point, const std::string& key)
{
    return across(bench, point, [&](const PathResult& result) {
        const Estimate* estimate = result.find(key);
        return estimate ? cell_of(estimate->mean, estimate->half_width) : nothing_known;
    });
}

std::vector<std::string> point_heads(const Point& point)
{
    return {size_name(point.bs), std::to_string(point.depth)};
}

bool is_main(std::string_view key)
{
    return key == "iops" || key == "lat_mean_us" || key == "lat_p99_us" ||
           key == "cpu_machine_us_per_io" || key == "cpu_process_us_per_io" ||
           key == "system_calls_per_io";
}

Table figures_down(const Bench& bench, const Point& point)
{
    Table table{.title = fmt::format("{}, {}, depth {}", load_name(point.load), size_name(point.bs),
                                     point.depth),
                .unit = {},
                .heads = {"figure"},
                .columns = path_names(bench),
                .rows = {},
                .main = true};
    for (const std::string& key : keys_of({&point})) {
        const FigureName name = figure_name(key);
        table.rows.push_back(
            {{name.unit.empty() ? name.name : fmt::format("{}, {}", name.name, name.unit)},
             across(bench, point, key)});
        std::vector<Cell*> cells;
        for (Cell& cell : table.rows.back().cells)
            cells.push_back(&cell);
        align_decimals(cells);
    }
    return table;
}

void align_table(Table& table)
{
    std::vector<Cell*> cells;
    for (Table::Row& row : table.rows)
        for (Cell& cell : row.cells)
            cells.push_back(&cell);
    align_decimals(cells);
}

Table projection_table(const Bench& bench, const std::vector<const Point*>& points,
                       std::string title, std::string unit,
                       std::optional<double> Projection::*member)
{
    Table table{.title = std::move(title),
                .unit = std::move(unit),
                .heads = {"bs", "depth"},
                .columns = path_names(bench),
                .rows = {},
                .main = true};
    for (const Point* point : points) {
        auto cells = across(bench, *point, [&](const PathResult& result) {
            const bool known = result.projection && (*result.projection).*member;
            return known ? cell_of(*((*result.projection).*member), std::nullopt) : nothing_known;
        });
        if (std::any_of(cells.begin(), cells.end(),
                        [](const Cell& cell) { return cell.value.has_value(); }))
            table.rows.push_back({point_heads(*point), std::move(cells)});
    }
    align_table(table);
    return table;
}

std::string json_word(const Json& value)
{
    if (value.is_string())
        return value.get<std::string>();
    if (!value.is_array())
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string all;
    for (const Json& element : value)
        all += (all.empty() ? "" : ", ") + json_word(element);
    return all;
}

}  // namespace

Cell cell_of(double mean, std::optional<double> half_width)
{
    Cell cell{format_figure(mean), "", mean, half_width};
    const auto dot = cell.mean.find('.');
    const std::size_t decimals = dot == std::string::npos ? 0 : cell.mean.size() - dot - 1;
    if (half_width)
        cell.half_width = fmt::format("{:.{}f}", *half_width, decimals);
    return cell;
}

void align_decimals(std::span<Cell* const> cells)
{
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    bool whole = true;
    for (const Cell* cell : cells) {
        for (const double value : {cell->value.value_or(0), cell->half.value_or(0)})
            whole = whole && value == std::floor(value);
        const double size = std::fabs(cell->value.value_or(0));
        if (size == 0)
            continue;
        largest = std::max(largest, size);
        smallest = std::min(smallest, size);
    }
    if (largest == 0)
        return;
    const auto digits_before = [](double size) {
        return static_cast<int>(std::floor(std::log10(size))) + 1;
    };
    const int decimals =
        whole ? 0
              : std::clamp(std::max(4 - digits_before(largest), 2 - digits_before(smallest)), 0, 4);
    for (Cell* cell : cells) {
        if (cell->value)
            cell->mean = fmt::format("{:.{}f}", *cell->value, decimals);
        if (cell->half)
            cell->half_width = fmt::format("{:.{}f}", *cell->half, decimals);
    }
}

std::vector<Table> tables_of(const Bench& bench, const Load& load)
{
    const auto points = points_of(bench, load);
    if (points.size() == 1)
        return {figures_down(bench, *points.front())};
    std::vector<Table> tables;
    for (const std::string& key : keys_of(points)) {
        const FigureName name = figure_name(key);
        Table table{.title = name.name,
                    .unit = name.unit,
                    .heads = {"bs", "depth"},
                    .columns = path_names(bench),
                    .rows = {},
                    .main = is_main(key)};
        for (const Point* point : points)
            table.rows.push_back({point_heads(*point), across(bench, *point, key)});
        align_table(table);
        tables.push_back(std::move(table));
    }
    return tables;
}

Table percentile_table(const Bench& bench, const Load& load)
{
    Table table{.title = "Latency by percentile",
                .unit = "µs",
                .heads = {"bs", "depth", "path"},
                .columns = {},
                .rows = {},
                .main = false};
    std::set<double> percents;
    for (const Point* point : points_of(bench, load))
        for (const PathResult& result : point->results)
            for (const auto& [percent, us] : result.percentiles_us)
                percents.insert(percent);
    for (const double percent : percents)
        table.columns.push_back(percent == 100 ? "most" : fmt::format("p{:g}", percent));
    for (const Point* point : points_of(bench, load))
        for (const PathResult& result : point->results) {
            if (result.percentiles_us.empty())
                continue;
            Table::Row row{point_heads(*point), {}};
            row.heads.push_back(bench.paths[result.path].name);
            for (const double percent : percents) {
                const auto it =
                    std::find_if(result.percentiles_us.begin(), result.percentiles_us.end(),
                                 [&](const auto& one) { return one.first == percent; });
                row.cells.push_back(it == result.percentiles_us.end()
                                        ? nothing_known
                                        : cell_of(it->second, std::nullopt));
            }
            table.rows.push_back(std::move(row));
        }
    align_table(table);
    return table;
}

std::vector<Table> projection_tables(const Bench& bench, const Load& load)
{
    const auto points = points_of(bench, load);
    std::vector<Table> tables = {
        projection_table(bench, points, "projected latency", "µs", &Projection::latency_us),
        projection_table(bench, points, "projected IOPS a core", "1/s",
                         &Projection::iops_per_core)};
    std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
    return tables;
}

std::vector<Table> tables_of(const Experiment& experiment)
{
    std::vector<Table> tables;
    for (const ExperimentChart& chart : experiment.charts) {
        Table table{.title = chart.title,
                    .unit = chart.unit,
                    .heads = {experiment.x_unit.empty()
                                  ? experiment.x_label
                                  : fmt::format("{}, {}", experiment.x_label, experiment.x_unit)},
                    .columns = {},
                    .rows = {},
                    .main = true};
        for (const ExperimentSeries& series : chart.series)
            table.columns.push_back(series.name);
        for (const ExperimentX& x : chart.places()) {
            Table::Row row{{x.name}, {}};
            for (const ExperimentSeries& series : chart.series) {
                const ExperimentPoint* point = series.find(x);
                row.cells.push_back(point && point->mean ? cell_of(*point->mean, point->half_width)
                                                         : nothing_known);
            }
            table.rows.push_back(std::move(row));
        }
        align_table(table);
        tables.push_back(std::move(table));
    }
    return tables;
}

std::vector<Fact> option_facts(const Bench& bench)
{
    std::vector<Fact> all;
    for (const auto& [key, value] : bench.options.items())
        if (!value.is_null() && !(value.is_boolean() && !value.get<bool>()))
            all.push_back({key, json_word(value)});
    return all;
}

}  // namespace kdp::tool::document
