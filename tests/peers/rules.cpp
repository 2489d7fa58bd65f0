// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rules.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kdp::peer {

namespace {

bool is_command(Event event)
{
    return event != Event::cm_request && event != Event::accepted && event != Event::established;
}

bool is_kind(Event wanted, const Occurrence& occurrence)
{
    switch (wanted) {
        case Event::command:
            return is_command(occurrence.event);
        case Event::admin:
            return is_command(occurrence.event) && occurrence.queue == 0U;
        case Event::io:
            return is_command(occurrence.event) && occurrence.queue != 0U &&
                   occurrence.event != Event::connect;
        default:
            return occurrence.event == wanted;
    }
}

}  // namespace

bool matches(const Rule& rule, const Occurrence& occurrence)
{
    const auto agrees = [](const auto& wanted, const auto& is) { return !wanted || wanted == is; };
    const Filter& filter = rule.filter;

    return is_kind(rule.event, occurrence) && agrees(filter.queue, occurrence.queue) &&
           agrees(filter.opcode, occurrence.opcode) && agrees(filter.nsid, occurrence.nsid) &&
           agrees(filter.lba, occurrence.lba) && agrees(filter.cns, occurrence.cns) &&
           agrees(filter.property, occurrence.property) && agrees(filter.lid, occurrence.lid);
}

Rules::Rules(std::vector<Rule> rules, Journal& journal) : journal_(journal)
{
    for (auto& rule : rules)
        rules_.push_back({std::move(rule)});
}

std::vector<Action> Rules::due(const Occurrence& occurrence)
{
    std::vector<Action> actions;

    for (auto& [rule, seen, played] : rules_) {
        if (!matches(rule, occurrence))
            continue;
        seen++;
        if (seen < rule.first || (seen > rule.first && !rule.onward))
            continue;
        played++;
        journal_.note("played", {{"line", std::to_string(rule.line)},
                                 {"queue", std::to_string(occurrence.queue.value_or(0))},
                                 {"cid", fmt::format("{:#06x}", occurrence.cid)},
                                 {"rule", rule.text}});
        actions.insert(actions.end(), rule.actions.begin(), rule.actions.end());
    }
    return actions;
}

bool Rules::all_played()
{
    for (const auto& [rule, seen, played] : rules_) {
        if (!played)
            journal_.note("never-played", {{"line", std::to_string(rule.line)},
                                           {"seen", std::to_string(seen)},
                                           {"rule", rule.text}});
    }
    return std::all_of(rules_.begin(), rules_.end(), [](auto& counted) { return counted.played; });
}

}  // namespace kdp::peer
