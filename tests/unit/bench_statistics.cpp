// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <kdp/histogram.hpp>

#include "bench/figures.hpp"

namespace {

using namespace kdp::tool::bench;

// Tables of Student's t, two-sided 95 %, as printed in textbooks.
TEST(StudentT, KnownValues)
{
    const std::pair<std::size_t, double> known[] = {
        {1, 12.706}, {2, 4.303},  {4, 2.776},  {9, 2.262},   {29, 2.045},   {30, 2.042},
        {35, 2.030}, {50, 2.009}, {80, 1.990}, {100, 1.984}, {1000, 1.962}, {1'000'000, 1.960}};
    for (const auto& [degrees, t] : known)
        EXPECT_NEAR(student_t_975(degrees), t, 0.0011) << degrees;
}

TEST(Summary, NothingAndOne)
{
    EXPECT_FALSE(summarise(std::vector<double>{}));
    const auto one = summarise({5});
    EXPECT_EQ(one->mean, 5);
    EXPECT_EQ(one->median, 5);
    EXPECT_EQ(one->min, 5);
    EXPECT_FALSE(one->half_width);
}

TEST(Summary, MeanMedianAndSpread)
{
    const auto odd = summarise({9, 1, 5});
    EXPECT_EQ(odd->mean, 5);
    EXPECT_EQ(odd->median, 5);
    EXPECT_EQ(odd->min, 1);
    EXPECT_EQ(odd->max, 9);
    EXPECT_EQ(summarise({4, 1, 3, 100})->median, 3.5);
    EXPECT_EQ(summarise({7, 7, 7})->half_width, 0);
}

// 1 to 5: standard deviation sqrt(2.5), standard error sqrt(0.5), t(4) = 2.776
TEST(Summary, HalfWidthByHand)
{
    EXPECT_NEAR(*summarise({1, 2, 3, 4, 5})->half_width, 2.7764 * std::sqrt(0.5), 1e-4);
    EXPECT_NEAR(*summarise({10, 12})->half_width, 12.7062 * 1.0, 1e-4);
}

// What the interval promises: in 95 of 100 cases the truth is inside.
TEST(Summary, IntervalCoversTheTruth)
{
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal(100, 15);
    int covered = 0;
    constexpr int tries = 4000;
    for (int i = 0; i < tries; i++) {
        const auto s = summarise({normal(random), normal(random), normal(random)});
        if (std::fabs(s->mean - 100) <= *s->half_width)
            covered++;
    }
    // the seed is fixed; three standard deviations are 1 %
    EXPECT_NEAR(covered, tries * 0.95, tries * 0.0105);
}

// Percentiles from the histogram beside the exact ones of the same values: off by less than the
// bucket's width, 1/128 of the value.
TEST(Percentiles, HistogramAgainstEveryValue)
{
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> latencies(11, 1.5);  // around 60 us, with a long tail
    std::vector<std::uint64_t> all;
    kdp::Histogram histogram;
    for (int i = 0; i < 200'000; i++) {
        all.push_back(static_cast<std::uint64_t>(latencies(random)));
        histogram.record(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double percent : percents) {
        const auto rank =
            static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(all.size())));
        const auto exact = static_cast<double>(all[rank - 1]);
        const auto found = static_cast<double>(histogram.percentile(percent));
        EXPECT_LE(std::fabs(found - exact), exact / 128 + 1) << percent;
    }
    EXPECT_EQ(histogram.max(), all.back());
}

}  // namespace
