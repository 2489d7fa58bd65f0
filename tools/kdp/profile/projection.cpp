// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/projection.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace kdp::tool::profile {
namespace {

Error wrong(std::string_view part, std::string_view must)
{
    return Error{EINVAL, fmt::format("--fabric: {}: {}; for example rtt=2us,gbps=100", part, must)};
}

/// The number that @p text begins with, finite and not negative; the rest stays in @p text.
std::optional<double> take_number(std::string_view& text)
{
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(value) || value < 0)
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::optional<double> parse_time_us(std::string_view text)
{
    const auto value = take_number(text);
    if (!value)
        return std::nullopt;
    if (text == "ns")
        return *value / 1000;
    if (text == "us")
        return *value;
    if (text == "ms")
        return *value * 1000;
    return std::nullopt;
}

std::optional<double> parse_plain(std::string_view text)
{
    const auto value = take_number(text);
    return value && text.empty() ? value : std::nullopt;
}

double wire_us(const FabricModel& fabric, std::uint32_t bytes)
{
    return bytes * 8.0 / (fabric.gbps * 1000);
}

}  // namespace

Result<FabricModel> parse_fabric(std::string_view text)
{
    FabricModel fabric;
    bool rtt = false, gbps = false, post = false;
    for (bool more = true; more;) {
        const auto comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        more = comma != std::string_view::npos;
        text.remove_prefix(more ? comma + 1 : text.size());

        const auto equals = part.find('=');
        if (equals == std::string_view::npos)
            return wrong(part, "rtt=TIME, gbps=NUMBER and, if wanted, post=TIME");
        const std::string_view key = part.substr(0, equals);
        const std::string_view value = part.substr(equals + 1);
        bool* const seen = key == "rtt"    ? &rtt
                           : key == "gbps" ? &gbps
                           : key == "post" ? &post
                                           : nullptr;
        if (!seen)
            return wrong(part, "rtt, gbps and post are known");
        if (std::exchange(*seen, true))
            return wrong(part, "given twice");
        const auto number = key == "gbps" ? parse_plain(value) : parse_time_us(value);
        if (!number)
            return wrong(part, key == "gbps" ? "a number of 10^9 bits a second"
                                             : "a time with its unit, ns, us or ms");
        (key == "rtt" ? fabric.rtt_us : key == "gbps" ? fabric.gbps : fabric.post_us) = *number;
    }
    if (!rtt || !gbps)
        return wrong(rtt ? "gbps" : "rtt", "is missing");
    if (fabric.gbps == 0)
        return wrong("gbps=0", "more than 0");
    return fabric;
}

std::optional<Projection> project(const Estimate& own_us, const FabricModel& fabric,
                                  std::uint32_t bytes, unsigned depth)
{
    const double core_us = own_us.value + fabric.post_us;
    if (!(own_us.value > 0))
        return std::nullopt;

    Projection projection;
    const double by_core = 1e6 / core_us;
    const double by_link = 1e6 / wire_us(fabric, bytes);
    projection.link_bound = by_link < by_core;
    // To first order: a relative error of the divisor is one of the quotient.
    projection.iops_per_core = projection.link_bound
                                   ? Estimate{by_link, 0}
                                   : Estimate{by_core, by_core * own_us.half_width / core_us};
    projection.formula_iops = fmt::format(
        "min(1e6 / (own {:.3g} us + post {:.3g} us) = {:.0f}, {:g}e9 / 8 / {} B = "
        "{:.0f})",
        own_us.value, fabric.post_us, by_core, fabric.gbps, bytes, by_link);
    if (depth == 1) {
        projection.latency_us =
            Estimate{core_us + fabric.rtt_us + wire_us(fabric, bytes), own_us.half_width};
        projection.formula_latency = fmt::format(
            "own {:.3g} us + post {:.3g} us + rtt {:.3g} us + {} B * 8 / {:g}e9 = "
            "{:.3g} us",
            own_us.value, fabric.post_us, fabric.rtt_us, bytes, fabric.gbps,
            projection.latency_us->value);
    }
    return projection;
}

}  // namespace kdp::tool::profile
