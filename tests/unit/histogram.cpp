// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr double percents[] = {0, 1, 10, 50, 90, 99, 99.9, 99.99, 100};

/// The definition: rank ceil(percent/100 * count), counted from 1.
std::uint64_t percentile_of_sorted(const std::vector<std::uint64_t>& sorted, double percent)
{
    const auto rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
    return sorted[std::max<std::size_t>(static_cast<std::size_t>(rank), 1) - 1];
}

void expect_like_sorted(std::vector<std::uint64_t> values)
{
    kdp::Histogram h;
    for (const auto v : values)
        h.record(v);
    std::sort(values.begin(), values.end());

    EXPECT_EQ(h.count(), values.size());
    EXPECT_EQ(h.min(), values.front());
    EXPECT_EQ(h.max(), values.back());
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    EXPECT_NEAR(h.mean(), sum / static_cast<double>(values.size()), 1e-6 * sum);
    for (const double percent : percents) {
        const auto exact = static_cast<double>(percentile_of_sorted(values, percent));
        EXPECT_NEAR(static_cast<double>(h.percentile(percent)), exact, 0.01 * exact)
            << "percentile " << percent << " of " << values.size() << " values";
    }
}

TEST(Histogram, EmptyIsZero)
{
    const kdp::Histogram h;
    EXPECT_EQ(h.count(), 0u);
    EXPECT_EQ(h.min(), 0u);
    EXPECT_EQ(h.max(), 0u);
    EXPECT_EQ(h.mean(), 0);
    EXPECT_EQ(h.percentile(50), 0u);
}

TEST(Histogram, SmallValuesAreExact)
{
    kdp::Histogram h;
    for (std::uint64_t v = 0; v <= 255; v++)
        h.record(v);
    for (std::uint64_t v = 0; v <= 255; v++)
        EXPECT_EQ(h.percentile(static_cast<double>(v + 1) / 256 * 100), v);
}

TEST(Histogram, OneValueIsAllPercentiles)
{
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{12'345'678}, UINT64_MAX}) {
        kdp::Histogram h;
        h.record(value);
        for (const double percent : percents)
            EXPECT_EQ(h.percentile(percent), value);
    }
}

TEST(Histogram, AnyValueIsWithinOnePercent)
{
    // both ends of every power of two, between two other values so that clamping cannot help
    for (int bit = 1; bit < 63; bit++)
        for (const std::int64_t delta : {-1, 0, 1}) {
            const std::uint64_t value =
                (std::uint64_t{1} << bit) + static_cast<std::uint64_t>(delta);
            kdp::Histogram h;
            h.record(0);
            h.record(value);
            h.record(UINT64_MAX);
            EXPECT_NEAR(static_cast<double>(h.percentile(50)), static_cast<double>(value),
                        0.01 * static_cast<double>(value));
        }
}

TEST(Histogram, LikeSortedUniform)
{
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::uint64_t> values(1, 5'000'000);
    std::vector<std::uint64_t> v(20'000);
    std::generate(v.begin(), v.end(), [&] { return values(random); });
    expect_like_sorted(v);
}

TEST(Histogram, LikeSortedWithLongTail)
{
    std::mt19937_64 random(2);
    std::lognormal_distribution<double> values(11, 2);
    std::vector<std::uint64_t> v(20'000);
    std::generate(v.begin(), v.end(), [&] { return static_cast<std::uint64_t>(values(random)); });
    expect_like_sorted(v);
}

TEST(Histogram, LikeSortedFewValues)
{
    for (std::size_t count = 1; count <= 12; count++) {
        std::vector<std::uint64_t> v(count);
        std::iota(v.begin(), v.end(), 100'000);
        expect_like_sorted(v);
    }
}

TEST(Histogram, MergeIsRecordingBoth)
{
    std::mt19937_64 random(3);
    kdp::Histogram a, b, both;
    for (int i = 0; i < 5000; i++) {
        const std::uint64_t value = random() >> (random() % 50);
        (i % 3 ? a : b).record(value);
        both.record(value);
    }
    a.merge(b);
    EXPECT_EQ(a.count(), both.count());
    EXPECT_EQ(a.min(), both.min());
    EXPECT_EQ(a.max(), both.max());
    EXPECT_EQ(a.mean(), both.mean());
    for (const double percent : percents)
        EXPECT_EQ(a.percentile(percent), both.percentile(percent));
}

TEST(Histogram, MergeWithEmptyAndClear)
{
    kdp::Histogram a;
    a.record(7);
    a.merge(kdp::Histogram());
    EXPECT_EQ(a.min(), 7u);
    EXPECT_EQ(a.count(), 1u);
    a.clear();
    EXPECT_EQ(a.count(), 0u);
    EXPECT_EQ(a.max(), 0u);
    a.record(9);
    EXPECT_EQ(a.min(), 9u);
    EXPECT_EQ(a.percentile(50), 9u);
}

}  // namespace
