// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// From counts to microseconds, and the projection for a fabric in hardware.
#include "profile/breakdown.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "profile/projection.hpp"

namespace {

using namespace kdp::tool::profile;

std::size_t at(Class c)
{
    return static_cast<std::size_t>(c);
}

Breakdown breakdown_of(std::uint64_t samples, std::uint64_t application, std::uint64_t kernel_path)
{
    Breakdown b;
    b.ios = 1000;
    b.cpu_us = 2e6;  // two CPUs for a second
    b.samples = samples;
    b.by_class[at(Class::application)] = application;
    b.by_class[at(Class::kernel_path)] = kernel_path;
    b.by_class[at(Class::idle)] = samples - application - kernel_path;
    return b;
}

TEST(Breakdown, SharesOfAllCpus)
{
    const Breakdown b = breakdown_of(4000, 400, 600);
    EXPECT_DOUBLE_EQ(b.us_an_io(Class::application).value, 200);  // a tenth of 2000 us an I/O
    EXPECT_DOUBLE_EQ(b.own_us_an_io().value, 500);
    EXPECT_EQ(b.busy(), 1000U);
}

TEST(Breakdown, TheIntervalIsThatOfAProportion)
{
    // Wilson's for 400 of 4000: 0.0911 to 0.1097
    EXPECT_NEAR(breakdown_of(4000, 400, 0).us_an_io(Class::application).half_width / 2000,
                (0.10969 - 0.09108) / 2, 2e-5);
    // four times the samples, half the interval
    const double few = breakdown_of(4000, 400, 0).us_an_io(Class::application).half_width;
    const double many = breakdown_of(16000, 1600, 0).us_an_io(Class::application).half_width;
    EXPECT_NEAR(few / many, 2, 0.01);
    // nothing seen is not the same as nothing there
    EXPECT_GT(breakdown_of(4000, 0, 0).us_an_io(Class::application).half_width, 0);
    EXPECT_EQ(breakdown_of(4000, 0, 0).us_an_io(Class::application).value, 0);
}

TEST(Breakdown, SharingOutLosesNothing)
{
    std::array<std::uint64_t, class_count> weights{3, 3, 3};
    for (std::uint64_t total = 0; total < 20; total++) {
        const auto shares = share_out(total, weights);
        EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), total);
        EXPECT_LE(shares[0] - shares[2], 1U);
        EXPECT_EQ(shares[3], 0U);
    }
    EXPECT_EQ(share_out(10, {1, 0, 9})[2], 9U);
    EXPECT_EQ(share_out(10, {}), (std::array<std::uint64_t, class_count>{}));
}

Sample kernel_thread(std::uint32_t thread, std::vector<Frame> inner)
{
    Sample sample;
    sample.thread = thread;
    sample.kernel = std::move(inner);
    sample.kernel.insert(sample.kernel.end(), {{"worker_thread", ""}, {"kthread", ""}});
    return sample;
}

TEST(Tally, WhatAWorkerDoesBetweenItsWorksIsSharedOut)
{
    Roles roles;
    roles.provider = {"rdma_rxe"};
    roles.target = {"nvmet_rdma"};
    Tally tally(roles);
    tally.add(kernel_thread(5, {{"do_work", "rdma_rxe"}}), 3);
    tally.add(kernel_thread(5, {{"nvmet_rdma_recv_done", "nvmet_rdma"}}), 1);
    EXPECT_FALSE(tally.add(kernel_thread(5, {{"schedule", ""}}), 8));
    EXPECT_FALSE(tally.add(kernel_thread(6, {{"schedule", ""}}), 2));  // never seen at work
    const auto counts = tally.by_class();
    EXPECT_EQ(counts[at(Class::provider_threads)], 9U);
    EXPECT_EQ(counts[at(Class::target)], 3U);
    EXPECT_EQ(counts[at(Class::other)], 2U);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 14U);
}

TEST(Tally, AnInterruptOfAWorkerIsNoWorkOfIts)
{
    Roles roles;
    Tally tally(roles);
    tally.add(kernel_thread(5, {{"tick", ""}, {"asm_sysvec_apic_timer_interrupt", ""}}), 4);
    tally.add(kernel_thread(5, {{"schedule", ""}}), 1);
    const auto counts = tally.by_class();
    EXPECT_EQ(counts[at(Class::interrupts)], 4U);
    EXPECT_EQ(counts[at(Class::other)], 1U);
}

// -- --fabric ------------------------------------------------------------------------------------

TEST(Fabric, UnitsAndOrder)
{
    auto fabric = parse_fabric("rtt=2us,gbps=100");
    ASSERT_TRUE(fabric);
    EXPECT_DOUBLE_EQ(fabric->rtt_us, 2);
    EXPECT_DOUBLE_EQ(fabric->gbps, 100);
    EXPECT_DOUBLE_EQ(fabric->post_us, 0);
    auto other = parse_fabric("gbps=2.5,post=250ns,rtt=1.5ms");
    ASSERT_TRUE(other);
    EXPECT_DOUBLE_EQ(other->rtt_us, 1500);
    EXPECT_DOUBLE_EQ(other->gbps, 2.5);
    EXPECT_DOUBLE_EQ(other->post_us, 0.25);
    EXPECT_TRUE(parse_fabric("rtt=0us,gbps=1"));
}

TEST(Fabric, WhatIsWrongIsNamed)
{
    const std::pair<const char*, const char*> bad[] = {
        {"", "rtt=TIME"},
        {"rtt=2us", "gbps: is missing"},
        {"gbps=100", "rtt: is missing"},
        {"rtt=2,gbps=100", "rtt=2: a time with its unit"},
        {"rtt=2s,gbps=100", "rtt=2s"},
        {"rtt=-2us,gbps=100", "rtt=-2us"},
        {"rtt=us,gbps=100", "rtt=us"},
        {"rtt=nanus,gbps=100", "rtt=nanus"},
        {"rtt=infus,gbps=100", "rtt=infus"},
        {"rtt=1e3us,gbps=100", "rtt=1e3us"},
        {"rtt=2us,gbps=0", "gbps=0"},
        {"rtt=2us,gbps=100g", "gbps=100g"},
        {"rtt=2us,gbps=", "gbps="},
        {"rtt=2us,gbps=100,", "rtt=TIME"},
        {"rtt=2us,rtt=3us,gbps=1", "given twice"},
        {"rtt=2us,gbps=1,loss=1", "loss=1: rtt, gbps and post are known"},
    };
    for (const auto& [text, part] : bad) {
        auto fabric = parse_fabric(text);
        ASSERT_FALSE(fabric) << text;
        EXPECT_EQ(fabric.error().code, EINVAL);
        EXPECT_NE(fabric.error().text.find(part), std::string::npos) << fabric.error().text;
        EXPECT_NE(fabric.error().text.find("--fabric"), std::string::npos);
    }
}

TEST(Projection, LatencyAndIopsByHand)
{
    const FabricModel fabric{2, 100, 0.25};
    auto p = project({3.75, 0.4}, fabric, 4096, 1);
    ASSERT_TRUE(p);
    ASSERT_TRUE(p->latency_us);
    // 3.75 + 0.25 + 2 + 32768 bits at 100 000 a us
    EXPECT_NEAR(p->latency_us->value, 6.32768, 1e-9);
    EXPECT_DOUBLE_EQ(p->latency_us->half_width, 0.4);
    EXPECT_DOUBLE_EQ(p->iops_per_core.value, 250'000);
    EXPECT_DOUBLE_EQ(p->iops_per_core.half_width, 25'000);
    EXPECT_FALSE(p->link_bound);
    EXPECT_EQ(p->formula_latency,
              "own 3.75 us + post 0.25 us + rtt 2 us + 4096 B * 8 / 100e9 = 6.33 us");
    EXPECT_EQ(p->formula_iops,
              "min(1e6 / (own 3.75 us + post 0.25 us) = 250000, 100e9 / 8 / 4096 B = 3051758)");
}

TEST(Projection, TheLinkIsALimit)
{
    auto p = project({10, 1}, {2, 10, 0}, 65536, 16);
    ASSERT_TRUE(p);
    EXPECT_TRUE(p->link_bound);
    EXPECT_NEAR(p->iops_per_core.value, 10e9 / 8 / 65536, 1e-6);
    EXPECT_EQ(p->iops_per_core.half_width, 0);
    // no latency is claimed where I/Os queue up behind each other
    EXPECT_FALSE(p->latency_us);
    EXPECT_TRUE(p->formula_latency.empty());
}

TEST(Projection, NothingWithoutACost)
{
    EXPECT_FALSE(project({0, 1}, {2, 10, 0}, 4096, 1));
    EXPECT_FALSE(project({NAN, 1}, {2, 10, 0}, 4096, 1));
}

}  // namespace
