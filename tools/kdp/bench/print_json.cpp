// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/print_json.hpp"

#include <kdp/version.hpp>

#include "bench/figures.hpp"
#include "report.hpp"

namespace kdp::tool::bench {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json number_or_null(int number)
{
    return number == 0 ? Json(nullptr) : Json(number);
}

Json environment_to_json(const Environment& env)
{
    Json devices = Json::array();
    for (const RdmaDevice& d : env.rdma)
        devices.push_back({{"name", d.name},
                           {"driver", text_or_null(d.driver)},
                           {"software", d.software()},
                           {"node_type", d.node_type},
                           {"link_layer", d.link_layer},
                           {"state", d.state},
                           {"mtu", number_or_null(d.mtu)},
                           {"netdev", text_or_null(d.netdev)},
                           {"netdev_mtu", number_or_null(d.netdev_mtu)}});
    return {{"kernel", env.kernel},
            {"cpu_model", text_or_null(env.cpu_model)},
            {"cpus", env.cpus},
            {"virtual_machine", env.virtual_machine},
            {"emulated", env.emulated},
            {"machine", text_or_null(env.machine)},
            {"mitigations_off", env.mitigations_off},
            {"clock_source", text_or_null(env.clock_source)},
            {"rdma_devices", devices},
            {"distortions", distortions(env)}};
}

template <typename T>
Json list_or_null(const std::vector<T>& list)
{
    return list.empty() ? Json(nullptr) : Json(list);
}

Json fabric_to_json(const std::optional<profile::FabricModel>& fabric)
{
    if (!fabric)
        return nullptr;
    return {{"rtt_us", fabric->rtt_us}, {"gbps", fabric->gbps}, {"post_us", fabric->post_us}};
}

Json options_to_json(const Options& options, const RunReport& report)
{
    Json workloads = Json::array();
    for (const Workload workload : options.workloads)
        workloads.push_back(workload_name(workload));
    return {{"rw", workloads},
            {"read_percent", or_null(options.read_percent)},
            {"bs", options.block_bytes},
            {"depth", options.depths},
            {"threads", options.threads},
            {"ios", options.ios == 0 ? Json(nullptr) : Json(options.ios)},
            {"runtime_s", options.ios == 0 ? Json(options.runtime_s) : Json(nullptr)},
            {"rounds", options.rounds},
            {"warmup_ios", options.warmup_ios},
            {"region_bytes", report.region_bytes},
            {"seed", options.seed},
            {"cpus", list_or_null(options.cpus)},
            {"verify", options.verify},
            {"profile", options.profile},
            {"fabric", fabric_to_json(options.fabric)}};
}

Json failure_to_json(const std::optional<Failure>& failure)
{
    if (!failure)
        return nullptr;
    return {{"subject", failure->subject},
            {"text", failure->error.text},
            {"errno", failure->error.code},
            {"errno_name", errno_name(failure->error.code)},
            {"nvme_status", failure->error.nvme_status}};
}

Json totals_to_json(const Turn& turn)
{
    const Cost& cost = turn.cost;
    Json json = {{"counted_ios", turn.counted_ios},
                 {"system_calls", or_null(turn.system_calls)},
                 {"voluntary_switches", cost.voluntary_switches},
                 {"involuntary_switches", cost.involuntary_switches},
                 {"interrupts", or_null(cost.interrupts)},
                 {"process_cpu_ns", cost.process_cpu_ns},
                 {"process_user_ns", cost.process_user_ns},
                 {"machine_busy_ns", nullptr},
                 {"machine_interrupt_ns", nullptr},
                 {"machine_softirq_ns", nullptr},
                 {"doorbells", nullptr},
                 {"work_requests", nullptr},
                 {"cqes", nullptr},
                 {"registrations", nullptr},
                 {"bytes_copied", nullptr}};
    if (cost.machine) {
        json["machine_busy_ns"] = cost.machine->busy_ns;
        json["machine_interrupt_ns"] = or_null(cost.machine->interrupt_ns);
        json["machine_softirq_ns"] = or_null(cost.machine->softirq_ns);
    }
    if (turn.fabric) {
        json["doorbells"] = turn.fabric->doorbells;
        json["work_requests"] = turn.fabric->work_requests;
        json["cqes"] = turn.fabric->completions;
        json["registrations"] = turn.fabric->registrations;
        json["bytes_copied"] = or_null(turn.fabric->bytes_copied);
    }
    return json;
}

Json breakdown_to_json(const std::optional<profile::Breakdown>& breakdown)
{
    if (!breakdown)
        return nullptr;
    Json samples = Json::object(), half_widths = Json::object();
    for (const profile::Class c : profile::busy_classes) {
        const std::string name(class_name(c));
        samples[name] = breakdown->in(c);
        half_widths[name] = breakdown->us_an_io(c).half_width;
    }
    samples["idle"] = breakdown->in(profile::Class::idle);
    return {{"ios", breakdown->ios},       {"elapsed_us", breakdown->elapsed_us},
            {"cpu_us", breakdown->cpu_us}, {"samples", samples},
            {"lost", breakdown->lost},     {"half_width_us_per_io", half_widths}};
}

Json projection_to_json(const std::optional<profile::Projection>& projection)
{
    if (!projection)
        return nullptr;
    Json latency = nullptr, latency_half = nullptr;
    if (projection->latency_us) {
        latency = projection->latency_us->value;
        latency_half = projection->latency_us->half_width;
    }
    return {{"latency_us", latency},
            {"latency_half_width_us", latency_half},
            {"iops_per_core", projection->iops_per_core.value},
            {"iops_per_core_half_width", projection->iops_per_core.half_width},
            {"link_bound", projection->link_bound},
            {"formula_latency", text_or_null(projection->formula_latency)},
            {"formula_iops", projection->formula_iops}};
}

Json turn_to_json(const Turn& turn)
{
    Json values = Json::object();
    for (const Figure& figure : figures())
        values[std::string(figure.key)] = or_null(figure.value(turn));
    return {{"round", turn.round},
            {"ios", turn.ios},
            {"bytes", turn.bytes},
            {"elapsed_ns", turn.elapsed_ns},
            {"verified_blocks", turn.verified_blocks},
            {"interrupted", turn.interrupted},
            {"figures", values},
            {"totals", totals_to_json(turn)},
            {"profile", breakdown_to_json(turn.breakdown)}};
}

Json percentiles_to_json(const Histogram& latency)
{
    if (latency.count() == 0)
        return nullptr;
    Json list = Json::array();
    for (const double percent : percents) {
        const std::uint64_t ns = percent < 100 ? latency.percentile(percent) : latency.max();
        list.push_back({percent, static_cast<double>(ns) / 1000});
    }
    return list;
}

Json result_to_json(const Options& options, const Shape& shape, const PathResult& result)
{
    Json summary = Json::object();
    for (const Figure& figure : figures()) {
        const auto s = summarise(figure, result.turns);
        summary[std::string(figure.key)] = s ? Json{{"mean", s->mean},
                                                    {"half_width", or_null(s->half_width)},
                                                    {"median", s->median},
                                                    {"min", s->min},
                                                    {"max", s->max}}
                                             : Json(nullptr);
    }
    Json rounds = Json::array();
    for (const Turn& turn : result.turns)
        rounds.push_back(turn_to_json(turn));
    const Histogram none;
    return {{"path", result.path},
            {"summary", summary},
            {"percentiles_us", percentiles_to_json(result.latency())},
            {"percentiles_read_us", percentiles_to_json(shape.mixed() ? result.reads : none)},
            {"percentiles_write_us", percentiles_to_json(shape.mixed() ? result.writes : none)},
            {"rounds", rounds},
            {"projection", projection_to_json(projection_of(options, shape, result))},
            {"failure", failure_to_json(result.failure)}};
}

Json point_to_json(const Options& options, const PointReport& point)
{
    const Shape& shape = point.shape;
    Json results = Json::array();
    for (const PathResult& result : point.results)
        results.push_back(result_to_json(options, shape, result));
    return {{"rw", workload_name(shape.workload)},
            {"read_percent", shape.read_percent},
            {"bs", shape.block_bytes},
            {"depth", shape.depth},
            {"threads", shape.threads},
            {"results", results}};
}

Json path_to_json(const PathReport& path)
{
    return {{"uri", path.uri},
            {"label", path.label},
            {"device", path.info.device},
            {"rdma_device", text_or_null(path.info.provider)},
            {"blocks", path.info.blocks},
            {"block_size", path.info.block_size},
            {"max_transfer", path.info.max_transfer}};
}

}  // namespace

nlohmann::ordered_json to_json(const Options& options, const Environment& environment,
                               const RunReport& report)
{
    Json paths = Json::array(), points = Json::array();
    for (const PathReport& path : report.paths)
        paths.push_back(path_to_json(path));
    for (const PointReport& point : report.points)
        points.push_back(point_to_json(options, point));
    return {{"schema", bench_schema},
            {"kdp_version", std::string(kdp::version())},
            {"environment", environment_to_json(environment)},
            {"options", options_to_json(options, report)},
            {"clock_ns", report.clock_ns},
            {"check_ns", options.verify ? Json(report.check_ns) : Json(nullptr)},
            {"system_calls_unavailable", text_or_null(report.why_no_system_calls)},
            {"profile_unavailable", text_or_null(report.why_no_profile)},
            {"failure", failure_to_json(report.failure)},
            {"interrupted", report.interrupted},
            {"paths", paths},
            {"points", points}};
}

}  // namespace kdp::tool::bench
