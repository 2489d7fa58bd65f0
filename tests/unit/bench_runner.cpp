// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Whole runs, over disks in memory: points, rounds, threads, and what fails in the middle.
#include "bench/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

namespace {

using namespace kdp;
using namespace kdp::tool::bench;

constexpr std::uint32_t block_size = 512;
constexpr std::uint64_t blocks = 4096;

/// What the paths of all threads lead to.
struct Disk {
    std::vector<std::byte> store = std::vector<std::byte>(blocks * block_size);
    std::atomic<std::uint64_t> ios = 0;
    std::uint64_t gone_after = UINT64_MAX;              ///< I/Os; then each fails with ENODEV
    std::uint64_t loses_writes_from = UINT64_MAX;       ///< I/Os; then it says that it wrote
    int refuses = 0;                                    ///< errno of opening
    std::vector<std::pair<unsigned, unsigned>> opened;  ///< depth, count
    std::mutex mutex;
    std::map<std::uint64_t, std::set<std::size_t>> writers;  ///< of each LBA: which paths
};

class DiskPath final : public DataPath {
public:
    DiskPath(Disk& disk, std::size_t number, unsigned depth)
        : disk_(disk), number_(number), depth_(depth)
    {
        info_.blocks = blocks;
        info_.block_size = block_size;
        info_.max_transfer = 65536;
    }
    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte>) override { return ok(); }
    Result<std::size_t> submit(std::span<const Io> batch) override
    {
        std::size_t taken = 0;
        for (const Io& io : batch) {
            if (done_.size() == depth_)
                break;
            done_.push_back({io.tag, serve(io), 0});
            taken++;
        }
        return taken;
    }
    Result<std::size_t> poll(std::span<Completion> out) override
    {
        std::size_t n = 0;
        for (; n < out.size() && !done_.empty(); n++) {
            out[n] = done_.front();
            done_.pop_front();
        }
        return n;
    }
    Result<std::size_t> wait(std::span<Completion> out, int) override { return poll(out); }

private:
    int serve(const Io& io)
    {
        const std::uint64_t number = disk_.ios++;
        if (number >= disk_.gone_after)
            return ENODEV;
        std::byte* at = disk_.store.data() + io.lba * block_size;
        if (io.op == Op::read) {
            std::memcpy(io.data.data(), at, io.data.size());
            return 0;
        }
        {
            const std::scoped_lock lock(disk_.mutex);
            for (std::uint64_t i = 0; i < io.data.size() / block_size; i++)
                disk_.writers[io.lba + i].insert(number_);
        }
        if (number < disk_.loses_writes_from)
            std::memcpy(at, io.data.data(), io.data.size());
        return 0;
    }

    Disk& disk_;
    std::size_t number_;
    unsigned depth_;
    NamespaceInfo info_;
    std::deque<Completion> done_;
};

class BenchRunner : public testing::Test {
protected:
    BenchRunner()
    {
        options.uris = {"verbs://a/nqn.a", "verbs://b/nqn.b"};
        options.ios = 40;
        options.rounds = 2;
        options.warmup_ios = 5;
        options.region_bytes = blocks * block_size;
        options.block_bytes = {1024};
        around.opener = [this](const PathUri& uri, const OpenOptions& how,
                               unsigned count) -> Result<std::vector<std::unique_ptr<DataPath>>> {
            Disk& disk = disks[uri.host];
            if (disk.refuses != 0)
                return error_from_errno(disk.refuses, uri.host);
            disk.opened.emplace_back(how.depth, count);
            std::vector<std::unique_ptr<DataPath>> paths;
            for (unsigned i = 0; i < count; i++)
                paths.push_back(std::make_unique<DiskPath>(disk, i, how.depth));
            return paths;
        };
        around.progress = [this](const std::string& step) { steps.push_back(step); };
    }
    RunReport go() { return run(options, around); }

    Options options;
    Surroundings around;
    std::map<std::string, Disk> disks;
    std::vector<std::string> steps;
};

TEST_F(BenchRunner, EveryPointHasAllRoundsOfAllPaths)
{
    options.block_bytes = {1024, 4096};
    options.depths = {1, 8};
    const RunReport report = go();
    ASSERT_FALSE(report.failure) << report.failure->error.text;
    ASSERT_EQ(report.points.size(), 4u);
    for (const PointReport& point : report.points) {
        ASSERT_EQ(point.results.size(), 2u);
        for (const PathResult& result : point.results) {
            ASSERT_EQ(result.turns.size(), 2u);
            for (const Turn& turn : result.turns) {
                EXPECT_EQ(turn.ios, 40u);
                EXPECT_EQ(turn.bytes, 40u * point.shape.block_bytes);
            }
            EXPECT_EQ(result.latency().count(), 80u);
        }
    }
    // tried as the deepest point wants it, then opened for each point
    const std::vector<std::pair<unsigned, unsigned>> wanted = {
        {8, 1}, {1, 1}, {8, 1}, {1, 1}, {8, 1}};
    EXPECT_EQ(disks["a"].opened, wanted);
}

TEST_F(BenchRunner, PathsTakeTurnsAndTheOrderTurnsAround)
{
    (void)go();
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_NE(steps[0].find("round 1 of 2: verbs:a"), std::string::npos) << steps[0];
    EXPECT_NE(steps[1].find("round 1 of 2: verbs:b"), std::string::npos);
    EXPECT_NE(steps[2].find("round 2 of 2: verbs:b"), std::string::npos);
    EXPECT_NE(steps[3].find("round 2 of 2: verbs:a, about"), std::string::npos) << steps[3];
}

TEST_F(BenchRunner, ThreadsShareTheIosAndNeverAnLba)
{
    options.threads = 3;
    options.depths = {4};
    options.ios = 100;
    options.workloads = {Workload::randwrite};
    options.allow_write = options.verify = true;
    const RunReport report = go();
    ASSERT_FALSE(report.failure) << report.failure->error.text;
    for (const PathResult& result : report.points[0].results)
        for (const Turn& turn : result.turns) {
            EXPECT_EQ(turn.ios, 100u);
            EXPECT_GT(turn.verified_blocks, 0u);
        }
    EXPECT_EQ(disks["a"].opened.back(), std::pair(4U, 3U));
    std::set<std::size_t> who;
    for (const auto& [lba, writers] : disks["a"].writers) {
        EXPECT_EQ(writers.size(), 1u) << lba;
        who.insert(writers.begin(), writers.end());
    }
    EXPECT_EQ(who.size(), 3u);
}

TEST_F(BenchRunner, MixedLoadsVerifyAndTellDirectionsApart)
{
    options.threads = 2;
    options.ios = 400;
    options.workloads = {Workload::randread, Workload::randrw, Workload::read, Workload::rw};
    options.read_percent = 70;
    options.allow_write = options.verify = true;
    const RunReport report = go();
    ASSERT_FALSE(report.failure) << report.failure->error.text;
    const PathResult& mixed = report.points[1].results[0];
    EXPECT_NEAR(static_cast<double>(mixed.reads.count()), 560, 60);
    EXPECT_EQ(mixed.latency().count(), 800u);
    ASSERT_TRUE(mixed.turns[0].read_latency);
    ASSERT_TRUE(mixed.turns[0].write_latency);
    EXPECT_FALSE(report.points[0].results[0].turns[0].read_latency);
    // all reads of the turn, and what was written once more
    EXPECT_GT(mixed.turns[0].verified_blocks, 2 * 400u * 7 / 10);
}

TEST_F(BenchRunner, LostWritesFailTheRunAndAreNamed)
{
    for (const auto workload : {Workload::randwrite, Workload::randrw}) {
        disks.clear();
        options.workloads = {workload};
        options.read_percent = 50;
        options.allow_write = options.verify = true;
        options.rounds = 20;
        disks["a"].loses_writes_from = 9000;
        options.ios = 4000;
        const RunReport report = go();
        ASSERT_TRUE(report.failure) << workload_name(workload);
        EXPECT_EQ(report.failure->error.code, EILSEQ);
        EXPECT_EQ(report.failure->subject, "verbs://a/nqn.a");
        EXPECT_NE(report.failure->error.text.find("LBA "), std::string::npos);
        // the run ended with it, and nothing was written over it
        EXPECT_LT(report.points[0].results[1].turns.size(), 20u);
        EXPECT_FALSE(report.points[0].results[1].failure);
    }
}

TEST_F(BenchRunner, APathThatGoesKeepsWhatItHadAndTheOthersGoOn)
{
    for (const unsigned threads : {1U, 3U}) {
        disks.clear();
        options.threads = threads;
        options.depths = {1, 2};
        options.rounds = 3;
        disks["a"].gone_after = 300;
        options.ios = 120;
        const RunReport report = go();
        ASSERT_TRUE(report.failure);
        EXPECT_EQ(report.failure->subject, "verbs://a/nqn.a");
        EXPECT_EQ(report.failure->error.code, ENODEV);
        ASSERT_EQ(report.points.size(), 2u);
        const PathResult& gone = report.points[0].results[0];
        ASSERT_TRUE(gone.failure);
        ASSERT_FALSE(gone.turns.empty());
        EXPECT_FALSE(gone.turns.front().interrupted);
        EXPECT_EQ(gone.turns.front().ios, 120u);
        EXPECT_LT(gone.turns.size(), 4u);
        const PathResult& after = report.points[1].results[0];
        EXPECT_TRUE(after.failure);
        EXPECT_TRUE(after.turns.empty());
        for (const PointReport& point : report.points) {
            EXPECT_FALSE(point.results[1].failure);
            EXPECT_EQ(point.results[1].turns.size(), 3u);
        }
    }
}

TEST_F(BenchRunner, TheTurnInWhichItWentIsMarked)
{
    options.rounds = 1;
    options.ios = 100;
    disks["a"].gone_after = 50;
    const RunReport report = go();
    const PathResult& gone = report.points[0].results[0];
    ASSERT_EQ(gone.turns.size(), 1u);
    EXPECT_TRUE(gone.turns[0].interrupted);
    EXPECT_EQ(gone.turns[0].ios, 45u);  // without the 5 of warming up
    EXPECT_EQ(gone.latency().count(), 45u);
}

TEST_F(BenchRunner, NothingRunsIfAPathCannotBeOpened)
{
    disks["b"].refuses = ECONNREFUSED;
    const RunReport report = go();
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->subject, "verbs://b/nqn.b");
    EXPECT_TRUE(report.points.empty());
    EXPECT_FALSE(report.has_figures());
    EXPECT_EQ(disks["a"].ios, 0u);
}

TEST_F(BenchRunner, WhatCannotFitIsRefusedBeforeAnythingRuns)
{
    options.block_bytes = {1024, 131072};
    RunReport report = go();
    ASSERT_TRUE(report.failure);
    EXPECT_NE(report.failure->error.text.find("--bs 131072"), std::string::npos);
    EXPECT_EQ(disks["a"].ios, 0u);
    options.block_bytes = {65536};
    options.depths = {16};
    options.threads = 4;
    report = go();
    ASSERT_TRUE(report.failure);
    EXPECT_NE(report.failure->error.text.find("--threads"), std::string::npos);
}

// Percentiles of the report beside exact ones from the log of the same I/Os.
TEST_F(BenchRunner, TheLogHasWhatTheHistogramHas)
{
    const std::string name = testing::TempDir() + "kdp-bench-log";
    auto log = LatencyLog::create(name);
    ASSERT_TRUE(log) << log.error().text;
    around.log = &log.value();
    options.ios = 2000;
    options.threads = 2;
    options.depths = {1, 4};
    const RunReport report = go();
    ASSERT_TRUE(log->commit());

    std::ifstream file(name);
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "point\tpath\tround\tthread\top\tlba\tns");
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint64_t>> all;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::size_t point = 0, path = 0, round = 0, thread = 0;
        std::string op;
        std::uint64_t lba = 0, ns = 0;
        ASSERT_TRUE(words >> point >> path >> round >> thread >> op >> lba >> ns) << line;
        EXPECT_EQ(op, "read");
        EXPECT_LT(thread, 2u);
        EXPECT_EQ(lba / (blocks / 2), thread);
        all[{point, path}].push_back(ns);
    }
    ASSERT_EQ(all.size(), 4u);
    for (auto& [where, values] : all) {
        const PathResult& result = report.points[where.first].results[where.second];
        ASSERT_EQ(values.size(), 4000u);
        std::sort(values.begin(), values.end());
        for (const double percent : {50.0, 90.0, 99.0, 99.9, 100.0}) {
            const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 4000));
            const auto exact = static_cast<double>(values[rank - 1]);
            EXPECT_NEAR(static_cast<double>(result.latency().percentile(percent)), exact,
                        exact / 128 + 1);
        }
        EXPECT_EQ(result.latency().max(), values.back());
    }
    std::remove(name.c_str());
}

}  // namespace
