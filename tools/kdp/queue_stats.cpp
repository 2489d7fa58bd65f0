// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queue_stats.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "text_table.hpp"
#include "units.hpp"

namespace kdp::tool {
namespace {

constexpr int stats_schema = 1;

std::uint64_t count(const control::Queue& q, kdp_stat id)
{
    return q.stats.by_id[id];
}

std::string per_command(const control::Queue& q, std::uint64_t n)
{
    const auto commands = count(q, KDP_S_COMMANDS);
    return commands ? format_figure(static_cast<double>(n) / static_cast<double>(commands)) : "-";
}

}  // namespace

std::string queues_to_table(const std::vector<control::Queue>& queues)
{
    TextTable table({{"queue"},
                     {"set"},
                     {"CPU", Align::right},
                     {"mode"},
                     {"commands", Align::right},
                     {"read", Align::right},
                     {"written", Align::right},
                     {"copied", Align::right},
                     {"doorbells", Align::right},
                     {"WRs", Align::right},
                     {"REG_MR", Align::right},
                     {"invalidated", Align::right},
                     {"CQEs", Align::right},
                     {"polls", Align::right},
                     {"empty", Align::right},
                     {"events", Align::right},
                     {"sleeps", Align::right},
                     {"provider ns", Align::right}});
    for (const auto& q : queues) {
        const auto wrs =
            count(q, KDP_S_WR_SEND) + count(q, KDP_S_WR_REG) + count(q, KDP_S_WR_LOCAL_INV);
        table.add_row(
            {fmt::format("{}:{}", q.controller, q.qid), std::string(control::queue_set_name(q.set)),
             std::to_string(q.cpu), std::string(control::cq_mode_name(q.cq_mode)),
             std::to_string(count(q, KDP_S_COMMANDS)), format_bytes(count(q, KDP_S_BYTES_READ)),
             format_bytes(count(q, KDP_S_BYTES_WRITTEN)),
             format_bytes(count(q, KDP_S_BYTES_COPIED)),
             per_command(q, count(q, KDP_S_SEND_DOORBELLS) + count(q, KDP_S_RECV_DOORBELLS)),
             per_command(q, wrs), per_command(q, count(q, KDP_S_WR_REG)),
             per_command(q, count(q, KDP_S_REMOTE_INV) + count(q, KDP_S_WR_LOCAL_INV)),
             per_command(q, count(q, KDP_S_CQES)), per_command(q, count(q, KDP_S_POLLS_FULL)),
             per_command(q, count(q, KDP_S_POLLS_EMPTY)), per_command(q, count(q, KDP_S_EVENTS)),
             per_command(q, count(q, KDP_S_SLEEPS)), per_command(q, count(q, KDP_S_PROVIDER_NS))});
    }
    return table.to_string() + "From \"doorbells\" on: per command.\n";
}

nlohmann::ordered_json queues_to_json(const std::vector<control::Queue>& queues)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& q : queues) {
        nlohmann::ordered_json counters = nlohmann::ordered_json::object();
        for (const auto& [id, name] : control::stat_names())
            counters[std::string(name)] = count(q, id);
        list.push_back({{"controller", q.controller},
                        {"qid", q.qid},
                        {"set", control::queue_set_name(q.set)},
                        {"cpu", q.cpu},
                        {"cq_mode", control::cq_mode_name(q.cq_mode)},
                        {"queue_size", q.depth},
                        {"counters", counters}});
    }
    return {{"schema", stats_schema}, {"queues", list}};
}

std::vector<control::Queue> queue_differences(const std::vector<control::Queue>& before,
                                              std::vector<control::Queue> now)
{
    for (auto& q : now) {
        const auto old = std::find_if(before.begin(), before.end(), [&](const auto& b) {
            return b.instance == q.instance && b.qid == q.qid;
        });
        if (old == before.end() || count(*old, KDP_S_COMMANDS) > count(q, KDP_S_COMMANDS))
            continue;
        for (std::size_t id = 0; id < q.stats.by_id.size(); id++)
            q.stats.by_id[id] -= std::min(old->stats.by_id[id], q.stats.by_id[id]);
    }
    return now;
}

}  // namespace kdp::tool
