// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "controller_json.hpp"

#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kdp/host_id.hpp>

namespace kdp::tool {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::span<const std::uint8_t> bytes)
{
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

Json namespace_to_json(const control::Namespace& ns)
{
    Json json = {{"nsid", ns.nsid},
                 {"disk", ns.disk},
                 {"char_device", ns.char_device},
                 {"blocks", ns.blocks},
                 {"block_size", ns.block_size},
                 {"bytes", ns.blocks * ns.block_size}};
    if (ns.uuid)
        json["uuid"] = format_uuid(*ns.uuid);
    if (ns.nguid)
        json["nguid"] = hex(*ns.nguid);
    if (ns.eui64)
        json["eui64"] = hex(*ns.eui64);
    return json;
}

Json controller_to_json(const control::Controller& c)
{
    Json counters = Json::object();
    for (const auto& counter : control::stat_names())
        counters[std::string(counter.name)] = c.stats.by_id[counter.id];
    Json namespaces = Json::array();
    for (const auto& ns : c.namespaces)
        namespaces.push_back(namespace_to_json(ns));
    return {{"name", c.name},
            {"instance", c.instance},
            {"state", control::state_name(c.state)},
            {"transport", "rdma"},
            {"traddr", c.traddr.host()},
            {"trsvcid", c.traddr.port()},
            {"subsystem_nqn", c.subsystem_nqn},
            {"host_nqn", c.host_nqn},
            {"cntlid", c.cntlid},
            {"serial", c.serial},
            {"model", c.model},
            {"firmware", c.firmware},
            {"rdma_device", c.rdma_device},
            {"nr_io_queues", c.nr_io_queues},
            {"nr_write_queues", c.nr_write_queues},
            {"nr_poll_queues", c.nr_poll_queues},
            {"queue_size", c.queue_size},
            {"keep_alive_ms", c.keep_alive_ms},
            {"cq_mode", control::cq_mode_name(c.cq_mode)},
            {"spin_us", c.spin_us},
            {"ctrl_loss_tmo_s", c.ctrl_loss_tmo},
            {"fast_io_fail_tmo_s", c.fast_io_fail_tmo},
            {"reconnect_delay_s", c.reconnect_delay},
            {"reconnects", c.reconnects},
            {"reason", c.reason},
            {"max_transfer", c.max_transfer},
            {"inline_size", c.inline_size},
            {"counters", counters},
            {"namespaces", namespaces}};
}

}  // namespace

nlohmann::ordered_json controllers_to_json(const std::vector<control::Controller>& controllers)
{
    Json list = Json::array();
    for (const auto& controller : controllers)
        list.push_back(controller_to_json(controller));
    return {{"schema", list_schema}, {"controllers", list}};
}

}  // namespace kdp::tool
