// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/address.hpp>

#include <gtest/gtest.h>

#include <netinet/in.h>

#include <cerrno>

namespace {

using kdp::resolve;
using kdp::SocketAddress;

TEST(Address, Ipv4)
{
    const auto address = resolve("192.0.2.1", 4420);
    ASSERT_TRUE(address);
    EXPECT_EQ(address.value().family(), AF_INET);
    EXPECT_EQ(address.value().length, sizeof(sockaddr_in));
    EXPECT_EQ(address.value().port(), 4420);
    EXPECT_EQ(address.value().to_string(), "192.0.2.1:4420");
}

TEST(Address, Ipv6WithAndWithoutBrackets)
{
    for (const char* text : {"fd77::1", "[fd77::1]"}) {
        const auto address = resolve(text, 4421);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(address.value().length, sizeof(sockaddr_in6));
        EXPECT_EQ(address.value().to_string(), "[fd77::1]:4421");
    }
}

TEST(Address, ScopeIsKept)
{
    const auto address = resolve("fe80::1%lo", 1);
    ASSERT_TRUE(address) << address.error().text;
    EXPECT_EQ(reinterpret_cast<const sockaddr_in6*>(&address.value().storage)->sin6_scope_id, 1u);
    EXPECT_EQ(address.value().host(), "fe80::1%lo");
}

TEST(Address, Refused)
{
    for (const char* bad : {"", "[]", "300.1.1.1.1", "fe80::1%nosuchdevice", "no such name"}) {
        const auto address = resolve(bad, 1);
        ASSERT_FALSE(address) << bad;
        EXPECT_FALSE(address.error().text.empty());
    }
    EXPECT_EQ(resolve("192.0.2.1", 1, AF_INET6).error().code, EINVAL);
}

TEST(Address, FromBytes)
{
    const auto address = resolve("fd77::1", 4420).value();
    const auto* bytes = reinterpret_cast<const std::byte*>(&address.storage);
    const auto copy = SocketAddress::from_bytes({bytes, sizeof(sockaddr_in6)});
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy.value().to_string(), "[fd77::1]:4420");
    // the kernel may send a whole sockaddr_storage, never less than the family's structure
    EXPECT_TRUE(SocketAddress::from_bytes({bytes, sizeof(sockaddr_storage)}));
    EXPECT_EQ(SocketAddress::from_bytes({bytes, sizeof(sockaddr_in6) - 1}).error().code, EINVAL);
    EXPECT_EQ(SocketAddress::from_bytes({}).error().code, EINVAL);
    const std::byte zeroes[64]{};
    EXPECT_EQ(SocketAddress::from_bytes(zeroes).error().code, EINVAL);
}

TEST(Address, Empty)
{
    const SocketAddress none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.host(), "");
    EXPECT_EQ(none.port(), 0);
}

}  // namespace
