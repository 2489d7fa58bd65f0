// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace kdp::tool {

std::optional<std::uint64_t> parse_size(std::string_view text)
{
    std::uint64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc() || value == 0)
        return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(last - end));
    if (unit.ends_with("iB") && unit.size() == 3)
        unit = unit.substr(0, 1);
    int shift = 0;
    if (unit == "k" || unit == "K")
        shift = 10;
    else if (unit == "m" || unit == "M")
        shift = 20;
    else if (unit == "g" || unit == "G")
        shift = 30;
    else if (unit == "t" || unit == "T")
        shift = 40;
    else if (!unit.empty())
        return std::nullopt;
    if (value > std::numeric_limits<std::uint64_t>::max() >> shift)
        return std::nullopt;
    return value << shift;
}

std::string format_bytes(std::uint64_t bytes)
{
    static constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    double value = static_cast<double>(bytes);
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        unit++;
    }
    if (value == std::floor(value))
        return fmt::format("{:.0f} {}", value, units[unit]);
    return fmt::format("{:.2f} {}", value, units[unit]);
}

std::string format_figure(double value)
{
    const double magnitude = std::fabs(value);
    if (magnitude >= 999.95 || value == 0)
        return fmt::format("{:.0f}", value);
    if (magnitude >= 99.995)
        return fmt::format("{:.1f}", value);
    if (magnitude >= 9.9995)
        return fmt::format("{:.2f}", value);
    if (magnitude >= 0.99995)
        return fmt::format("{:.3f}", value);
    return fmt::format("{:.4f}", value);
}

}  // namespace kdp::tool
