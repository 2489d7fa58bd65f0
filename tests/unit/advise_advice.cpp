// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The advisor on fixed inputs: clear winner, tie, crossing, missing path, noisy data, single round,
// failed path, nothing; and the needs that overrule the figures.
#include "advise/advise.hpp"

#include <gtest/gtest.h>

#include "advise/print_json.hpp"
#include "advise/print_text.hpp"
#include "advise/sentences.hpp"
#include "fixtures.hpp"

namespace {

using namespace kdp::tool;
using namespace kdp::tool::advise;
using document::Bench;
using test::load_bench;

const Comparison& comparison_of(const Advice& advice, Figure figure)
{
    for (const Comparison& comparison : advice.comparisons)
        if (comparison.figure == figure)
            return comparison;
    throw std::runtime_error("no such comparison");
}

TEST(Advise, ClearWinner)
{
    const Bench bench = load_bench("winner");
    const Advice advice = advise::advise(bench, {});
    EXPECT_FALSE(advice.claim.here_only);
    EXPECT_EQ(advice.claim.headline, "");
    EXPECT_TRUE(advice.limits.empty());
    for (const Figure figure : {Figure::latency, Figure::iops, Figure::cpu}) {
        const Comparison& comparison = comparison_of(advice, figure);
        EXPECT_EQ(comparison.winners, 4u);
        ASSERT_EQ(comparison.regions.size(), 1u);
        EXPECT_EQ(comparison.regions[0].leaders, std::vector<std::size_t>{2});
        EXPECT_EQ(area(comparison.regions[0]), "4k–16k, depth 1–4");
        EXPECT_TRUE(comparison.crossings.empty());
    }
    const Region& latency = comparison_of(advice, Figure::latency).regions[0];
    EXPECT_NEAR(latency.gain->least, 0.5, 0.03) << "30 against 60";
    EXPECT_LT(latency.gain->sure, latency.gain->least);
    EXPECT_NE(statement(bench, latency).find("% lower than the next"), std::string::npos);
    EXPECT_EQ(comparison_of(advice, Figure::cpu).verdicts[0].key, "cpu_machine_us_per_io");
}

TEST(Advise, TieClaimsNothing)
{
    const Bench bench = load_bench("tie");
    const Advice advice = advise::advise(bench, {});
    for (const Comparison& comparison : advice.comparisons) {
        EXPECT_EQ(comparison.winners, 0u) << figure_name(comparison.figure);
        EXPECT_TRUE(comparison.crossings.empty());
        EXPECT_EQ(in_short(bench, comparison), "no difference shown at any of 2 points");
    }
    const std::string text = to_text(bench, advice);
    EXPECT_NE(text.find("no difference shown between kernel:kdpg0n1 and block:kdp0n1"),
              std::string::npos);
    EXPECT_EQ(text.find("than the next"), std::string::npos);
}

TEST(Advise, Crossing)
{
    const Bench bench = load_bench("crossing");
    const Advice advice = advise::advise(bench, {});
    const Comparison& latency = comparison_of(advice, Figure::latency);
    ASSERT_EQ(latency.regions.size(), 2u);
    EXPECT_EQ(area(latency.regions[0]), "4k–16k, depth 1–4");
    EXPECT_EQ(latency.regions[0].leaders, std::vector<std::size_t>{1});
    EXPECT_EQ(area(latency.regions[1]), "4k–16k, depth 8–16");
    EXPECT_EQ(latency.regions[1].leaders, std::vector<std::size_t>{0});
    ASSERT_EQ(latency.crossings.size(), 1u);
    EXPECT_EQ(statement(bench, latency.crossings[0]),
              "at 4k–16k: verbs:10.77.0.1 up to depth 4, kernel:kdpg0n1 from depth 8");
}

TEST(Advise, MissingPathIsNotCompared)
{
    const Bench bench = load_bench("missing");
    const Advice advice = advise::advise(bench, {});
    const Comparison& latency = comparison_of(advice, Figure::latency);
    ASSERT_EQ(latency.verdicts.size(), 2u);
    EXPECT_EQ(latency.verdicts[0].leaders.front(), 2u);
    EXPECT_EQ(latency.verdicts[1].leaders.front(), 0u);
    ASSERT_EQ(advice.limits.size(), 1u);
    EXPECT_EQ(advice.limits[0], "verbs:10.77.0.1 was not measured at 1 of 2 points.");
}

TEST(Advise, NoisyDataShowNothing)
{
    const Bench bench = load_bench("noisy");
    for (const Comparison& comparison : advise::advise(bench, {}).comparisons)
        EXPECT_EQ(comparison.winners, 0u) << figure_name(comparison.figure);
}

TEST(Advise, SingleRoundShowsNothing)
{
    const Bench bench = load_bench("single_round");
    const Advice advice = advise::advise(bench, {});
    for (const Comparison& comparison : advice.comparisons)
        EXPECT_EQ(comparison.winners, 0u);
    EXPECT_NE(statement(bench, comparison_of(advice, Figure::latency).regions[0])
                  .find("(one round: no intervals)"),
              std::string::npos);
    EXPECT_EQ(advice.limits.size(), 2u);
}

TEST(Advise, FailedPathIsNamedAndNotCompared)
{
    const Bench bench = load_bench("failed");
    const Advice advice = advise::advise(bench, {});
    EXPECT_EQ(comparison_of(advice, Figure::latency).verdicts[1].leaders.front(), 0u);
    ASSERT_EQ(advice.limits.size(), 3u);
    EXPECT_NE(advice.limits[0].find("ended early"), std::string::npos);
    EXPECT_NE(advice.limits[1].find("interrupted"), std::string::npos);
    EXPECT_NE(advice.limits[2].find("failed at 1 of 2 points"), std::string::npos);
    EXPECT_NE(advice.limits[2].find("randread, 4k, depth 4: no answer"), std::string::npos);
}

TEST(Advise, NothingMeasured)
{
    const Bench bench = load_bench("empty");
    const Advice advice = advise::advise(bench, {});
    EXPECT_TRUE(advice.comparisons.empty());
    ASSERT_EQ(advice.limits.size(), 1u);
    EXPECT_EQ(advice.limits[0], "Nothing was measured.");
    EXPECT_NE(to_text(bench, advice).find("Nothing was measured."), std::string::npos);
    EXPECT_TRUE(to_json(bench, advice)["comparisons"].empty());
}

TEST(Advise, EmulationAndSoftwareProvidersLowerTheClaim)
{
    Bench bench = load_bench("failed");
    const Claim claim = claim_of(bench);
    EXPECT_TRUE(claim.here_only);
    EXPECT_EQ(claim.headline,
              "Measured on soft-RoCE under emulation: this says nothing of your fabric.");
    EXPECT_EQ(to_text(bench, advise::advise(bench, {})).find("! Measured on soft-RoCE"), 0u)
        << "it stands first";
    bench.environment.emulated = false;
    EXPECT_EQ(claim_of(bench).headline, "Measured on soft-RoCE: this says nothing of your fabric.");
    bench.environment.rdma[0].software = false;
    EXPECT_FALSE(claim_of(bench).here_only);
    EXPECT_NE(claim_of(bench).headline.find("virtual machine"), std::string::npos);
}

/// /proc/stat counts in ticks: figures closer than one tick over all I/Os of a round are the same.
TEST(Advise, MachineTimeIsNoFinerThanItsTicks)
{
    Bench bench = load_bench("winner");
    bench.points.resize(1);
    auto& results = bench.points[0].results;
    const auto set = [&](std::size_t path, double mean) {
        for (auto& keyed : results[path].summary)
            if (keyed.key == "cpu_machine_us_per_io") {
                keyed.estimate.mean = mean;
                keyed.estimate.half_width = 0;
            }
    };
    ASSERT_EQ(results[0].least_ios, 2000u);  // a tick: 5 us an I/O
    set(0, 100);
    set(1, 109);
    set(2, 150);
    EXPECT_EQ(comparison_of(advise::advise(bench, {}), Figure::cpu).verdicts[0].finding,
              Finding::tie);
    set(1, 111);
    EXPECT_EQ(comparison_of(advise::advise(bench, {}), Figure::cpu).verdicts[0].finding,
              Finding::winner);
}

TEST(Advise, ProcessTimeIsUsedWhereTheMachinesIsNotKnown)
{
    Bench bench = load_bench("winner");
    std::erase_if(bench.points[0].results[1].summary,
                  [](const auto& keyed) { return keyed.key == "cpu_machine_us_per_io"; });
    const Advice advice = advise::advise(bench, {});
    const Comparison& cpu = comparison_of(advice, Figure::cpu);
    EXPECT_EQ(cpu.verdicts[0].key, "cpu_process_us_per_io");
    EXPECT_NE(heading(cpu).find("of this process alone"), std::string::npos);
}

struct Case {
    Need need;
    const char* uri;
    bool meets;
};

TEST(Needs, WhichPathMeetsWhat)
{
    const char* verbs = "verbs://192.0.2.1/nqn?nsid=1";
    for (const Case& one : std::initializer_list<Case>{
             {Need::filesystem, "block:/dev/kdp0n1", true},
             {Need::filesystem, "kernel:/dev/kdpg0n1", false},
             {Need::filesystem, verbs, false},
             {Need::filesystem, "tcp://192.0.2.1/nqn", false},
             {Need::sharing, "kernel:/dev/kdpg0n1", true},
             {Need::sharing, "block:/dev/nvme0n1", true},
             {Need::sharing, verbs, false},
             {Need::sharing, "tcp://192.0.2.1/nqn", false},
             {Need::crash_safe, "block:/dev/kdp0n1", true},
             {Need::crash_safe, verbs, false},
             {Need::no_spare_core, verbs, true},
             {Need::no_spare_core, "verbs://192.0.2.1/nqn?nsid=1&wait=poll", false},
             {Need::no_spare_core, "verbs://192.0.2.1/nqn?wait=poll&wait=event", true},
             {Need::no_spare_core, "block:/dev/kdp0n1?mode=uring-poll", false},
             {Need::no_spare_core, "kernel:/dev/kdpg0n1?mode=uring&sqpoll=1", false},
             {Need::no_spare_core, "kernel:/dev/kdpg0n1?mode=uring", true},
             {Need::isolation, verbs, false},
             {Need::isolation, "verbs://192.0.2.1/nqn?buffers=plain", true},
             {Need::isolation, "kernel:/dev/kdpg0n1?mode=uring&buffers=region", false},
             {Need::isolation, "kernel:/dev/kdpg0n1?mode=uring&buffers=fixed", true},
             {Need::isolation, "tcp://192.0.2.1/nqn", true},
             {Need::isolation, "block:/dev/kdp0n1", true},
             {Need::isolation, "smoke:signals", false},
             {Need::isolation, "", false},
         }) {
        EXPECT_EQ(!why_not(one.need, one.uri), one.meets) << need_name(one.need) << " " << one.uri;
    }
    for (const Need need : all_needs)
        EXPECT_EQ(parse_need(need_name(need)), need);
    EXPECT_FALSE(parse_need("speed"));
    EXPECT_FALSE(parse_need(""));
}

TEST(Needs, RestrictTheCandidatesWithTheReason)
{
    const Bench bench = load_bench("winner");
    const Advice advice = advise::advise(bench, {Need::sharing});
    EXPECT_EQ(advice.eligible(), (std::vector<std::size_t>{0, 1}));
    for (const Comparison& comparison : advice.comparisons)
        for (const Verdict& verdict : comparison.verdicts)
            for (const std::size_t path : verdict.leaders)
                EXPECT_NE(path, 2u);
    const std::string text = to_text(bench, advice);
    EXPECT_NE(text.find("no candidate, sharing: verbs: belongs to one process"), std::string::npos);
    EXPECT_NE(text.find("* given: several processes"), std::string::npos);

    const Advice one = advise::advise(bench, {Need::filesystem});
    EXPECT_EQ(one.limits.front(),
              "block:kdp0n1 alone is left: there is nothing to compare it with.");
    const Advice none = advise::advise(bench, {Need::filesystem, Need::isolation, Need::sharing});
    EXPECT_EQ(none.candidates[2].excluded.size(), 3u);
    EXPECT_EQ(advise::advise(load_bench("single_round"), {Need::filesystem}).limits.front(),
              "No path that was measured meets these needs.");
}

TEST(Needs, AllAreCaveatsWhenNotGiven)
{
    const Bench bench = load_bench("winner");
    const std::string text = to_text(bench, advise::advise(bench, {}));
    for (const Need need : all_needs)
        EXPECT_NE(text.find(std::string("--need ") + std::string(need_name(need))),
                  std::string::npos);
    const auto json = to_json(bench, advise::advise(bench, {}));
    EXPECT_EQ(json["caveats"].size(), all_needs.size());
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["comparisons"][0]["regions"][0]["leaders"], document::Json({2}));
}

TEST(Needs, WithoutASpareCoreTheCpuFiguresSpeakFirst)
{
    const Bench bench = load_bench("winner");
    EXPECT_EQ(advise::advise(bench, {}).comparisons.front().figure, Figure::latency);
    EXPECT_EQ(advise::advise(bench, {Need::no_spare_core}).comparisons.front().figure, Figure::cpu);
}

}  // namespace
