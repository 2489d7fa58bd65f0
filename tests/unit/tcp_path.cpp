// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The whole tcp path, from the URI to bytes, against a small controller on 127.0.0.1.
#include "tcp_controller.hpp"

#include <fmt/format.h>

#include <kdp/uri.hpp>

using tcp_peer::Bytes;
using tcp_peer::SmallController;

namespace {

constexpr int patience_ms = 60000;

class TcpPath : public testing::Test {
protected:
    using Paths = std::vector<std::unique_ptr<kdp::DataPath>>;

    [[nodiscard]] kdp::PathUri uri(const std::string& more = "") const
    {
        auto parsed = kdp::parse_uri(
            fmt::format("tcp://127.0.0.1:{}/nqn.io.kdp:small?{}", controller_.port, more));
        EXPECT_TRUE(parsed);
        return parsed.value();
    }
    Paths open(unsigned count, unsigned depth, const std::string& more = "",
               std::uint32_t keep_alive_ms = 0)
    {
        kdp::OpenOptions options;
        options.depth = depth;
        options.keep_alive_ms = keep_alive_ms;
        options.host_nqn = "nqn.2014-08.org.nvmexpress:uuid:77000000-0000-4000-8000-000000000001";
        auto paths = kdp::open_paths(uri(more), options, count);
        EXPECT_TRUE(paths) << paths.error().text;
        return paths ? std::move(*paths) : Paths();
    }
    static void run(kdp::DataPath& path, const std::vector<kdp::Io>& ios, int status = 0)
    {
        auto taken = path.submit(ios);
        ASSERT_TRUE(taken) << taken.error().text;
        ASSERT_EQ(*taken, ios.size());
        for (std::size_t done = 0; done < ios.size();) {
            kdp::Completion out[4];
            auto got = path.wait(out, patience_ms);
            ASSERT_TRUE(got) << got.error().text;
            ASSERT_GT(*got, 0U);
            for (std::size_t i = 0; i < *got; i++)
                EXPECT_EQ(out[i].status, status) << out[i].tag;
            done += *got;
        }
    }

    SmallController controller_;
};

class TcpPathDigests : public TcpPath, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, TcpPathDigests,
                         testing::Values("", "hdgst=1", "ddgst=1", "hdgst=1&ddgst=1"));

TEST_P(TcpPathDigests, WhatOneQueueWroteTheOtherReads)
{
    auto paths = open(2, 8, GetParam());
    ASSERT_EQ(paths.size(), 2U);
    EXPECT_EQ(controller_.io_queues, 2U);
    EXPECT_EQ(paths[0]->info().blocks, SmallController::store_bytes / 512);
    EXPECT_EQ(paths[0]->info().block_size, 512U);
    // in the capsule, and not
    for (const std::size_t bytes : {512UL, 8192UL, 8704UL, 100UL * 512, 1UL << 20}) {
        Bytes data(bytes), back(bytes);
        for (std::size_t i = 0; i < bytes; i++)
            data[i] = static_cast<std::uint8_t>(i * 7 + bytes / 512 + i / 251);
        run(*paths[0], {{kdp::Op::write, 0, std::as_writable_bytes(std::span(data)), 1}});
        run(*paths[1], {{kdp::Op::read, 0, std::as_writable_bytes(std::span(back)), 2}});
        EXPECT_EQ(back, data) << bytes;
    }
    run(*paths[0], {{kdp::Op::flush, 0, {}, 3}});
    EXPECT_EQ(controller_.io_responses, 6U) << "reads have none: SUCCESS";
    paths.erase(paths.begin());
    EXPECT_FALSE(controller_.shut_down);
    paths.clear();
    EXPECT_TRUE(controller_.shut_down);
}

TEST_F(TcpPath, BatchIsOneDoorbell)
{
    auto paths = open(1, 8);
    ASSERT_EQ(paths.size(), 1U);
    Bytes back(8 * 512);
    const auto memory = std::as_writable_bytes(std::span(back));
    std::vector<kdp::Io> batch;
    for (std::size_t i = 0; i < 8; i++)
        batch.push_back({kdp::Op::read, i, memory.subspan(i * 512, 512), i});
    run(*paths[0], batch);
    EXPECT_EQ(paths[0]->counters().doorbells, 1U);
    EXPECT_EQ(paths[0]->counters().work_requests, 0U);
    // what cannot be is taken, and sent nowhere
    run(*paths[0], {{kdp::Op::read, SmallController::store_bytes / 512, memory.first(512), 1}},
        ERANGE);
    run(*paths[0], {{kdp::Op::read, 0, memory.first(100), 1}}, EINVAL);
    EXPECT_EQ(paths[0]->counters().doorbells, 1U);
}

TEST_F(TcpPath, LostControllerFailsAllPaths)
{
    auto paths = open(2, 4);
    ASSERT_EQ(paths.size(), 2U);
    Bytes back(2 * 512);
    const auto memory = std::as_writable_bytes(std::span(back));
    controller_.silent = true;
    ASSERT_TRUE(paths[0]->submit(std::vector<kdp::Io>{{kdp::Op::read, 0, memory.first(512), 1},
                                                      {kdp::Op::read, 1, memory.subspan(512), 2}}));
    kdp::Completion out[4];
    auto nothing = paths[0]->wait(out, 10);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, ETIMEDOUT);
    controller_.hang_up();
    auto got = paths[0]->wait(out, patience_ms);
    ASSERT_TRUE(got) << got.error().text;
    ASSERT_EQ(*got, 2U);
    EXPECT_EQ(out[0].status, ENOTCONN);
    EXPECT_EQ(out[1].status, ENOTCONN);
    for (const auto& path : paths) {
        // the keeper tells who has not noticed
        for (int i = 0; i < patience_ms; i++) {
            auto taken = path->submit({});
            if (!taken) {
                EXPECT_EQ(taken.error().code, ENOTCONN);
                break;
            }
            ASSERT_LT(i, patience_ms - 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

/// A controller that answers Keep Alive and nothing else is lost once its time is over.
TEST_F(TcpPath, AnIoThatIsNeverAnsweredEnds)
{
    auto paths = open(1, 4, "io_timeout=3", 200);
    ASSERT_EQ(paths.size(), 1U);
    Bytes back(512);
    const std::vector<kdp::Io> read{{kdp::Op::read, 0, std::as_writable_bytes(std::span(back)), 1}};
    // one that is answered is not what ends the next
    run(*paths[0], read);
    controller_.silent = true;
    ASSERT_TRUE(paths[0]->submit(read));
    kdp::Completion out[4];
    auto got = paths[0]->wait(out, patience_ms);
    ASSERT_TRUE(got) << got.error().text;
    ASSERT_EQ(*got, 1U);
    EXPECT_EQ(out[0].status, ENOTCONN);
    auto taken = paths[0]->submit(read);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ENOTCONN);
    EXPECT_NE(taken.error().text.find("unanswered for 3 s"), std::string::npos)
        << taken.error().text;
    EXPECT_GT(controller_.keep_alives, 0U);
}

/// An answer that nobody came for in time is an answer, also if more is submitted before.
TEST_F(TcpPath, AnAnswerThatWaitedIsTaken)
{
    auto paths = open(1, 4, "io_timeout=1", 200);
    ASSERT_EQ(paths.size(), 1U);
    Bytes back(1024);
    const auto memory = std::as_writable_bytes(std::span(back));
    ASSERT_TRUE(paths[0]->submit(std::vector<kdp::Io>{{kdp::Op::read, 0, memory.first(512), 1}}));
    std::this_thread::sleep_for(std::chrono::seconds(4));
    auto taken = paths[0]->submit(std::vector<kdp::Io>{{kdp::Op::read, 1, memory.subspan(512), 2}});
    ASSERT_TRUE(taken) << taken.error().text;
    kdp::Completion out[4];
    for (std::size_t done = 0; done < 2;) {
        auto got = paths[0]->wait(out, patience_ms);
        ASSERT_TRUE(got) << got.error().text;
        for (std::size_t i = 0; i < *got; i++)
            EXPECT_EQ(out[i].status, 0) << out[i].tag;
        done += *got;
    }
}

TEST_F(TcpPath, WithoutALimitAnIoMayTakeForEver)
{
    auto paths = open(1, 4, "io_timeout=0", 200);
    ASSERT_EQ(paths.size(), 1U);
    Bytes back(512);
    controller_.silent = true;
    ASSERT_TRUE(paths[0]->submit(
        std::vector<kdp::Io>{{kdp::Op::read, 0, std::as_writable_bytes(std::span(back)), 1}}));
    kdp::Completion out[4];
    auto got = paths[0]->wait(out, 1500);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ETIMEDOUT);
    EXPECT_TRUE(paths[0]->submit({}));
    controller_.hang_up();
}

TEST_F(TcpPath, KeepsAlive)
{
    auto paths = open(1, 1, "", 40);
    ASSERT_EQ(paths.size(), 1U);
    for (int i = 0; i < patience_ms && controller_.keep_alives < 3; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GE(controller_.keep_alives, 3U);
}

TEST_F(TcpPath, CannotBeOpened)
{
    kdp::OpenOptions options;
    const auto fails = [&](const kdp::PathUri& uri, unsigned depth) {
        options.depth = depth;
        const auto paths = kdp::open_paths(uri, options, 1);
        EXPECT_FALSE(paths);
        return paths ? 0 : paths.error().code;
    };
    EXPECT_EQ(fails(uri("nsid=2"), 1), ENODEV);
    EXPECT_EQ(fails(uri(), 128), EINVAL) << "its queues have 128 entries";
    kdp::PathUri name = uri();
    name.host = "localhost";
    EXPECT_EQ(fails(name, 1), EINVAL);
    kdp::PathUri nobody = uri();
    nobody.port = 1;
    EXPECT_EQ(fails(nobody, 1), ECONNREFUSED);
}

}  // namespace
