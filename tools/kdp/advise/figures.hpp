// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What paths are compared by.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "document/bench.hpp"

namespace kdp::tool::advise {

enum class Figure : std::uint8_t { latency, tail, iops, cpu };

inline constexpr std::array all_figures = {Figure::latency, Figure::tail, Figure::iops,
                                           Figure::cpu};

[[nodiscard]] std::string_view figure_key(Figure figure) noexcept;   ///< in JSON: "latency"
[[nodiscard]] std::string_view figure_name(Figure figure) noexcept;  ///< "latency, mean"
[[nodiscard]] std::string_view figure_unit(Figure figure) noexcept;
[[nodiscard]] constexpr bool less_is_better(Figure figure) noexcept
{
    return figure != Figure::iops;
}

/// Where a benchmark's summary has the figure. CPU time is the whole machine's, if that is known
/// for each of @p paths that has the point; otherwise the process's alone, which leaves out what
/// the kernel does in threads and interrupts of its own.
[[nodiscard]] std::string_view summary_key(Figure figure, const document::Point& point,
                                           const std::vector<std::size_t>& paths) noexcept;

/// The estimate with an interval that is no narrower than what the instrument can tell apart: the
/// machine's CPU time is counted in ticks of 10 ms. @p key is one of summary_key()'s.
[[nodiscard]] document::Estimate as_measured(const document::PathResult& result,
                                             std::string_view key,
                                             const document::Estimate& estimate) noexcept;

}  // namespace kdp::tool::advise
