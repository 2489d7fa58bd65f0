// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The block path on a regular file, and the checks that all paths share.
#include "block_path.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <kdp/buffer.hpp>
#include <kdp/uri.hpp>

#include "io_check.hpp"
#include "unique_fd.hpp"

namespace {

using namespace kdp;

constexpr std::uint64_t file_blocks = 64;

OpenOptions with_depth(unsigned depth)
{
    OpenOptions options;
    options.depth = depth;
    return options;
}

class BlockPathTest : public testing::Test {
protected:
    void SetUp() override
    {
        name_ = testing::TempDir() + "kdp_block_XXXXXX";
        const UniqueFd fd(mkstemp(name_.data()));
        ASSERT_TRUE(fd);
        ASSERT_EQ(ftruncate(fd.get(), file_blocks * 512), 0);
    }
    void TearDown() override { unlink(name_.c_str()); }

    std::unique_ptr<DataPath> open(unsigned depth, bool read_only = false)
    {
        OpenOptions options = with_depth(depth);
        options.read_only = read_only;
        auto path = open_block_path(name_, options);
        if (!path && (path.error().code == ENOSYS || path.error().code == EPERM))
            return nullptr;  // no io_uring here
        EXPECT_TRUE(path) << path.error().text;
        return path ? std::move(path).value() : nullptr;
    }

    /// One I/O to its end.
    static Completion run(DataPath& path, const Io& io)
    {
        EXPECT_EQ(path.submit({&io, 1}).value(), 1u);
        Completion done;
        EXPECT_EQ(path.wait({&done, 1}, 5000).value(), 1u);
        EXPECT_EQ(done.tag, io.tag);
        return done;
    }

    std::string name_;
    Buffer buffer_ = Buffer::allocate(64 * 1024).value();
};

#define OPEN_OR_SKIP(path, ...)          \
    const auto path = open(__VA_ARGS__); \
    if (!path)                           \
    GTEST_SKIP() << "io_uring is not available"

TEST_F(BlockPathTest, Info)
{
    OPEN_OR_SKIP(path, 1);
    EXPECT_EQ(path->info().blocks, file_blocks);
    EXPECT_EQ(path->info().block_size, 512u);
    EXPECT_GE(path->info().max_transfer, 4096u);
    EXPECT_NE(path->info().device.find(name_), std::string::npos);
}

TEST_F(BlockPathTest, WriteReadFlush)
{
    for (const bool registered : {false, true}) {
        OPEN_OR_SKIP(path, 2);
        if (registered) {
            ASSERT_TRUE(path->register_buffer(buffer_.memory()));
        }
        const auto out = buffer_.memory().subspan(0, 4096);
        const auto in = buffer_.memory().subspan(8192, 4096);
        std::memset(out.data(), registered ? 0xa5 : 0x5a, out.size());
        std::memset(in.data(), 0, in.size());
        EXPECT_EQ(run(*path, {Op::write, 8, out, 1}).status, 0);
        EXPECT_EQ(run(*path, {Op::flush, 0, {}, 2}).status, 0);
        EXPECT_EQ(run(*path, {Op::read, 8, in, 3}).status, 0);
        EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
        EXPECT_EQ(path->counters().registrations, registered ? 1u : 0u);
    }
}

TEST_F(BlockPathTest, SeveralRegisteredBuffers)
{
    OPEN_OR_SKIP(path, 2);
    const auto first = buffer_.memory().subspan(0, 4096);
    const auto second = buffer_.memory().subspan(8192, 4096);
    ASSERT_TRUE(path->register_buffer(first));
    ASSERT_TRUE(path->register_buffer(second));
    ASSERT_TRUE(path->register_buffer(second.subspan(512))) << "inside one that is there";
    EXPECT_EQ(path->counters().registrations, 2u);
    std::memset(first.data(), 0x3c, first.size());
    EXPECT_EQ(run(*path, {Op::write, 0, first, 1}).status, 0);
    EXPECT_EQ(run(*path, {Op::read, 0, second, 2}).status, 0);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin()));
    // across the end of a registered one: as if it were none
    const auto across = buffer_.memory().subspan(2048, 4096);
    EXPECT_EQ(run(*path, {Op::read, 0, across, 3}).status, 0);
    EXPECT_TRUE(std::all_of(across.begin(), across.end(),
                            [](std::byte b) { return b == std::byte{0x3c}; }));
}

TEST_F(BlockPathTest, WaitingForNothing)
{
    OPEN_OR_SKIP(path, 1);
    Completion done;
    EXPECT_EQ(path->wait({&done, 1}, 10).value(), 0u) << "nothing is in flight";
    EXPECT_EQ(path->poll({&done, 1}).value(), 0u);
}

TEST_F(BlockPathTest, SubmitStopsAtTheDepth)
{
    OPEN_OR_SKIP(path, 4);
    Io batch[6];
    for (std::uint64_t i = 0; i < 6; i++)
        batch[i] = {Op::read, i, buffer_.memory().subspan(i * 512, 512), i};
    EXPECT_EQ(path->submit(batch).value(), 4u);
    EXPECT_EQ(path->submit(std::span(batch).subspan(4)).value(), 0u);

    std::vector<std::uint64_t> tags;
    Completion out[6];
    while (tags.size() < 4) {
        const auto n = path->wait(out, 5000).value();
        ASSERT_GT(n, 0u);
        for (std::size_t i = 0; i < n; i++)
            tags.push_back(out[i].tag);
    }
    std::sort(tags.begin(), tags.end());
    EXPECT_EQ(tags, (std::vector<std::uint64_t>{0, 1, 2, 3}));
    EXPECT_EQ(path->wait(out, 5000).value(), 0u) << "nothing is in flight";
    EXPECT_EQ(path->submit(std::span(batch).subspan(4)).value(), 2u);
}

/// One system call a batch, whatever collects it.
TEST_F(BlockPathTest, AQueuedBatchStartsWithTheWait)
{
    OPEN_OR_SKIP(path, 4);
    Io batch[4];
    for (std::uint64_t i = 0; i < 4; i++)
        batch[i] = {Op::read, i, buffer_.memory().subspan(i * 512, 512), i};
    Completion out[4];
    const auto collect = [&](std::size_t want) {
        while (want > 0) {
            const auto n = path->wait(out, 5000).value();
            ASSERT_GT(n, 0u);
            want -= n;
        }
    };
    EXPECT_EQ(path->queue(batch).value(), 4u);
    EXPECT_EQ(path->counters().doorbells, 0u);
    collect(4);
    EXPECT_EQ(path->counters().doorbells, 1u);

    EXPECT_EQ(path->queue(std::span(batch).first(1)).value(), 1u);
    EXPECT_EQ(path->submit(std::span(batch).subspan(1)).value(), 3u);
    EXPECT_EQ(path->counters().doorbells, 2u) << "queued before: in the same batch";
    collect(4);

    EXPECT_EQ(path->queue(std::span(batch).first(2)).value(), 2u);
    std::size_t polled = 0;
    while (polled < 2)
        polled += path->poll(out).value();
    EXPECT_EQ(path->counters().doorbells, 3u) << "the first poll starts it";
    EXPECT_EQ(path->queue({batch, 1}).value(), 1u) << "and who leaves waits for it";
}

TEST_F(BlockPathTest, InvalidIosCompleteWithAnErrno)
{
    OPEN_OR_SKIP(path, 8);
    const auto memory = buffer_.memory();
    EXPECT_EQ(run(*path, {Op::read, file_blocks, memory.subspan(0, 512), 1}).status, ERANGE);
    EXPECT_EQ(run(*path, {Op::read, file_blocks - 1, memory.subspan(0, 1024), 2}).status, ERANGE);
    EXPECT_EQ(run(*path, {Op::read, UINT64_MAX, memory.subspan(0, 512), 3}).status, ERANGE);
    EXPECT_EQ(run(*path, {Op::read, 0, memory.subspan(0, 100), 4}).status, EINVAL);
    EXPECT_EQ(run(*path, {Op::read, 0, {}, 5}).status, EINVAL);
    EXPECT_EQ(run(*path, {Op::flush, 0, memory.subspan(0, 512), 6}).status, EINVAL);
    EXPECT_EQ(run(*path, {Op::read, 0, memory.subspan(0, 512), 7}).status, 0);
}

TEST_F(BlockPathTest, SeveralPathsAreOpenedApart)
{
    OPEN_OR_SKIP(alone, 1);
    const auto uri = parse_uri("block:" + name_).value();
    auto paths = open_paths(uri, {}, 3);
    ASSERT_TRUE(paths) << paths.error().text;
    ASSERT_EQ(paths->size(), 3U);
    paths->erase(paths->begin());
    std::fill(buffer_.memory().begin(), buffer_.memory().end(), std::byte{0x77});
    EXPECT_EQ(run(*paths->front(), {Op::write, 5, buffer_.memory().first(512), 1}).status, 0);
    EXPECT_EQ(run(*paths->back(), {Op::read, 5, buffer_.memory().subspan(512, 512), 2}).status, 0);
    EXPECT_EQ(buffer_.data()[512], std::byte{0x77});
    for (const unsigned none : {0U, 65535U}) {
        const auto refused = open_paths(uri, {}, none);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, EINVAL) << refused.error().text;
    }
    EXPECT_EQ(open_paths(parse_uri("block:/nowhere").value(), {}, 2).error().code, ENOENT);
}

TEST_F(BlockPathTest, ReadOnlyRefusesWrites)
{
    OPEN_OR_SKIP(path, 1, true);
    EXPECT_NE(run(*path, {Op::write, 0, buffer_.memory().subspan(0, 512), 1}).status, 0);
}

TEST_F(BlockPathTest, LeavingWithIoInFlightIsInOrder)
{
    OPEN_OR_SKIP(path, 4);
    const Io io{Op::read, 0, buffer_.memory().subspan(0, 4096), 1};
    EXPECT_EQ(path->submit({&io, 1}).value(), 1u);
}

TEST_F(BlockPathTest, OpenErrors)
{
    EXPECT_EQ(open_block_path(name_ + ".missing", {}).error().code, ENOENT);
    EXPECT_EQ(open_block_path("/dev/null", {}).error().code, ENOTBLK);
    EXPECT_EQ(open_block_path(name_, {}, true).error().code, EOPNOTSUPP) << "polled: a file";
    EXPECT_EQ(open_block_path(name_, with_depth(0)).error().code, EINVAL);
    EXPECT_EQ(open_block_path(name_, with_depth(1'000'000)).error().code, EINVAL);
    ASSERT_EQ(truncate(name_.c_str(), 0), 0);
    EXPECT_EQ(open_block_path(name_, {}).error().code, ENXIO);
}

TEST(OpenPath, ErrorsOfTheOthers)
{
    EXPECT_EQ(open_path("nonsense", {}).error().code, EINVAL);
    EXPECT_EQ(open_path("kernel:/dev/null", {}).error().code, ENOTTY);
    EXPECT_EQ(open_path("kernel:/dev/kdp_no_such", {}).error().code, ENOENT);
    for (const std::string mode : {"ioctl", "uring", "uring-poll"}) {
        const std::string uri = "kernel:/dev/null?mode=" + mode;
        EXPECT_EQ(open_path(uri, {}).error().code, ENOTTY);
        EXPECT_EQ(open_path(uri, with_depth(0)).error().code, EINVAL);
        EXPECT_EQ(open_path(uri, with_depth(1'000'000)).error().code, EINVAL);
    }
}

TEST(IoCheck, Bounds)
{
    const NamespaceInfo info{100, 512, 4096, "", ""};
    std::byte memory[8192];
    const std::span<std::byte> all(memory);
    EXPECT_EQ(check_io(info, {Op::read, 92, all.first(4096), 0}), 0);
    EXPECT_EQ(check_io(info, {Op::read, 93, all.first(4096), 0}), ERANGE);
    EXPECT_EQ(check_io(info, {Op::read, 0, all.first(4608), 0}), EINVAL);
    EXPECT_EQ(check_io(info, {Op::write, 0, all.first(511), 0}), EINVAL);
    EXPECT_EQ(check_io(info, {Op::flush, 0, {}, 0}), 0);
}

TEST(BufferTest, AlignedAndZero)
{
    for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, std::size_t{3} << 20}) {
        auto buffer = Buffer::allocate(size);
        ASSERT_TRUE(buffer);
        EXPECT_GE(buffer->size(), size);
        const auto alignment = size >= (std::size_t{2} << 20) ? std::uintptr_t{2} << 20 : 4096;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % alignment, 0u);
        EXPECT_TRUE(std::all_of(buffer->memory().begin(), buffer->memory().end(),
                                [](std::byte b) { return b == std::byte{0}; }));
        const Buffer moved = std::move(buffer).value();
        EXPECT_GE(moved.size(), size);
    }
    EXPECT_EQ(Buffer::allocate(0).error().code, EINVAL);
    EXPECT_EQ(Buffer::allocate(SIZE_MAX).error().code, ENOMEM);
}

}  // namespace
