// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "bench/addresses.hpp"

namespace {

using kdp::tool::bench::Addresses;
using kdp::tool::bench::Pattern;

constexpr std::uint32_t block = 512;

std::vector<std::byte> filled(const Pattern& pattern, std::uint64_t lba, std::size_t blocks)
{
    std::vector<std::byte> data(blocks * block);
    pattern.fill(data, lba);
    return data;
}

TEST(Pattern, FilledDataVerify)
{
    for (const std::uint32_t size : {512u, 4096u}) {
        const Pattern pattern(size, 42);
        std::vector<std::byte> data(8 * size);
        pattern.fill(data, 1000);
        EXPECT_FALSE(pattern.check(data, 1000));
    }
}

TEST(Pattern, EveryFlippedBitIsFound)
{
    const Pattern pattern(block, 42);
    auto data = filled(pattern, 7, 2);
    for (std::size_t at = 0; at < data.size(); at++) {
        const auto flip = std::byte{1} << (at % 8);
        data[at] ^= flip;
        const auto mismatch = pattern.check(data, 7);
        ASSERT_TRUE(mismatch) << "byte " << at;
        EXPECT_EQ(mismatch->lba, 7 + at / block);
        EXPECT_EQ(mismatch->offset, at % block / 8 * 8);
        EXPECT_NE(mismatch->expected, mismatch->found);
        data[at] ^= flip;
    }
}

TEST(Pattern, TheFirstBadBlockIsReported)
{
    const Pattern pattern(block, 1);
    auto data = filled(pattern, 100, 8);
    data[3 * block + 100] ^= std::byte{1};
    data[6 * block] ^= std::byte{1};
    EXPECT_EQ(pattern.check(data, 100)->lba, 103u);
}

TEST(Pattern, MisdirectedBlockIsNamed)
{
    const Pattern pattern(block, 1);
    const auto data = filled(pattern, 55, 1);
    const auto mismatch = pattern.check(data, 54);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->expected, 54u);
    EXPECT_EQ(mismatch->found, 55u);
    EXPECT_NE(mismatch->to_string().find("data of LBA 55"), std::string::npos);
}

TEST(Pattern, StaleBlockOfAnotherSeedIsNamed)
{
    const auto data = filled(Pattern(block, 8), 54, 1);
    const auto mismatch = Pattern(block, 9).check(data, 54);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->offset, 8u);
    EXPECT_NE(mismatch->guess.find("seed 8"), std::string::npos);
}

TEST(Pattern, ZeroesAreNamed)
{
    const std::vector<std::byte> zeroes(block);
    const auto mismatch = Pattern(block, 9).check(zeroes, 54);
    ASSERT_TRUE(mismatch);
    EXPECT_NE(mismatch->guess.find("zeroes"), std::string::npos);
}

TEST(Pattern, TornBlockIsFound)
{
    auto torn = filled(Pattern(block, 2), 5, 1);
    const auto old = filled(Pattern(block, 1), 5, 1);
    std::copy(old.begin() + 256, old.end(), torn.begin() + 256);
    const auto mismatch = Pattern(block, 2).check(torn, 5);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->offset, 256u);
}

TEST(Addresses, SequentialWraps)
{
    Addresses addresses(3, false, 1);
    for (const std::uint64_t want : {0, 1, 2, 0, 1})
        EXPECT_EQ(addresses.next(), want);
}

TEST(Addresses, RandomIsRepeatableAndCovers)
{
    constexpr std::uint64_t places = 64;
    Addresses a(places, true, 5), b(places, true, 5), c(places, true, 6);
    std::set<std::uint64_t> seen;
    bool differs = false;
    for (int i = 0; i < 2000; i++) {
        const auto place = a.next();
        ASSERT_LT(place, places);
        EXPECT_EQ(place, b.next());
        differs = differs || place != c.next();
        seen.insert(place);
    }
    EXPECT_EQ(seen.size(), places);
    EXPECT_TRUE(differs);
}

}  // namespace
