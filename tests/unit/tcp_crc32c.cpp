// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "tcp/crc32c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

using kdp::tcp::crc32c;
using kdp::tcp::crc32c_by_table;

std::vector<std::byte> counting(int begin, int step)
{
    std::vector<std::byte> bytes(32);
    for (std::byte& b : bytes) {
        b = static_cast<std::byte>(begin);
        begin += step;
    }
    return bytes;
}

void expect(std::uint32_t crc, std::span<const std::byte> bytes)
{
    EXPECT_EQ(crc32c_by_table(bytes), crc);
    EXPECT_EQ(crc32c(bytes), crc);
}

// RFC 3720, B.4
TEST(TcpCrc32c, KnownValues)
{
    expect(0x8a9136aa, counting(0, 0));
    expect(0x62a8ab43, counting(0xff, 0));
    expect(0x46dd794e, counting(0, 1));
    expect(0x113fdb5c, counting(31, -1));
    const std::string_view digits = "123456789";
    expect(0xe3069283, std::as_bytes(std::span(digits)));
    expect(0, {});
}

TEST(TcpCrc32c, InstructionAndTableAgree)
{
    std::vector<std::byte> bytes(300);
    std::uint32_t state = 1;

    for (std::byte& b : bytes)
        b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
    for (std::size_t begin = 0; begin < 9; begin++)
        for (std::size_t n = 0; n <= bytes.size() - begin; n += 1 + n / 16) {
            const auto part = std::span(bytes).subspan(begin, n);
            EXPECT_EQ(crc32c(part), crc32c_by_table(part)) << begin << ", " << n;
        }
}

}  // namespace
