// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp copy: what the command line means, and the copying itself, over a path in memory.
#include "copy/copy.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <kdp/buffer.hpp>

#include "copy/mover.hpp"
#include "copy/print.hpp"
#include "fake_path.hpp"
#include "unique_fd.hpp"

namespace {

using namespace kdp;
using namespace kdp::tool::copy;
using test::FakePath;

TEST(CopyPlace, DevicesAndOffsets)
{
    EXPECT_TRUE(parse_place("/dev/null").value().device);
    EXPECT_EQ(parse_place("/dev/null").value().offset, 0u);
    EXPECT_EQ(parse_place("/dev/null@0").value().offset, 0u);
    const auto place = parse_place("/dev/null@64m").value();
    EXPECT_TRUE(place.device);
    EXPECT_EQ(place.name, "/dev/null");
    EXPECT_EQ(place.offset, 64u << 20);
    for (const char* bad : {"/dev/null@", "/dev/null@x", "/dev/null@-1", "/dev/null@1.5k"})
        EXPECT_EQ(parse_place(bad).error().code, EINVAL) << bad;
}

TEST(CopyPlace, Files)
{
    for (const char* name : {"/no/such", "/no/such@4k", "image@x", "@", "a@"}) {
        const auto place = parse_place(name);
        ASSERT_TRUE(place) << name;
        EXPECT_FALSE(place.value().device);
        EXPECT_EQ(place.value().name, name);
    }
}

void expect_refused(const RawOptions& raw, Options options, const std::string& words)
{
    const auto status = complete_options(raw, options);
    ASSERT_FALSE(status) << words;
    EXPECT_EQ(status.error().code, EINVAL);
    EXPECT_NE(status.error().text.find(words), std::string::npos) << status.error().text;
}

TEST(CopyOptions, Directions)
{
    Options options;
    ASSERT_TRUE(complete_options({.source = "f", .destination = "/dev/null@4k"}, options));
    EXPECT_TRUE(options.to_device);
    EXPECT_EQ(options.file, "f");
    EXPECT_EQ(options.device, "/dev/null");
    EXPECT_EQ(options.offset, 4096u);
    ASSERT_TRUE(complete_options({.source = "/dev/null", .destination = "f"}, options));
    EXPECT_FALSE(options.to_device);
    EXPECT_EQ(options.offset, 0u);
    expect_refused({.source = "a", .destination = "b"}, {}, "character device");
    expect_refused({.source = "/dev/null", .destination = "/dev/zero"}, {}, "character device");
    expect_refused({.source = "a", .destination = "/dev/null@z"}, {}, "offset");
}

TEST(CopyOptions, Values)
{
    const RawOptions good{.source = "f", .destination = "/dev/null"};
    const auto with = [&](auto change) {
        RawOptions raw = good;
        change(raw);
        return raw;
    };
    Options options;
    ASSERT_TRUE(complete_options(with([](RawOptions& raw) { raw.length = "1m"; }), options));
    EXPECT_EQ(options.length, 1u << 20);
    EXPECT_EQ(options.chunk_bytes, 32u << 20);
    EXPECT_FALSE(options.mode);
    ASSERT_TRUE(complete_options(with([](RawOptions& raw) { raw.mode = "uring-poll"; }), options));
    EXPECT_EQ(options.mode, KernelMode::uring_poll);
    expect_refused(with([](RawOptions& raw) { raw.mode = "uring&sqpoll=1"; }), {}, "--mode");
    expect_refused(with([](RawOptions& raw) { raw.length = "x"; }), {}, "--length x");
    expect_refused(with([](RawOptions& raw) { raw.command_bytes = "0"; }), {}, "--bs 0");
    expect_refused(with([](RawOptions& raw) { raw.chunk_bytes = "4k"; }), {}, "--chunk 4k");
    Options padded;
    padded.pad = true;
    EXPECT_TRUE(complete_options(good, padded));
    expect_refused({.source = "/dev/null", .destination = "f"}, padded, "--pad");
}

TEST(CopyLength, FitsOrSaysWhy)
{
    const NamespaceInfo info{100, 512, 4096, "", ""};
    const auto code = [&](const Options& options, std::uint64_t file) {
        const auto length = length_of(options, info, file);
        return length ? 0 : length.error().code;
    };
    Options options;
    EXPECT_EQ(length_of(options, info, 51200).value(), 51200u);
    EXPECT_EQ(code(options, 51712), ENOSPC);
    EXPECT_EQ(code(options, 0), EINVAL);
    EXPECT_EQ(code(options, 1000), EINVAL) << "no whole blocks";
    options.pad = true;
    EXPECT_EQ(length_of(options, info, 1000).value(), 1000u);
    options.pad = false;
    options.length = 1024;
    EXPECT_EQ(length_of(options, info, 51712).value(), 1024u);
    EXPECT_EQ(code(options, 512), EINVAL) << "the file is shorter";
    options.length.reset();
    for (const std::uint64_t offset : {51200, 512000})
        EXPECT_EQ(code({.offset = offset}, 512), ERANGE);
    EXPECT_EQ(code({.offset = 100}, 512), EINVAL) << "within a block";
    EXPECT_EQ(code({.offset = 50688}, 1024), ENOSPC);
    EXPECT_EQ(length_of({.to_device = false, .offset = 512}, info, 0).value(), 50688u);
    EXPECT_EQ(code({.to_device = false, .length = 1000}, 0), EINVAL);
}

constexpr std::uint64_t blocks = 4096;
constexpr std::size_t all = blocks * FakePath::block_size;
constexpr std::uint64_t chunk = 128 * 1024;

class Copying : public testing::TestWithParam<bool> {
protected:
    void SetUp() override
    {
        file_ = UniqueFd(memfd_create("kdp_copy", MFD_CLOEXEC));
        ASSERT_TRUE(file_);
        options_.buffered = GetParam();
        options_.depth = depth;
        options_.chunk_bytes = chunk;
        options_.command_bytes = 16 * 1024;
        for (std::size_t i = 0; i < content_.size(); i++)
            content_[i] = static_cast<std::byte>(i * 7 + (i >> 9));
    }
    /// The file gets the first @p bytes of what there is.
    void fill_file(std::size_t bytes)
    {
        ASSERT_EQ(ftruncate(file_.get(), 0), 0);
        ASSERT_TRUE(write_all(file_.get(), std::span(content_).first(bytes), 0));
        report_.total = bytes;
    }
    Status run()
    {
        return run_on(
            path_, buffer_.memory(), file_.get(), options_,
            [this](std::uint64_t bytes, std::uint64_t) { seen_ = bytes; }, report_);
    }

    static constexpr unsigned depth = 4;
    Options options_;
    Report report_;
    UniqueFd file_;
    std::vector<std::byte> content_ = std::vector<std::byte>(all);
    Buffer buffer_ = Buffer::allocate(depth * (std::size_t{1} << 20)).value();
    FakePath path_{blocks, depth};
    std::uint64_t seen_ = 0;
};

TEST_P(Copying, ToTheDevice)
{
    const std::size_t bytes = 5 * chunk + 3 * 512;
    fill_file(bytes);
    options_.offset = 1024;
    ASSERT_TRUE(run());
    EXPECT_EQ(std::memcmp(path_.store.data() + 1024, content_.data(), bytes), 0);
    EXPECT_EQ(report_.bytes, bytes);
    EXPECT_EQ(seen_, bytes);
    EXPECT_EQ(report_.commands, 5 * 8 + 1 + 1u) << "16 KiB each, the rest, a Flush";
    EXPECT_TRUE(report_.flushed);
    EXPECT_EQ(path_.deepest, depth);
    EXPECT_EQ(report_.regions, GetParam() ? 0u : 6u);
    EXPECT_EQ(report_.registrations, GetParam() ? 0u : 12u);
    EXPECT_EQ(report_.region_bytes, GetParam() ? 0u : chunk);
}

TEST_P(Copying, ToTheFile)
{
    path_.store = content_;
    options_.to_device = false;
    options_.offset = 512;
    report_.total = 3 * chunk + 512;
    ASSERT_EQ(ftruncate(file_.get(), static_cast<off_t>(report_.total)), 0);
    ASSERT_TRUE(run());
    std::vector<std::byte> back(report_.total);
    ASSERT_TRUE(read_all(file_.get(), back, 0));
    EXPECT_EQ(std::memcmp(back.data(), content_.data() + 512, back.size()), 0);
    EXPECT_FALSE(report_.flushed);
    EXPECT_EQ(report_.bytes, back.size());
}

TEST_P(Copying, AShortLastBlockIsPadded)
{
    const std::size_t bytes = chunk + 700;
    fill_file(bytes);
    std::fill(path_.store.begin(), path_.store.end(), std::byte{0xee});
    options_.flush = false;
    ASSERT_TRUE(run());
    EXPECT_EQ(std::memcmp(path_.store.data(), content_.data(), bytes), 0);
    EXPECT_EQ(report_.padding_bytes, 1024u - 700u);
    for (std::size_t i = bytes; i < chunk + 1024; i++)
        EXPECT_EQ(path_.store[i], std::byte{0});
    EXPECT_EQ(path_.store[chunk + 1024], std::byte{0xee});
    EXPECT_FALSE(report_.flushed);
}

TEST_P(Copying, AFileOfLessThanABlock)
{
    fill_file(100);
    ASSERT_TRUE(run());
    EXPECT_EQ(report_.bytes, 100u);
    EXPECT_EQ(report_.regions, 0u);
    EXPECT_EQ(std::memcmp(path_.store.data(), content_.data(), 100), 0);
}

TEST_P(Copying, CommandsAreAsLargeAsThePathTakes)
{
    fill_file(all);
    options_.command_bytes.reset();
    options_.chunk_bytes = all;
    ASSERT_TRUE(run());
    EXPECT_EQ(report_.command_bytes, path_.info().max_transfer);
    EXPECT_EQ(report_.commands, 2 + 1u);
    EXPECT_EQ(path_.store, content_);
}

TEST_P(Copying, AFailedCommandIsNamed)
{
    fill_file(chunk);
    path_.completion_of = [](const Io& io) {
        return io.lba == 64 ? Completion{io.tag, ENOSPC, 0x81} : Completion{io.tag, 0, 0};
    };
    const auto status = run();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ENOSPC);
    EXPECT_EQ(status.error().nvme_status, 0x81);
    EXPECT_NE(status.error().text.find("write of 16384 bytes at LBA 64"), std::string::npos)
        << status.error().text;
}

TEST_P(Copying, APathThatTakesOneAtATime)
{
    fill_file(3 * chunk);
    path_.most_a_submit = 1;
    path_.most_a_poll = 1;
    ASSERT_TRUE(run());
    EXPECT_EQ(std::memcmp(path_.store.data(), content_.data(), 3 * chunk), 0);
}

INSTANTIATE_TEST_SUITE_P(Both, Copying, testing::Bool(),
                         [](const auto& info) { return info.param ? "Buffered" : "Regions"; });

using CopyingRegions = Copying;

TEST_P(CopyingRegions, SmallerOnesWhereNoMoreCanBePinned)
{
    fill_file(2 * chunk);
    path_.refuses_region = [](std::uint64_t length) { return length > 64 * 1024 ? ENOMEM : 0; };
    ASSERT_TRUE(run());
    EXPECT_EQ(report_.regions, 4u);
    EXPECT_EQ(report_.region_bytes, 64u * 1024);
    EXPECT_EQ(std::memcmp(path_.store.data(), content_.data(), 2 * chunk), 0);
}

TEST_P(CopyingRegions, OneAtATimeWhereTwoDoNotFit)
{
    fill_file(2 * chunk);
    bool refused = false;
    path_.refuses_region = [&](std::uint64_t) {
        refused = !refused && !path_.region_lengths.empty();
        return refused ? ENOSPC : 0;
    };
    ASSERT_TRUE(run());
    EXPECT_EQ(report_.regions, 2u);
    EXPECT_EQ(std::memcmp(path_.store.data(), content_.data(), 2 * chunk), 0);
}

TEST_P(CopyingRegions, NoneAtAllIsAnError)
{
    fill_file(2 * chunk);
    for (const int code : {ENOMEM, ENOSPC, EPERM, EOPNOTSUPP}) {
        path_.refuses_region = [code](std::uint64_t) { return code; };
        const auto status = run();
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().code, code);
    }
}

TEST_P(CopyingRegions, ASignalMeansAgain)
{
    fill_file(chunk);
    int calls = 0;
    path_.refuses_region = [&](std::uint64_t) { return calls++ < 2 ? EINTR : 0; };
    ASSERT_TRUE(run());
    EXPECT_EQ(report_.regions, 1u);
    EXPECT_EQ(report_.bytes, chunk);
}

INSTANTIATE_TEST_SUITE_P(Only, CopyingRegions, testing::Values(false));

TEST(CopyPrint, JsonAndText)
{
    Options options;
    options.file = "f";
    options.device = "/dev/kdpg0n1";
    options.offset = 4096;
    Report report;
    report.bytes = 1 << 20;
    report.elapsed_ns = 500'000'000;
    report.cpu_user_us = 100;
    report.cpu_system_us = 1500;
    report.commands = 3;
    report.regions = 1;
    report.registrations = 1;
    report.region_bytes = 1 << 20;
    report.mode = KernelMode::uring;
    report.flushed = true;
    const auto json = to_json(options, report);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["direction"], "to-device");
    EXPECT_EQ(json["bytes"], 1 << 20);
    EXPECT_EQ(json["seconds"], 0.5);
    EXPECT_EQ(json["cpu_us"], 1600);
    EXPECT_EQ(json["mode"], "uring");
    const std::string text = to_text(options, report);
    EXPECT_NE(text.find("1 MiB from f to /dev/kdpg0n1@4096"), std::string::npos) << text;
    EXPECT_NE(text.find("2 MiB/s"), std::string::npos) << text;
    EXPECT_NE(text.find("1.600 ms"), std::string::npos) << text;
}

}  // namespace
