// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/print_profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/figures.hpp"
#include "profile/profiler.hpp"
#include "units.hpp"

namespace kdp::tool::bench {
namespace {

std::string with_half_width(const profile::Estimate& estimate)
{
    return fmt::format("{} ± {}", format_figure(estimate.value),
                       format_figure(estimate.half_width));
}

std::string projection_of_path(const std::string& label, const profile::Projection& p)
{
    std::string out = "  " + label + "\n";
    if (p.latency_us)
        out += fmt::format("    latency      {} us = {}\n", with_half_width(*p.latency_us),
                           p.formula_latency);
    out += fmt::format("    IOPS a core  {}{} = {}\n", with_half_width(p.iops_per_core),
                       p.link_bound ? ", the link's limit," : "", p.formula_iops);
    return out;
}

}  // namespace

std::string projections(const Options& options, const RunReport& report)
{
    if (!options.fabric)
        return "";
    std::string out = fmt::format(
        "PROJECTION, not a measurement: a fabric whose transport is in hardware, round trip {:g} "
        "us, {:g} Gbit/s\n"
        "own: application and kernel path, measured; post: the adapter's own calls, {}\n",
        options.fabric->rtt_us, options.fabric->gbps,
        options.fabric->post_us > 0 ? "as given" : "taken for nothing unless post= is given");
    for (const PointReport& point : report.points) {
        out += describe(point.shape) + "\n";
        for (const PathResult& result : point.results) {
            const std::string label =
                fmt::format("[{}] {}", result.path + 1, report.paths[result.path].label);
            if (const auto p = projection_of(options, point.shape, result))
                out += projection_of_path(label, *p);
            else
                out += fmt::format("  {}: not known\n", label);
        }
    }
    return out;
}

std::vector<std::string> notes_on_profile(const Options& options, const RunReport& report)
{
    if (!options.profile)
        return {};
    if (!report.why_no_profile.empty())
        return {"What CPU time went for is not known: " + report.why_no_profile + "."};
    std::uint64_t samples = 0, lost = 0;
    double widest = 0;
    for (const PointReport& point : report.points)
        for (const PathResult& result : point.results)
            if (const auto whole = whole_breakdown(result)) {
                samples += whole->samples;
                lost += whole->lost;
                for (const profile::Class c : profile::busy_classes)
                    widest = std::max(widest, whole->us_an_io(c).half_width);
            }
    std::vector<std::string> out{fmt::format(
        "CPU by class comes from {} samples of all CPUs, taken of I/Os after the measured ones; "
        "chance in the sampling is up to ± {} us per I/O (95 %, all rounds together).",
        samples, format_figure(widest))};
    if (lost > 0)
        out.push_back(fmt::format("{} samples were lost, of any class.", lost));
    if (!profile::knows_polls_of_user_space() &&
        std::any_of(report.paths.begin(), report.paths.end(),
                    [](const PathReport& path) { return path.uri.starts_with("verbs:"); }))
        out.emplace_back(
            "The polls of verbs paths that find nothing count as application and as the provider's "
            "calls: with ?wait=poll or adaptive the path's own cost is at most what is shown.");
    return out;
}

}  // namespace kdp::tool::bench
