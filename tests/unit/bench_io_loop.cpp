// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/io_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <kdp/buffer.hpp>

#include "bench/verify.hpp"
#include "fake_path.hpp"

namespace {

using namespace kdp;
using namespace kdp::tool::bench;
using test::FakePath;

constexpr std::uint64_t blocks = 256;
constexpr std::uint32_t bytes = 1024;  // two blocks

/// All blocks in order, again and again.
class Cycle final : public Plan {
public:
    Cycle(Op op, std::uint64_t seed) : op_(op), seed_(seed) {}
    Step next() override
    {
        const Step step{op_, lba_, seed_};
        lba_ = (lba_ + bytes / FakePath::block_size) % blocks;
        return step;
    }
    void finished(const Step&) override { through++; }

    std::uint64_t through = 0;

private:
    Op op_;
    std::uint64_t seed_;
    std::uint64_t lba_ = 0;
};

class BenchIoLoop : public testing::Test {
protected:
    LoopResult run(Goal g)
    {
        g.bytes = bytes;
        g.pattern_block = FakePath::block_size;
        return IoLoop(path, buffer.memory(), depth).run(g);
    }
    LoopResult run(Plan& plan, std::uint64_t ios)
    {
        Goal g;
        g.plan = &plan;
        g.ios = ios;
        return run(g);
    }
    LoopResult run(Op op, std::uint64_t ios, std::uint64_t seed = 7)
    {
        Cycle plan(op, seed);
        return run(plan, ios);
    }

    static constexpr unsigned depth = 4;
    Pattern pattern{FakePath::block_size, 7};
    FakePath path{blocks, depth};
    Buffer buffer = Buffer::allocate(bytes * depth).value();
};

TEST_F(BenchIoLoop, WritesThenReadsVerify)
{
    const auto written = run(Op::write, blocks / 2);
    ASSERT_TRUE(written.status) << written.status.error().text;
    EXPECT_EQ(written.writes.count(), blocks / 2);
    EXPECT_EQ(written.reads.count(), 0u);
    EXPECT_FALSE(pattern.check(path.store, 0));

    const auto read = run(Op::read, 1000);
    ASSERT_TRUE(read.status) << read.status.error().text;
    EXPECT_EQ(read.ios(), 1000u);
    EXPECT_EQ(read.reads.count(), 1000u);
    EXPECT_GT(read.end_ns, read.begin_ns);
    EXPECT_FALSE(read.interrupted);
}

TEST_F(BenchIoLoop, KeepsTheDepthAndTheNumberExactly)
{
    for (const std::uint64_t ios : {1, 3, 4, 5, 17}) {
        path.ios = path.deepest = 0;
        Cycle plan(Op::write, 7);
        const auto done = run(plan, ios);
        ASSERT_TRUE(done.status);
        EXPECT_EQ(done.ios(), ios);
        EXPECT_EQ(path.ios, ios);
        EXPECT_EQ(plan.through, ios);
        EXPECT_EQ(path.deepest, std::min<std::uint64_t>(ios, depth));
    }
}

TEST_F(BenchIoLoop, CopesWithShortSubmitsAndPolls)
{
    path.most_a_submit = 1;
    path.most_a_poll = 1;
    ASSERT_TRUE(run(Op::write, blocks / 2).status);
    EXPECT_FALSE(pattern.check(path.store, 0));
}

TEST_F(BenchIoLoop, RuntimeEnds)
{
    Cycle plan(Op::write, 7);
    Goal g;
    g.plan = &plan;
    g.runtime_ns = 20'000'000;
    const auto done = run(g);
    ASSERT_TRUE(done.status);
    EXPECT_GT(done.ios(), 0u);
    EXPECT_GE(done.end_ns - done.begin_ns, g.runtime_ns);
}

TEST_F(BenchIoLoop, StopsWhenTold)
{
    Cycle plan(Op::write, 7);
    const std::atomic<bool> stop = true;
    Goal g;
    g.plan = &plan;
    g.ios = 100;
    g.stop = &stop;
    const auto done = run(g);
    ASSERT_TRUE(done.status);
    EXPECT_TRUE(done.interrupted);
    EXPECT_EQ(done.ios(), 0u);
}

TEST_F(BenchIoLoop, MixedReadsFindWhatWasWritten)
{
    ASSERT_TRUE(run(Op::write, blocks / 2).status);
    Shape shape;
    shape.workload = Workload::randrw;
    shape.read_percent = 50;
    ShapedPlan plan({0, blocks / 2, 2}, shape, 1, 7, true);
    const auto done = run(plan, 3000);
    ASSERT_TRUE(done.status) << done.status.error().text;
    EXPECT_GT(done.reads.count(), 1000u);
    EXPECT_GT(done.writes.count(), 1000u);
    EXPECT_EQ(done.ios(), 3000u);
}

TEST_F(BenchIoLoop, MixedFindsALostWrite)
{
    ASSERT_TRUE(run(Op::write, blocks / 2).status);
    path.keeps_writes = false;
    Shape shape;
    shape.workload = Workload::randrw;
    shape.read_percent = 50;
    ShapedPlan plan({0, blocks / 2, 2}, shape, 1, 7, true);
    const auto done = run(plan, 3000);
    ASSERT_FALSE(done.status);
    EXPECT_EQ(done.status.error().code, EILSEQ);
    EXPECT_NE(done.status.error().text.find("LBA"), std::string::npos);
}

TEST_F(BenchIoLoop, LogHasEveryIo)
{
    LogRecords records;
    Cycle plan(Op::write, 7);
    Goal g;
    g.plan = &plan;
    g.ios = 50;
    g.log = &records;
    const auto done = run(g);
    ASSERT_TRUE(done.status);
    ASSERT_EQ(records.size(), 50u);
    std::uint64_t most = 0, lbas = 0;
    for (const LogRecord& record : records) {
        most = std::max(most, record.ns);
        lbas += record.lba;
        EXPECT_EQ(record.op, Op::write);
    }
    EXPECT_EQ(most, done.writes.max());
    EXPECT_EQ(lbas, 2u * (49 * 50 / 2));
}

TEST_F(BenchIoLoop, OneWrongByteFailsTheRunAndIsNamed)
{
    ASSERT_TRUE(run(Op::write, blocks / 2).status);
    path.store[77 * FakePath::block_size + 300] ^= std::byte{4};
    const auto read = run(Op::read, blocks / 2);
    ASSERT_FALSE(read.status);
    EXPECT_EQ(read.status.error().code, EILSEQ);
    EXPECT_NE(read.status.error().text.find("LBA 77, byte 296"), std::string::npos)
        << read.status.error().text;
}

TEST_F(BenchIoLoop, LostWriteIsFound)
{
    ASSERT_TRUE(run(Op::write, blocks / 2).status);
    path.keeps_writes = false;
    ASSERT_TRUE(run(Op::write, 4, 8).status);
    const auto done = run(Op::read, 4, 8);
    ASSERT_FALSE(done.status);
    EXPECT_NE(done.status.error().text.find("another pass"), std::string::npos)
        << done.status.error().text;
}

TEST_F(BenchIoLoop, FailedIoIsNamedWhatSucceededCountsAndEverythingIsDrained)
{
    path.completion_of = [](const Io& io) {
        return io.lba == 20 ? Completion{io.tag, EIO, 0x281} : Completion{io.tag, 0, 0};
    };
    const auto done = run(Op::write, 100);
    ASSERT_FALSE(done.status);
    EXPECT_EQ(done.status.error().code, EIO);
    EXPECT_EQ(done.status.error().nvme_status, 0x281);
    EXPECT_NE(done.status.error().text.find("write of 1024 bytes at LBA 20"), std::string::npos);
    EXPECT_GE(done.ios(), 8u);
    EXPECT_LT(done.ios(), 12u);
    Completion rest[depth];
    EXPECT_EQ(path.poll(rest).value(), 0u);
}

TEST_F(BenchIoLoop, TagThatIsNotInFlightIsAProtocolError)
{
    for (const std::uint64_t tag : {std::uint64_t{depth}, UINT64_MAX}) {
        path.completion_of = [tag](const Io&) { return Completion{tag, 0, 0}; };
        const auto done = run(Op::write, 1);
        ASSERT_FALSE(done.status);
        EXPECT_EQ(done.status.error().code, EPROTO);
    }
}

}  // namespace
