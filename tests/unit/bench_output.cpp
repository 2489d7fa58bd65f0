// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Files that are there whole or not at all; threads that begin together.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "bench/team.hpp"
#include "output_file.hpp"

namespace {

using kdp::tool::OutputFile;
using kdp::tool::bench::Team;

class Output : public testing::Test {
protected:
    Output() : directory(testing::TempDir() + "kdp-output"), name(directory + "/report")
    {
        std::filesystem::remove_all(directory);
        std::filesystem::create_directory(directory);
    }
    ~Output() override { std::filesystem::remove_all(directory); }

    [[nodiscard]] std::size_t files() const
    {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(directory), {}));
    }
    [[nodiscard]] std::string content() const
    {
        std::ifstream file(name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string directory;
    std::string name;
};

TEST_F(Output, HasItsNameWhenItIsWhole)
{
    auto file = OutputFile::create(name);
    ASSERT_TRUE(file) << file.error().text;
    file->write("one ");
    file->write("two");
    EXPECT_FALSE(std::filesystem::exists(name));
    ASSERT_TRUE(file->commit());
    EXPECT_EQ(content(), "one two");
    EXPECT_EQ(files(), 1u);
}

TEST_F(Output, WhatIsNotFinishedLeavesTheOldOne)
{
    ASSERT_TRUE(kdp::tool::write_file(name, "old"));
    {
        auto file = OutputFile::create(name);
        ASSERT_TRUE(file);
        file->write("new");
    }
    EXPECT_EQ(content(), "old");
    EXPECT_EQ(files(), 1u);
    ASSERT_TRUE(kdp::tool::write_file(name, "new"));
    EXPECT_EQ(content(), "new");
}

TEST_F(Output, AFullDiskIsAnErrorThatNamesTheFile)
{
    const auto written = kdp::tool::write_file("/dev/full", "text");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ENOSPC);
    EXPECT_NE(written.error().text.find("/dev/full"), std::string::npos);
}

TEST_F(Output, ADirectoryThatIsNotThere)
{
    const auto file = OutputFile::create(directory + "/no/report");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ENOENT);
    EXPECT_FALSE(OutputFile::create(directory));  // which is no file
    EXPECT_EQ(files(), 0u);
}

TEST_F(Output, ALinkStaysALink)
{
    std::filesystem::create_symlink("report", directory + "/link");
    ASSERT_TRUE(kdp::tool::write_file(name, "old"));
    ASSERT_TRUE(kdp::tool::write_file(directory + "/link", "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(directory + "/link"));
    EXPECT_EQ(content(), "new");
}

/// Somebody else's link lies where the temporary file is expected: what it leads to stays as it is.
TEST_F(Output, WhatLiesInTheWayIsNotWrittenThrough)
{
    const std::string victim = directory + "/victim";
    ASSERT_TRUE(kdp::tool::write_file(victim, "theirs"));
    for (int i = 0; i < 3; i++)
        std::filesystem::create_symlink(victim, fmt::format("{}.{}-{}.tmp", name, getpid(), i));
    ASSERT_TRUE(kdp::tool::write_file(name, "ours"));
    EXPECT_EQ(content(), "ours");
    std::ifstream is(victim);
    std::string text;
    is >> text;
    EXPECT_EQ(text, "theirs");
    EXPECT_FALSE(std::filesystem::is_symlink(name));
}

TEST(BenchTeam, OneIsTheCaller)
{
    Team team(1, {});
    std::thread::id who;
    team.run([&](unsigned) { who = std::this_thread::get_id(); });
    EXPECT_EQ(who, std::this_thread::get_id());
}

TEST(BenchTeam, AllBeginTogetherAndTheMomentsAreOutside)
{
    constexpr unsigned members = 4;
    Team team(members, {});
    std::set<std::thread::id> first;
    for (int round = 0; round < 50; round++) {
        std::atomic<unsigned> inside = 0, through = 0;
        std::vector<std::thread::id> who(members);
        bool before = false, after = false;
        team.run(
            [&](unsigned member) {
                inside++;
                who[member] = std::this_thread::get_id();
                through++;
            },
            [&] { before = inside == 0; }, [&] { after = through == members; });
        EXPECT_TRUE(before);
        EXPECT_TRUE(after);
        const std::set<std::thread::id> all(who.begin(), who.end());
        EXPECT_EQ(all.size(), members);
        if (round == 0)
            first = all;
        EXPECT_EQ(all, first);  // each keeps its thread
    }
}

TEST(BenchTeam, CpusThatAreNotThere)
{
    const auto pinned = kdp::tool::bench::pin_to({1023});
    ASSERT_FALSE(pinned);
    EXPECT_EQ(pinned.error().code, EINVAL);
    EXPECT_NE(pinned.error().text.find("--cpus 1023"), std::string::npos);
}

}  // namespace
