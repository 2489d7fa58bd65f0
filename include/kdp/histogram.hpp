// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A log-linear histogram of durations: constant memory, percentiles within 1 %.
///
/// Each octave [2^k, 2^(k+1)) is cut into 128 buckets of equal width, so that a bucket is at most
/// 1/128 of its values wide; below 128 each value has a bucket of its own. A percentile is the
/// middle of its bucket: at most 0.4 % off. Count, minimum, maximum and mean are exact.
///
///     Histogram h;
///     h.record(12'345);                  // ns
///     h.percentile(99.9);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <kdp/export.hpp>

namespace kdp {

/// Not thread safe; give each thread its own and merge().
class KDP_API Histogram {
public:
    /// Empty; 58 KiB of memory.
    Histogram() : buckets_(bucket_count, 0) {}

    /// Count @p nanoseconds; any 64-bit value. Allocates nothing.
    void record(std::uint64_t nanoseconds) noexcept
    {
        buckets_[bucket_of(nanoseconds)]++;
        count_++;
        sum_ += nanoseconds;
        min_ = std::min(min_, nanoseconds);
        max_ = std::max(max_, nanoseconds);
    }

    /// Count what @p other has counted, as if it had been recorded here.
    void merge(const Histogram& other) noexcept;
    /// Empty again.
    void clear() noexcept;

    /// How many durations were recorded.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// The shortest, ns, exact. The figures of an empty histogram are 0.
    [[nodiscard]] std::uint64_t min() const noexcept { return count_ ? min_ : 0; }
    /// The longest, ns, exact.
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    /// Their mean, ns, exact.
    [[nodiscard]] double mean() const noexcept
    {
        return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
    }

    /// The value that @p percent (0 to 100) of all recorded ones do not exceed: the one of rank
    /// ceil(percent/100 * count) in sorted order, to the precision of its bucket.
    [[nodiscard]] std::uint64_t percentile(double percent) const noexcept;

private:
    static constexpr int sub_bits = 7;
    static constexpr std::size_t sub_count = std::size_t{1} << sub_bits;
    static constexpr std::size_t bucket_count = (64 - sub_bits + 1) * sub_count;

    [[nodiscard]] static std::size_t bucket_of(std::uint64_t value) noexcept
    {
        if (value < sub_count)
            return value;
        // value >> exponent lies in [sub_count, 2 * sub_count)
        const int exponent = std::bit_width(value) - sub_bits - 1;
        return static_cast<std::size_t>(exponent) * sub_count + (value >> exponent);
    }
    [[nodiscard]] static std::uint64_t middle_of(std::size_t bucket) noexcept;

    std::vector<std::uint64_t> buckets_;
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;  // 584 years of nanoseconds fit
    std::uint64_t min_ = UINT64_MAX;
    std::uint64_t max_ = 0;
};

}  // namespace kdp
