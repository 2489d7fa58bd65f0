// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/host_id.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sha256.hpp"

namespace {

namespace fs = std::filesystem;
using kdp::host_identity;

constexpr const char* uuid = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
constexpr const char* other_uuid = "11111111-2222-4333-8444-555555555555";
const std::string uuid_nqn = "nqn.2014-08.org.nvmexpress:uuid:";

class HostIdentity : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "kdp_host_XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory_ = name;
    }
    void TearDown() override { fs::remove_all(directory_); }

    std::string put(const std::string& name, const std::string& text)
    {
        std::ofstream(directory_ / name) << text << "\n";
        return directory_ / name;
    }
    std::string missing() const { return directory_ / "missing"; }

    fs::path directory_;
};

std::string hex(const std::array<std::uint8_t, 32>& digest)
{
    std::string text;
    for (const auto byte : digest) {
        char two[3];
        std::snprintf(two, sizeof(two), "%02x", byte);
        text += two;
    }
    return text;
}

TEST(Sha256, KnownAnswers)  // FIPS 180-4 examples
{
    EXPECT_EQ(hex(kdp::sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(kdp::sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(kdp::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(kdp::sha256(std::string(1000, 'a'))),
              "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST(Uuid, RoundTrip)
{
    const auto id = kdp::parse_uuid(uuid);
    ASSERT_TRUE(id);
    EXPECT_EQ((*id)[0], 0xf8);
    EXPECT_EQ((*id)[15], 0xf6);
    EXPECT_EQ(kdp::format_uuid(*id), uuid);
    EXPECT_EQ(kdp::parse_uuid("F81D4FAE7DEC11D0A76500A0C91E6BF6"), id);
    for (const std::string bad :
         {"", "f81d4fae", "f81d4fae-7dec-11d0-a765-00a0c91e6bfg",
          "f81d4fae+7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf60"})
        EXPECT_FALSE(kdp::parse_uuid(bad)) << bad;
}

TEST_F(HostIdentity, FromFiles)
{
    const auto host = host_identity("", "", {put("nqn", "nqn.file"), put("id", uuid), missing()});
    ASSERT_TRUE(host);
    EXPECT_EQ(host.value().nqn, "nqn.file");
    EXPECT_EQ(kdp::format_uuid(host.value().id), uuid);
}

TEST_F(HostIdentity, GivenOnesWin)
{
    const auto host = host_identity("nqn.given", other_uuid,
                                    {put("nqn", "nqn.file"), put("id", uuid), missing()});
    ASSERT_TRUE(host);
    EXPECT_EQ(host.value().nqn, "nqn.given");
    EXPECT_EQ(kdp::format_uuid(host.value().id), other_uuid);
}

TEST_F(HostIdentity, UuidInGivenNqnBeatsTheFile)
{
    const auto host =
        host_identity(uuid_nqn + other_uuid, "", {missing(), put("id", uuid), missing()});
    ASSERT_TRUE(host);
    EXPECT_EQ(kdp::format_uuid(host.value().id), other_uuid);
}

TEST_F(HostIdentity, UuidInNqnFileServesWithoutIdFile)
{
    const auto host = host_identity("", "", {put("nqn", uuid_nqn + uuid), missing(), missing()});
    ASSERT_TRUE(host);
    EXPECT_EQ(kdp::format_uuid(host.value().id), uuid);
}

TEST_F(HostIdentity, FromMachineIdIsStableAndHidesIt)
{
    const std::string machine = "0123456789abcdef0123456789abcdef";
    const kdp::HostIdentitySources sources{missing(), missing(), put("machine", machine)};
    const auto host = host_identity("", "", sources);
    ASSERT_TRUE(host);
    EXPECT_EQ(host.value().nqn, uuid_nqn + kdp::format_uuid(host.value().id));
    EXPECT_EQ(host.value().nqn, host_identity("", "", sources).value().nqn);
    EXPECT_EQ(host.value().id[6] >> 4, 8);  // version
    EXPECT_EQ(host.value().id[8] >> 6, 2);  // variant
    EXPECT_EQ(host.value().nqn.find("01234567"), std::string::npos);

    const auto other = host_identity(
        "", "", {missing(), missing(), put("other", "1123456789abcdef0123456789abcdef")});
    EXPECT_NE(other.value().nqn, host.value().nqn);
}

TEST_F(HostIdentity, Errors)
{
    const kdp::HostIdentitySources nothing{missing(), missing(), missing()};
    EXPECT_EQ(host_identity("", "", nothing).error().code, ENOENT);
    EXPECT_EQ(host_identity("nqn.x", "", nothing).error().code, ENOENT);
    EXPECT_EQ(host_identity("nqn.x", "no-uuid", nothing).error().code, EINVAL);
    EXPECT_EQ(host_identity(std::string(224, 'n'), uuid, nothing).error().code, EINVAL);
    EXPECT_TRUE(host_identity(std::string(223, 'n'), uuid, nothing));
    const std::string nul("nqn\0x", 5);  // only "nqn" would reach the target
    EXPECT_EQ(host_identity(nul, uuid, nothing).error().code, EINVAL);
    EXPECT_EQ(host_identity("", uuid, {put("nul", nul), missing(), missing()}).error().code,
              EINVAL);
    EXPECT_EQ(host_identity("nqn.x", "", {missing(), put("id", "rubbish"), missing()}).error().code,
              EINVAL);
}

}  // namespace
