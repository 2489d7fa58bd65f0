// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The advisor claims what intervals show, and nothing else: on random measurements, from fixed
// seeds.
#include "advise/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "advise/regions.hpp"

namespace {

using namespace kdp::tool::advise;
using kdp::tool::document::Estimate;
using kdp::tool::document::Point;

/// Student's t, two-sided 95 %, from a table: by the number of rounds.
double t_for(unsigned rounds)
{
    static const std::map<unsigned, double> table = {
        {2, 12.706}, {3, 4.303}, {5, 2.776}, {10, 2.262}};
    return table.at(rounds);
}

Estimate estimate_of(const std::vector<double>& values)
{
    const auto n = static_cast<double>(values.size());
    double sum = 0, squares = 0;
    for (const double value : values)
        sum += value;
    for (const double value : values)
        squares += (value - sum / n) * (value - sum / n);
    Estimate estimate;
    estimate.mean = sum / n;
    estimate.half_width =
        t_for(static_cast<unsigned>(values.size())) * std::sqrt(squares / (n - 1)) / std::sqrt(n);
    estimate.rounds = static_cast<unsigned>(values.size());
    return estimate;
}

using Draw = std::function<double(std::size_t path, std::mt19937_64& random)>;

Point measure(std::size_t paths, unsigned rounds, const Draw& draw, std::mt19937_64& random)
{
    Point point;
    point.bs = 4096;
    point.depth = 1;
    for (std::size_t path = 0; path < paths; path++) {
        std::vector<double> values(rounds);
        for (double& value : values)
            value = draw(path, random);
        kdp::tool::document::PathResult result;
        result.path = path;
        result.rounds = rounds;
        result.summary.push_back({"lat_mean_us", estimate_of(values)});
        point.results.push_back(std::move(result));
    }
    return point;
}

std::vector<std::size_t> first(std::size_t paths)
{
    std::vector<std::size_t> all(paths);
    for (std::size_t i = 0; i < paths; i++)
        all[i] = i;
    return all;
}

bool claims(const Verdict& verdict)
{
    return verdict.finding == Finding::winner || !verdict.behind.empty();
}

double rate_of_claims(std::size_t paths, unsigned rounds, const Draw& draw)
{
    std::mt19937_64 random(paths * 1000 + rounds);
    constexpr int trials = 4000;
    int claimed = 0;
    for (int i = 0; i < trials; i++)
        claimed +=
            claims(judge(Figure::latency, measure(paths, rounds, draw, random), first(paths)));
    return static_cast<double>(claimed) / trials;
}

TEST(AdviseProperty, SamePathsAreSeldomCalledDifferent)
{
    const Draw normal = [](std::size_t, std::mt19937_64& random) {
        return std::normal_distribution<>(100, 5)(random);
    };
    const Draw skewed = [](std::size_t, std::mt19937_64& random) {
        return std::lognormal_distribution<>(4, 0.3)(random);
    };
    for (const Draw& draw : {normal, skewed})
        for (const std::size_t paths : {2, 3, 4})
            for (const unsigned rounds : {2u, 3u, 5u, 10u})
                EXPECT_LE(rate_of_claims(paths, rounds, draw), 0.05)
                    << paths << " paths, " << rounds << " rounds";
    // Two paths of one kind: what the comment on the rule and Documentation/advisor.md state.
    for (const unsigned rounds : {3u, 5u, 10u})
        EXPECT_LE(rate_of_claims(2, rounds, normal), 0.01) << rounds << " rounds";
}

TEST(AdviseProperty, PathsThatDifferInScatterAloneToo)
{
    const Draw draw = [](std::size_t path, std::mt19937_64& random) {
        return std::normal_distribution<>(100, path == 0 ? 1 : 20)(random);
    };
    for (const unsigned rounds : {3u, 5u, 10u})
        EXPECT_LE(rate_of_claims(2, rounds, draw), 0.05) << rounds << " rounds";
}

/// Otherwise an advisor that never says anything would pass.
TEST(AdviseProperty, APlainDifferenceIsFound)
{
    const Draw draw = [](std::size_t path, std::mt19937_64& random) {
        return std::normal_distribution<>(path == 1 ? 80 : 100, 2)(random);
    };
    EXPECT_GE(rate_of_claims(3, 5, draw), 0.99);
    std::mt19937_64 random(1);
    const Verdict verdict = judge(Figure::latency, measure(3, 5, draw, random), first(3));
    EXPECT_EQ(verdict.finding, Finding::winner);
    EXPECT_EQ(verdict.leaders, std::vector<std::size_t>{1});
    EXPECT_NEAR(verdict.gain.value(), 0.2, 0.04);
    EXPECT_LT(verdict.gain_at_least.value(), verdict.gain.value());
}

/// Of any input: what is claimed can be seen in the intervals.
TEST(AdviseProperty, EveryClaimIsInTheIntervals)
{
    std::mt19937_64 random(42);
    int winners = 0, ties = 0;
    for (int trial = 0; trial < 3000; trial++) {
        const double scatter = std::uniform_real_distribution<>(0.1, 30)(random);
        const Point point = measure(
            4, 3,
            [&](std::size_t path, std::mt19937_64& r) {
                return std::normal_distribution<>(100.0 + 7 * static_cast<double>(path),
                                                  scatter)(r);
            },
            random);
        const Verdict verdict = judge(Figure::latency, point, first(4));
        const Estimate& best = *point.find(verdict.leaders.front())->find("lat_mean_us");
        ASSERT_EQ(verdict.leaders.size() + verdict.behind.size(), 4u);
        for (const std::size_t path : verdict.behind)
            EXPECT_LT(best.mean + *best.half_width,
                      point.find(path)->find("lat_mean_us")->mean -
                          *point.find(path)->find("lat_mean_us")->half_width);
        for (const std::size_t path : verdict.leaders) {
            const Estimate& one = *point.find(path)->find("lat_mean_us");
            EXPECT_LE(one.mean - *one.half_width, best.mean + *best.half_width);
        }
        (verdict.finding == Finding::winner ? winners : ties)++;
    }
    EXPECT_GT(winners, 100);
    EXPECT_GT(ties, 300);
}

TEST(Verdict, IntervalsThatTouchShowNothing)
{
    const auto between = [](double low, double high) {
        Estimate estimate;
        estimate.mean = (low + high) / 2;
        estimate.half_width = (high - low) / 2;
        return estimate;
    };
    EXPECT_FALSE(apart(between(1, 2), between(2, 3)));
    EXPECT_TRUE(apart(between(1, 2), between(2.5, 3)));
    EXPECT_TRUE(apart(between(2.5, 3), between(1, 2)));
    EXPECT_FALSE(apart(between(1, 4), between(2, 3)));
    Estimate single = between(9, 9);
    single.half_width.reset();
    EXPECT_FALSE(apart(single, between(1, 2)));
}

/// Every point is in one region, and with its like.
TEST(AdviseProperty, RegionsCoverEachPointOnce)
{
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 300; trial++) {
        std::vector<Verdict> verdicts;
        for (const std::uint64_t bs : {512, 4096, 16384, 65536})
            for (const std::uint64_t depth : {1, 4, 16, 64}) {
                if (std::uniform_int_distribution<>(0, 9)(random) == 0)
                    continue;  // not measured
                Verdict verdict;
                verdict.bs = bs;
                verdict.depth = depth;
                const auto leader = std::uniform_int_distribution<std::size_t>(0, 2)(random);
                verdict.finding = leader == 2 ? Finding::tie : Finding::winner;
                verdict.leaders =
                    leader == 2 ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{leader};
                verdicts.push_back(verdict);
            }
        const auto regions = merge(verdicts);
        std::size_t points = 0;
        for (const Region& region : regions)
            points += region.points;
        EXPECT_EQ(points, verdicts.size());
        for (const Verdict& verdict : verdicts) {
            int times = 0;
            for (const Region& region : regions)
                if (region.bs.from <= verdict.bs && verdict.bs <= region.bs.to &&
                    region.depth.from <= verdict.depth && verdict.depth <= region.depth.to) {
                    times++;
                    EXPECT_EQ(region.finding, verdict.finding);
                    EXPECT_EQ(region.leaders.front(),
                              verdict.finding == Finding::tie ? 0 : verdict.leaders.front());
                }
            EXPECT_EQ(times, 1) << verdict.bs << " " << verdict.depth;
        }
    }
}

}  // namespace
