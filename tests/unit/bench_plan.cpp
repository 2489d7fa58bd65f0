// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace {

using namespace kdp;
using namespace kdp::tool::bench;

constexpr std::uint64_t pattern_seed = std::uint64_t{3} << 32;

Shape shape_of(Workload workload, unsigned read_percent)
{
    Shape shape;
    shape.workload = workload;
    shape.read_percent = read_percent;
    return shape;
}

TEST(Plan, SlicesDoNotMeet)
{
    std::set<std::uint64_t> seen;
    for (unsigned thread = 0; thread < 3; thread++) {
        ShapedPlan plan(slice_of(thread, 10, 8), shape_of(Workload::read, 100), 1, 0, false);
        for (int i = 0; i < 10; i++)
            EXPECT_TRUE(seen.insert(plan.next().lba).second);
    }
    EXPECT_EQ(seen.size(), 30u);
    EXPECT_EQ(*seen.rbegin(), 29u * 8);
}

TEST(Plan, TheMixtureIsAsAsked)
{
    for (const unsigned percent : {0U, 1U, 30U, 70U, 100U}) {
        ShapedPlan plan({0, 1000, 1}, shape_of(Workload::randrw, percent), 1, 0, false);
        int reads = 0;
        constexpr int ios = 20'000;
        for (int i = 0; i < ios; i++)
            reads += plan.next().op == Op::read ? 1 : 0;
        EXPECT_NEAR(reads, ios * percent / 100.0, ios * 0.01) << percent;
    }
}

TEST(Plan, TheSameOrderGivesTheSameSteps)
{
    ShapedPlan a({0, 100, 2}, shape_of(Workload::randrw, 50), 9, 0, false);
    ShapedPlan b({0, 100, 2}, shape_of(Workload::randrw, 50), 9, 0, false);
    ShapedPlan c({0, 100, 2}, shape_of(Workload::randrw, 50), 10, 0, false);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        const Step x = a.next(), y = b.next(), z = c.next();
        EXPECT_EQ(x.lba, y.lba);
        EXPECT_EQ(x.op, y.op);
        differs = differs || x.lba != z.lba || x.op != z.op;
    }
    EXPECT_TRUE(differs);
}

TEST(Plan, NoTwoIosAreAtOnePlaceWhileBooksAreKept)
{
    constexpr unsigned depth = 5;
    ShapedPlan plan({0, depth, 1}, shape_of(Workload::randrw, 50), 1, 0, true);
    std::map<std::uint64_t, Step> flying;
    for (int i = 0; i < 1000; i++) {
        if (flying.size() == depth) {
            plan.finished(flying.begin()->second);
            flying.erase(flying.begin());
        }
        const Step step = plan.next();
        EXPECT_TRUE(flying.emplace(step.lba, step).second);
    }
}

TEST(Plan, AReadLooksForTheLatestWrite)
{
    ShapedPlan plan({0, 4, 1}, shape_of(Workload::randrw, 50), 1, pattern_seed, true);
    std::map<std::uint64_t, std::uint64_t> stored;
    for (int i = 0; i < 1000; i++) {
        const Step step = plan.next();
        const std::uint64_t now = stored.try_emplace(step.lba, pattern_seed).first->second;
        if (step.op == Op::write) {
            EXPECT_GT(step.seed, now);
            stored[step.lba] = step.seed;
        } else {
            EXPECT_EQ(step.seed, now);
        }
        plan.finished(step);
    }
}

TEST(Plan, ReadBackFindsEachPlaceThatWasWrittenOnce)
{
    ShapedPlan plan({100, 50, 2}, shape_of(Workload::randwrite, 0), 1, pattern_seed, true);
    std::map<std::uint64_t, std::uint64_t> stored;
    for (int i = 0; i < 30; i++) {
        const Step step = plan.next();
        stored[step.lba] = step.seed;
        plan.finished(step);
    }
    ASSERT_EQ(plan.written(), stored.size());
    EXPECT_LT(plan.written(), 30u);
    ReadBack back(plan);
    for (std::uint64_t i = plan.written(); i > 0; i--) {
        const Step step = back.next();
        EXPECT_EQ(step.op, Op::read);
        ASSERT_TRUE(stored.contains(step.lba));
        EXPECT_EQ(step.seed, stored[step.lba]);
        stored.erase(step.lba);
    }
    EXPECT_TRUE(stored.empty());
}

TEST(Plan, WithoutBooksNothingWasWritten)
{
    ShapedPlan plan({0, 50, 1}, shape_of(Workload::randwrite, 0), 1, pattern_seed, false);
    (void)plan.next();
    EXPECT_EQ(plan.written(), 0u);
    EXPECT_FALSE(plan.read_of(0));
}

}  // namespace
