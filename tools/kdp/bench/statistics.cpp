// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kdp::tool::bench {
namespace {

// t(0.975, n) of n = 1 to 30, as in any book of tables
constexpr std::array few = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                            2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                            2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                            2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};

struct Point {
    double inverse;  // 1 / degrees of freedom, in which t is nearly straight
    double t;
};
constexpr std::array many = {Point{1.0 / 30, 2.0423}, Point{1.0 / 40, 2.0211},
                             Point{1.0 / 60, 2.0003}, Point{1.0 / 120, 1.9799}, Point{0, 1.9600}};

}  // namespace

double student_t_975(std::size_t degrees) noexcept
{
    if (degrees <= few.size())
        return few[std::max<std::size_t>(degrees, 1) - 1];
    const double inverse = 1.0 / static_cast<double>(degrees);
    std::size_t next = 1;
    while (many[next].inverse > inverse)
        next++;
    const Point &a = many[next - 1], &b = many[next];
    return a.t + (b.t - a.t) * (a.inverse - inverse) / (a.inverse - b.inverse);
}

std::optional<Summary> summarise(std::vector<double> values)
{
    if (values.empty())
        return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    Summary summary;
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
    summary.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
    summary.min = values.front();
    summary.max = values.back();
    if (n > 1) {
        double squares = 0;
        for (const double value : values)
            squares += (value - summary.mean) * (value - summary.mean);
        const double variance = squares / static_cast<double>(n - 1);
        summary.half_width = student_t_975(n - 1) * std::sqrt(variance / static_cast<double>(n));
    }
    return summary;
}

}  // namespace kdp::tool::bench
