// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/io_loop.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include <kdp/buffer.hpp>

#include "fake_path.hpp"

namespace {

using namespace kdp;
using namespace kdp::tool::bench;
using test::FakePath;

constexpr std::uint64_t blocks = 256;
constexpr std::uint32_t bytes = 1024;  // two blocks

class BenchIoLoop : public testing::Test {
protected:
    Goal goal(Op op, std::uint64_t ios)
    {
        Goal g;
        g.op = op;
        g.bytes = bytes;
        g.ios = ios;
        g.pattern = &pattern;
        g.next = [this] {
            const auto lba = next;
            next = (next + bytes / FakePath::block_size) % blocks;
            return lba;
        };
        return g;
    }
    Result<LoopResult> run(const Goal& g)
    {
        IoLoop loop(path, buffer.memory(), depth);
        return loop.run(g);
    }

    static constexpr unsigned depth = 4;
    Pattern pattern{FakePath::block_size, 7};
    std::uint64_t next = 0;
    FakePath path{blocks, depth};
    Buffer buffer = Buffer::allocate(bytes * depth).value();
};

TEST_F(BenchIoLoop, WritesThenReadsVerify)
{
    const auto written = run(goal(Op::write, blocks / 2));
    ASSERT_TRUE(written) << written.error().text;
    EXPECT_EQ(written.value().ios, blocks / 2);
    EXPECT_FALSE(pattern.check(path.store, 0));

    const auto read = run(goal(Op::read, 1000));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read.value().ios, 1000u);
    EXPECT_EQ(read.value().latency.count(), 1000u);
    EXPECT_GT(read.value().elapsed_ns, 0u);
    EXPECT_FALSE(read.value().interrupted);
}

TEST_F(BenchIoLoop, KeepsTheDepthAndTheNumberExactly)
{
    for (const std::uint64_t ios : {1, 3, 4, 5, 17}) {
        path.ios = path.deepest = 0;
        const auto done = run(goal(Op::write, ios));
        ASSERT_TRUE(done);
        EXPECT_EQ(done.value().ios, ios);
        EXPECT_EQ(path.ios, ios);
        EXPECT_EQ(path.deepest, std::min<std::uint64_t>(ios, depth));
    }
}

TEST_F(BenchIoLoop, CopesWithShortSubmitsAndPolls)
{
    path.most_a_submit = 1;
    path.most_a_poll = 1;
    ASSERT_TRUE(run(goal(Op::write, blocks / 2)));
    EXPECT_FALSE(pattern.check(path.store, 0));
}

TEST_F(BenchIoLoop, RuntimeEnds)
{
    Goal g = goal(Op::write, 0);
    g.runtime_ns = 20'000'000;
    const auto done = run(g);
    ASSERT_TRUE(done);
    EXPECT_GT(done.value().ios, 0u);
    EXPECT_GE(done.value().elapsed_ns, g.runtime_ns);
}

TEST_F(BenchIoLoop, OneWrongByteFailsTheRunAndIsNamed)
{
    ASSERT_TRUE(run(goal(Op::write, blocks / 2)));
    path.store[77 * FakePath::block_size + 300] ^= std::byte{4};
    next = 0;
    const auto read = run(goal(Op::read, blocks / 2));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, EILSEQ);
    EXPECT_NE(read.error().text.find("LBA 77, byte 296"), std::string::npos) << read.error().text;
}

TEST_F(BenchIoLoop, LostWriteIsFound)
{
    ASSERT_TRUE(run(goal(Op::write, blocks / 2)));
    path.keeps_writes = false;
    const Pattern second(FakePath::block_size, 8);
    Goal write = goal(Op::write, 4);
    write.pattern = &second;
    ASSERT_TRUE(run(write));
    next = 0;
    Goal read = goal(Op::read, 4);
    read.pattern = &second;
    const auto done = run(read);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("another pass"), std::string::npos) << done.error().text;
}

TEST_F(BenchIoLoop, FailedIoIsNamedAndEverythingDrained)
{
    path.completion_of = [](const Io& io) {
        return io.lba == 20 ? Completion{io.tag, EIO, 0x281} : Completion{io.tag, 0, 0};
    };
    const auto done = run(goal(Op::write, 100));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, EIO);
    EXPECT_EQ(done.error().nvme_status, 0x281);
    EXPECT_NE(done.error().text.find("write of 1024 bytes at LBA 20"), std::string::npos);
    Completion rest[depth];
    EXPECT_EQ(path.poll(rest).value(), 0u);
}

TEST_F(BenchIoLoop, TagThatIsNotInFlightIsAProtocolError)
{
    for (const std::uint64_t tag : {std::uint64_t{depth}, UINT64_MAX}) {
        path.completion_of = [tag](const Io&) { return Completion{tag, 0, 0}; };
        const auto done = run(goal(Op::write, 1));
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, EPROTO);
    }
}

}  // namespace
