// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The ring itself, with submissions that do nothing: a submission of zeroes is a NOP.
#include "ring.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include <kdp/buffer.hpp>

namespace {

using namespace kdp;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Started, or skipped where there is no io_uring.
#define START_OR_SKIP(ring, ...)                                                   \
    Ring ring;                                                                     \
    if (const Status status = ring.start(__VA_ARGS__, "a ring"); !status) {        \
        ASSERT_TRUE(status.error().code == ENOSYS || status.error().code == EPERM) \
            << status.error().text;                                                \
        GTEST_SKIP() << "io_uring is not available";                               \
    }

/// The user data of the next completion; 0 after a second.
std::uint64_t completion_of(Ring& ring)
{
    const auto deadline = steady_clock::now() + 1s;
    for (;;) {
        if (io_uring_cqe* cqe = ring.peek()) {
            const std::uint64_t data = io_uring_cqe_get_data64(cqe);
            ring.seen(cqe);
            return data;
        }
        if (ring.wait(deadline) != 0)
            return 0;
    }
}

TEST(RingTest, ABatchIsOneSubmission)
{
    for (const RingSetup& setup : {RingSetup{.entries = 4}, RingSetup{.entries = 4, .wide = true},
                                   RingSetup{.entries = 4, .wide = true, .one_thread = true}}) {
        START_OR_SKIP(ring, setup);
        for (int round = 0; round < 3; round++) {
            for (std::uint64_t i = 1; i <= 4; i++)
                io_uring_sqe_set_data64(&ring.next_sqe(), i);
            ASSERT_EQ(ring.submit(), 0);
            for (std::uint64_t i = 1; i <= 4; i++)
                EXPECT_EQ(completion_of(ring), i);
        }
        EXPECT_EQ(ring.submissions(), 3u);
        EXPECT_EQ(ring.peek(), nullptr);
    }
}

TEST(RingTest, AThreadOfTheKernelTakesThem)
{
    START_OR_SKIP(ring, {.entries = 2, .sq_thread = true, .wide = true});
    // more than there are entries, at the speed of the kernel's thread
    for (std::uint64_t i = 1; i <= 200; i += 2) {
        io_uring_sqe_set_data64(&ring.next_sqe(), i);
        io_uring_sqe_set_data64(&ring.next_sqe(), i + 1);
        ASSERT_EQ(ring.submit(), 0);
        EXPECT_EQ(completion_of(ring), i);
        EXPECT_EQ(completion_of(ring), i + 1);
    }
    EXPECT_EQ(ring.submissions(), 0u) << "unknown";
}

TEST(RingTest, OneThreadIsTheFirstThatSubmits)
{
    START_OR_SKIP(ring, {.entries = 1, .one_thread = true});
    std::thread([&] { EXPECT_TRUE(ring.ours()); }).join();
    io_uring_sqe_set_data64(&ring.next_sqe(), 5);
    ASSERT_EQ(ring.submit(), 0);
    EXPECT_EQ(completion_of(ring), 5u);
    EXPECT_TRUE(ring.ours());
    std::thread([&] { EXPECT_FALSE(ring.ours()); }).join();
}

TEST(RingTest, WaitKeepsToItsTime)
{
    START_OR_SKIP(ring, {.entries = 1, .one_thread = true});
    io_uring_sqe_set_data64(&ring.next_sqe(), 9);
    ASSERT_EQ(ring.submit(), 0);
    EXPECT_EQ(completion_of(ring), 9u);
    const auto begin = steady_clock::now();
    int rc = 0;
    while (rc == 0)
        rc = ring.wait(begin + 20ms);
    EXPECT_EQ(rc, ETIMEDOUT);
    EXPECT_GE(steady_clock::now() - begin, 20ms);
    EXPECT_LT(steady_clock::now() - begin, 10s);
}

TEST(RingTest, BuffersInSlices)
{
    START_OR_SKIP(ring, {.entries = 1});
    auto buffer = Buffer::allocate(10 * 4096);
    ASSERT_TRUE(buffer);
    const auto memory = buffer->memory();
    ASSERT_TRUE(ring.add_buffer(memory, 16384));
    EXPECT_EQ(ring.buffers(), 3u);
    EXPECT_EQ(ring.buffer_of(memory.subspan(0, 16384)), 0);
    EXPECT_EQ(ring.buffer_of(memory.subspan(16384, 4096)), 1);
    EXPECT_EQ(ring.buffer_of(memory.subspan(32768, 8192)), 2);
    EXPECT_EQ(ring.buffer_of(memory.subspan(12288, 8192)), -1) << "across two";
    EXPECT_TRUE(ring.add_buffer(memory.subspan(4096, 4096)));
    EXPECT_EQ(ring.buffers(), 3u) << "it was there already";
    EXPECT_EQ(ring.add_buffer({reinterpret_cast<std::byte*>(4096), 4096}).error().code, EFAULT);
    EXPECT_EQ(ring.buffers(), 3u);
}

}  // namespace
