// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/fabric.hpp"

#include <filesystem>

#include <kdp/control.hpp>

namespace kdp::tool::bench {

FabricMeter FabricMeter::of(const PathUri& uri)
{
    FabricMeter meter;
    if (uri.device.empty()) {  // verbs:, tcp:
        meter.by_path_ = true;
        return meter;
    }
    const std::string name = std::filesystem::path(uri.device).filename();
    if (!name.starts_with("kdp"))
        return meter;
    const auto controllers = control::list();
    if (!controllers)
        return meter;
    for (const auto& controller : controllers.value())
        for (const auto& ns : controller.namespaces)
            if (name == ns.disk || name == ns.char_device)
                meter.instance_ = controller.instance;
    return meter;
}

std::optional<FabricCounters> FabricMeter::read(
    std::span<const std::unique_ptr<DataPath>> paths) const
{
    if (by_path_) {
        FabricCounters sum;
        for (const auto& path : paths) {
            const PathCounters c = path->counters();
            sum.doorbells += c.doorbells;
            sum.work_requests += c.work_requests;
            sum.completions += c.completions;
            sum.registrations += c.registrations;
        }
        return sum;
    }
    if (!instance_)
        return std::nullopt;
    const auto controller = control::get(*instance_);
    if (!controller)
        return std::nullopt;
    const auto& s = controller.value().stats.by_id;
    return FabricCounters{
        s[KDP_S_SEND_DOORBELLS] + s[KDP_S_RECV_DOORBELLS],
        s[KDP_S_WR_SEND] + s[KDP_S_WR_RECV] + s[KDP_S_WR_REG] + s[KDP_S_WR_LOCAL_INV],
        s[KDP_S_CQES], s[KDP_S_WR_REG], s[KDP_S_BYTES_COPIED]};
}

FabricCounters operator-(const FabricCounters& end, const FabricCounters& begin)
{
    FabricCounters d{end.doorbells - begin.doorbells,
                     end.work_requests - begin.work_requests,
                     end.completions - begin.completions,
                     end.registrations - begin.registrations,
                     {}};
    if (end.bytes_copied && begin.bytes_copied)
        d.bytes_copied = *end.bytes_copied - *begin.bytes_copied;
    return d;
}

}  // namespace kdp::tool::bench
