// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/experiment.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace kdp::tool::document {
namespace {

ExperimentX read_x(const Members& members)
{
    const auto& json = members.json();
    const auto it = json.find("x");
    if (it != json.end() && it->is_string())
        return {std::nullopt, it->get<std::string>()};
    const double number = members.number("x");
    return {number, fmt::format("{:g}", number)};
}

ExperimentPoint read_point(const Members& members)
{
    ExperimentPoint point{read_x(members), members.number_or_null("mean"),
                          members.number_or_null("half_width")};
    if (point.half_width && *point.half_width < 0)
        members.wrong("half_width", "not negative, is expected");
    return point;
}

ExperimentSeries read_series(const Members& members)
{
    ExperimentSeries series{members.text("name"), {}};
    for (const Members& element : members.objects("points")) {
        const ExperimentPoint point = read_point(element);
        if (series.find(point.x))
            element.wrong("x", "this series has a point there already");
        series.points.push_back(point);
    }
    return series;
}

ExperimentChart read_chart(const Members& members)
{
    ExperimentChart chart{members.text("title"), members.text("unit"), members.boolean("log"), {}};
    for (const Members& series : members.objects("series"))
        chart.series.push_back(read_series(series));
    const auto places = chart.places();
    if (chart.named() && std::any_of(places.begin(), places.end(),
                                     [](const ExperimentX& x) { return x.number.has_value(); }))
        members.wrong("series", "x are either all numbers or all names");
    return chart;
}

}  // namespace

const ExperimentPoint* ExperimentSeries::find(const ExperimentX& x) const noexcept
{
    for (const ExperimentPoint& point : points)
        if (point.x == x)
            return &point;
    return nullptr;
}

bool ExperimentChart::named() const noexcept
{
    for (const ExperimentSeries& one : series)
        for (const ExperimentPoint& point : one.points)
            if (!point.x.number)
                return true;
    return false;
}

std::vector<ExperimentX> ExperimentChart::places() const
{
    std::vector<ExperimentX> all;
    for (const ExperimentSeries& one : series)
        for (const ExperimentPoint& point : one.points)
            if (std::find(all.begin(), all.end(), point.x) == all.end())
                all.push_back(point.x);
    if (!named())
        std::sort(all.begin(), all.end(), [](const ExperimentX& a, const ExperimentX& b) {
            return a.number.value_or(0) < b.number.value_or(0);
        });
    return all;
}

Result<Experiment> read_experiment(const Json& json)
{
    Problem problem;
    const Members members(json, "", problem);
    const std::uint64_t schema = members.count("schema");
    if (!problem.first() && schema != experiment_schema_read)
        return Error{EINVAL, fmt::format("an experiment of schema {}, and this kdp reads {}",
                                         schema, experiment_schema_read)};
    Experiment experiment;
    experiment.name = members.text("experiment");
    experiment.title = members.text("title");
    if (const auto environment = members.object_or_null("environment"))
        experiment.environment = read_environment(*environment);
    experiment.notes = members.texts("notes");
    const Members x = members.object("x");
    experiment.x_label = x.text("label");
    experiment.x_unit = x.text_if_any("unit");
    experiment.x_log = x.boolean("log");
    for (const Members& chart : members.objects("charts"))
        experiment.charts.push_back(read_chart(chart));
    if (problem.first())
        return Error{EINVAL, *problem.first()};
    return experiment;
}

}  // namespace kdp::tool::document
