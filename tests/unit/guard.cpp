// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "guard.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "unique_fd.hpp"

namespace {

using kdp::tool::check_unused;
using kdp::tool::check_writable;

class Guard : public testing::Test {
protected:
    void SetUp() override
    {
        name_ = testing::TempDir() + "kdp_guard_XXXXXX";
        fd_ = kdp::UniqueFd(mkstemp(name_.data()));
        ASSERT_TRUE(fd_);
        ASSERT_EQ(ftruncate(fd_.get(), 1 << 20), 0);
    }
    void TearDown() override { unlink(name_.c_str()); }

    void put(off_t offset, std::string_view bytes)
    {
        ASSERT_EQ(pwrite(fd_.get(), bytes.data(), bytes.size(), offset),
                  static_cast<ssize_t>(bytes.size()));
    }
    int verdict()
    {
        const auto status = check_writable({kdp::Scheme::block, name_, "", 0, "", 0});
        return status ? 0 : status.error().code;
    }

    std::string name_;
    kdp::UniqueFd fd_;
};

TEST_F(Guard, PlainFileIsFine)
{
    EXPECT_EQ(verdict(), 0);
}

TEST_F(Guard, GptIsRefused)
{
    for (const off_t sector : {512, 4096}) {
        put(sector, "EFI PART");
        EXPECT_EQ(verdict(), EBUSY);
        EXPECT_TRUE(check_unused({kdp::Scheme::block, name_, "", 0, "", 0}));
        put(sector, "xxxxxxxx");
        EXPECT_EQ(verdict(), 0);
    }
}

TEST_F(Guard, MbrWithAPartitionIsRefused)
{
    put(510, "\x55\xaa");
    EXPECT_EQ(verdict(), 0) << "a boot sector without partitions";
    put(446 + 3 * 16 + 4, "\x83");
    EXPECT_EQ(verdict(), EBUSY);
}

TEST_F(Guard, WhatDoesNotExistIsLeftToOpen)
{
    EXPECT_TRUE(check_writable({kdp::Scheme::block, name_ + ".missing", "", 0, "", 0}));
    EXPECT_TRUE(check_writable({kdp::Scheme::kernel, "/dev/kdpg999n9", "", 0, "", 0}));
    EXPECT_TRUE(check_writable({kdp::Scheme::verbs, "", "h", 4420, "nqn", 1}));
}

}  // namespace
