// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/print_json.hpp"

#include "advise/sentences.hpp"

namespace kdp::tool::advise {
namespace {

using document::Bench;
using document::Json;

std::string_view finding_name(Finding finding)
{
    switch (finding) {
        case Finding::winner:
            return "winner";
        case Finding::tie:
            return "no-difference-shown";
        case Finding::alone:
            return "alone";
        case Finding::nothing:
            break;
    }
    return "not-known";
}

Json or_null(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json range_to_json(const Range& range)
{
    return Json::array({range.from, range.to});
}

Json paths_to_json(const Bench& bench, const Advice& advice)
{
    Json all = Json::array();
    for (const Candidate& candidate : advice.candidates) {
        const document::BenchPath& path = bench.paths[candidate.path];
        all.push_back({{"uri", path.uri},
                       {"label", path.label},
                       {"name", path.name},
                       {"excluded", candidate.excluded}});
    }
    return all;
}

Json verdict_to_json(const Verdict& verdict)
{
    return {{"bs", verdict.bs},
            {"depth", verdict.depth},
            {"finding", finding_name(verdict.finding)},
            {"leaders", verdict.leaders},
            {"behind", verdict.behind},
            {"gain", or_null(verdict.gain)},
            {"gain_at_least", or_null(verdict.gain_at_least)},
            {"figure", verdict.key},
            {"rounds", verdict.rounds}};
}

Json region_to_json(const Bench& bench, const Region& region)
{
    Json gain = nullptr;
    if (region.gain)
        gain = {{"least", region.gain->least},
                {"most", region.gain->most},
                {"sure", region.gain->sure}};
    return {{"bs", range_to_json(region.bs)},
            {"depth", range_to_json(region.depth)},
            {"points", region.points},
            {"finding", finding_name(region.finding)},
            {"leaders", region.leaders},
            {"behind", region.behind},
            {"gain", gain},
            {"rounds", region.rounds},
            {"text", area(region) + ": " + statement(bench, region)}};
}

Json crossing_to_json(const Bench& bench, const Crossing& crossing)
{
    return {{"along", crossing.along_depth ? "depth" : "bs"},
            {crossing.along_depth ? "bs" : "depth", range_to_json(crossing.at)},
            {"between", range_to_json(crossing.between)},
            {"before", crossing.before},
            {"after", crossing.after},
            {"no_difference_shown_between", crossing.ties_between},
            {"text", statement(bench, crossing)}};
}

Json comparison_to_json(const Bench& bench, const Comparison& comparison)
{
    Json verdicts = Json::array(), regions = Json::array(), changes = Json::array();
    for (const Verdict& verdict : comparison.verdicts)
        verdicts.push_back(verdict_to_json(verdict));
    for (const Region& region : comparison.regions)
        regions.push_back(region_to_json(bench, region));
    for (const Crossing& crossing : comparison.crossings)
        changes.push_back(crossing_to_json(bench, crossing));
    const document::Load& load = comparison.load;
    return {{"compared", figure_key(comparison.figure)},
            {"rw", load.rw},
            {"read_percent", or_null(load.read_percent)},
            {"threads", load.threads},
            {"points_with_winner", comparison.winners},
            {"points_without", comparison.ties},
            {"text", in_short(bench, comparison)},
            {"regions", regions},
            {"crossings", changes},
            {"points", verdicts}};
}

}  // namespace

document::Json to_json(const Bench& bench, const Advice& advice)
{
    Json needs = Json::array(), caveats = Json::array(), comparisons = Json::array();
    for (const Need need : advice.needs)
        needs.push_back(need_name(need));
    for (const Need need : all_needs)
        caveats.push_back({{"need", need_name(need)},
                           {"condition", need_condition(need)},
                           {"text", need_caveat(need)}});
    for (const Comparison& comparison : advice.comparisons)
        comparisons.push_back(comparison_to_json(bench, comparison));
    return {
        {"schema", advice_schema},
        {"claim",
         {{"here_only", advice.claim.here_only},
          {"headline", advice.claim.headline.empty() ? Json(nullptr) : Json(advice.claim.headline)},
          {"distortions", bench.environment.distortions}}},
        {"rule", rule()},
        {"needs", needs},
        {"paths", paths_to_json(bench, advice)},
        {"candidates", advice.eligible()},
        {"limits", advice.limits},
        {"comparisons", comparisons},
        {"caveats", caveats}};
}

}  // namespace kdp::tool::advise
