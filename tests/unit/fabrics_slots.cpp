// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The slots of a queue: which command is where, and how old it is.
#include "fabrics/slots.hpp"

#include <gtest/gtest.h>

using kdp::fabrics::Slots;

namespace {

TEST(Slots, EachIsTakenOnceAndComesBack)
{
    Slots slots(3);
    std::vector<std::uint16_t> taken;
    while (slots.any_free())
        taken.push_back(slots.acquire());
    EXPECT_EQ(taken, (std::vector<std::uint16_t>{0, 1, 2}));
    EXPECT_EQ(slots.taken(), 3U);
    EXPECT_FALSE(slots.in_flight(1)) << "taken, but its command has not begun";
    slots.begin(1, 77);
    EXPECT_TRUE(slots.in_flight(1));
    EXPECT_EQ(slots.cookie(1), 77U);
    slots.release(1);
    EXPECT_FALSE(slots.in_flight(1));
    EXPECT_EQ(slots.acquire(), 1);
}

TEST(Slots, NoNumberOfAPeersIsOutOfRange)
{
    const Slots slots(3);
    for (const std::size_t slot : {0UL, 2UL, 3UL, 4095UL, 65535UL})
        EXPECT_FALSE(slots.in_flight(slot));
}

TEST(Slots, CancelHandsOutWhatIsInFlightOnce)
{
    Slots slots(4);
    for (std::uint64_t cookie : {10, 11, 12})
        slots.begin(slots.acquire(), cookie);
    slots.release(1);
    std::vector<std::uint64_t> cookies;
    slots.cancel_all([&](std::uint64_t cookie) { cookies.push_back(cookie); });
    EXPECT_EQ(cookies, (std::vector<std::uint64_t>{10, 12}));
    EXPECT_EQ(slots.taken(), 0U);
    slots.cancel_all([&](std::uint64_t) { FAIL() << "nothing is in flight"; });
}

TEST(Slots, AgeCountsFromTheBeginOfThisCommand)
{
    Slots slots(2);
    slots.tell_time(5);
    EXPECT_FALSE(slots.overdue(0)) << "there is none";
    slots.begin(slots.acquire(), 1);
    slots.tell_time(15);
    EXPECT_FALSE(slots.overdue(10)) << "as old as the limit is not older";
    slots.tell_time(16);
    EXPECT_TRUE(slots.overdue(10));
    slots.release(0);
    EXPECT_FALSE(slots.overdue(10));
    slots.begin(slots.acquire(), 2);
    EXPECT_FALSE(slots.overdue(10)) << "another command in the same slot";
    slots.tell_time(27);
    EXPECT_TRUE(slots.overdue(10));
}

}  // namespace
