// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/breakdown.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kdp::tool::profile {

Estimate Breakdown::us_an_io(std::uint64_t count) const
{
    constexpr double z = 1.959963985;  // 95 % of a normal distribution, two-sided
    const auto n = static_cast<double>(samples);
    const double p = static_cast<double>(count) / n;
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    const double all = cpu_us / static_cast<double>(ios);
    return {p * all, half * all};
}

Breakdown& Breakdown::operator+=(const Breakdown& other)
{
    ios += other.ios;
    cpu_us += other.cpu_us;
    samples += other.samples;
    lost += other.lost;
    elapsed_us += other.elapsed_us;
    for (std::size_t c = 0; c < class_count; c++)
        by_class[c] += other.by_class[c];
    return *this;
}

std::optional<Class> Tally::add(const Sample& sample, std::uint64_t count)
{
    const auto is = classify(sample, roles_);
    const bool thread = sample.task == Task::other && in_task_context(sample);
    if (!is)
        kernel_threads_[sample.thread].between += count;
    else
        counts_[static_cast<std::size_t>(*is)] += count;
    if (is && thread)
        kernel_threads_[sample.thread].works[static_cast<std::size_t>(*is)] += count;
    return is;
}

std::array<std::uint64_t, class_count> Tally::by_class() const
{
    Counts all = counts_;
    for (const auto& [id, thread] : kernel_threads_) {
        const Counts shares = share_out(thread.between, thread.works);
        std::uint64_t shared = 0;
        for (std::size_t c = 0; c < class_count; c++) {
            all[c] += shares[c];
            shared += shares[c];
        }
        all[static_cast<std::size_t>(Class::other)] += thread.between - shared;
    }
    return all;
}

std::array<std::uint64_t, class_count> share_out(
    std::uint64_t total, const std::array<std::uint64_t, class_count>& weights)
{
    std::array<std::uint64_t, class_count> shares{};
    const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    if (sum == 0)
        return shares;
    std::array<std::uint64_t, class_count> remainders{};
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < class_count; i++) {
        shares[i] = total * weights[i] / sum;
        remainders[i] = total * weights[i] % sum;
        given += shares[i];
    }
    for (; given < total; given++) {
        const auto largest = std::max_element(remainders.begin(), remainders.end());
        shares[static_cast<std::size_t>(largest - remainders.begin())]++;
        *largest = 0;
    }
    return shares;
}

}  // namespace kdp::tool::profile
