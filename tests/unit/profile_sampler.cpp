// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The profiler on this machine, where it lets us: tests/selftests/profile.sh wants it to.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "bench/clock.hpp"
#include "profile/profiler.hpp"

namespace {

using namespace kdp::tool::profile;

/// In user space, without a system call.
std::uint64_t spin_for(std::uint64_t ns)
{
    volatile std::uint64_t turns = 0;
    const std::uint64_t begin = kdp::tool::bench::now_ns();
    while (kdp::tool::bench::now_ns() - begin < ns)
        for (int i = 0; i < 10000; i++)
            turns = turns + 1;
    return turns;
}

TEST(Profiler, WhatSpinsIsApplication)
{
    auto profiler = Profiler::open();
    if (!profiler) {
        EXPECT_FALSE(profiler.error().text.empty());
        if (std::getenv("KDP_VM") && profiler.error().code != ENOENT)
            FAIL() << profiler.error().text;
        GTEST_SKIP() << profiler.error().text;
    }
    ASSERT_TRUE(profiler->start());
    EXPECT_GT(spin_for(300'000'000), 0U);
    ASSERT_TRUE(profiler->stop());
    const auto breakdown = profiler->classify({1, 300'000'000, Transport::none, ""});
    ASSERT_TRUE(breakdown);
    const Breakdown& b = breakdown.value();
    EXPECT_EQ(std::accumulate(b.by_class.begin(), b.by_class.end(), std::uint64_t{0}), b.samples);
    EXPECT_GT(b.in(Class::application), 0U);
    // starting and stopping the events is all that the kernel does for this process
    EXPECT_GT(b.in(Class::application), 5 * b.in(Class::kernel_path));
    for (const Class c : {Class::provider_calls, Class::provider_threads, Class::target})
        EXPECT_EQ(b.in(c), 0U) << class_name(c);

    std::uint64_t chains = 0;
    for (const auto& [line, count] : profiler->stacks())
        chains += count;
    EXPECT_EQ(chains, b.samples);
}

}  // namespace
