// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/histogram.hpp>

#include <cmath>

namespace kdp {

void Histogram::merge(const Histogram& other) noexcept
{
    for (std::size_t i = 0; i < bucket_count; i++)
        buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

void Histogram::clear() noexcept
{
    std::fill(buckets_.begin(), buckets_.end(), 0);
    count_ = sum_ = max_ = 0;
    min_ = UINT64_MAX;
}

std::uint64_t Histogram::middle_of(std::size_t bucket) noexcept
{
    if (bucket < 2 * sub_count)
        return bucket;
    const auto exponent = bucket / sub_count - 1;
    const std::uint64_t low = (sub_count + bucket % sub_count) << exponent;
    return low + ((std::uint64_t{1} << exponent) - 1) / 2;
}

std::uint64_t Histogram::percentile(double percent) const noexcept
{
    if (count_ == 0)
        return 0;
    const double wanted =
        std::ceil(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count_));
    const auto rank = std::clamp(static_cast<std::uint64_t>(wanted), std::uint64_t{1}, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bucket_count; i++) {
        seen += buckets_[i];
        if (seen >= rank)
            return std::clamp(middle_of(i), min_, max_);
    }
    return max_;
}

}  // namespace kdp
