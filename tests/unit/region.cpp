// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Regions, as far as they go without the module: ownership, and a device that has none.
#include <kdp/region.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>

#include <cerrno>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>

#include "fake_path.hpp"
#include "unique_fd.hpp"

namespace {

using namespace kdp;

TEST(RegionTest, ADeviceWithoutRegionsIsNamed)
{
    const UniqueFd device(open("/dev/null", O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(device);
    auto buffer = Buffer::allocate(8192);
    ASSERT_TRUE(buffer);

    const auto memory = Region::add(device.get(), buffer->memory(), Access::both);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, ENOTTY);
    EXPECT_NE(memory.error().text.find("8192 bytes of memory"), std::string::npos);
    EXPECT_NE(memory.error().text.find("/dev/kdpg0n1"), std::string::npos) << "what to use instead";

    const auto file = Region::add_file(device.get(), device.get(), 4096, 512, Access::send);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ENOTTY);
    EXPECT_NE(file.error().text.find("512 bytes from 4096 of the file"), std::string::npos);
}

TEST(RegionTest, ABadDescriptorIsAnError)
{
    EXPECT_EQ(Region::add(-1, {}, Access::send).error().code, EBADF);
}

TEST(RegionTest, MovesAndHasOneOwner)
{
    // /dev/null deletes nothing, and says so: that tells who still owns
    const UniqueFd device(open("/dev/null", O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(device);
    Region first = Region::adopt(device.get(), 0x1000, 512, 3);
    Region second = std::move(first);
    EXPECT_TRUE(first.remove()) << "nothing left to delete";
    EXPECT_EQ(first.length(), 0u);
    EXPECT_EQ(second.base(), 0x1000u);
    EXPECT_EQ(second.length(), 512u);
    EXPECT_EQ(second.registrations(), 3u);
    first = std::move(second);
    EXPECT_TRUE(second.remove());
    EXPECT_EQ(first.remove().error().code, ENOTTY);
    EXPECT_TRUE(first.remove()) << "once";
}

TEST(RegionTest, Holds)
{
    const std::uint64_t high = UINT64_C(1) << 63;
    const Region region = Region::adopt(-1, high, 4096, 1);
    const auto data = region.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data.data()), high);
    EXPECT_EQ(data.size(), 4096u);
    EXPECT_TRUE(region.holds(data));
    EXPECT_TRUE(region.holds(data.subspan(512, 1024)));
    EXPECT_FALSE(region.holds({data.data() + 1, 4096}));
    EXPECT_FALSE(region.holds({data.data() - 1, 1}));
    EXPECT_FALSE(region.holds({data.data(), SIZE_MAX}));
}

TEST(RegionTest, OtherPathsHaveNone)
{
    test::FakePath path(8, 1);
    const auto region = path.DataPath::register_file(0, 0, 512, Access::send);
    ASSERT_FALSE(region);
    EXPECT_EQ(region.error().code, EOPNOTSUPP);
    EXPECT_NE(region.error().text.find("kernel:"), std::string::npos);
}

}  // namespace
