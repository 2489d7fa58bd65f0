// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "crc32c.hpp"

#include <array>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace kdp::tcp {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
constexpr std::uint32_t all_ones = 0xffffffff;

constexpr std::array<std::uint32_t, 256> make_table()
{
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); i++) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        table[i] = crc;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

#ifdef __x86_64__
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::span<const std::byte> bytes) noexcept
{
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t crc = all_ones;

    for (; left >= sizeof(std::uint64_t);
         at += sizeof(std::uint64_t), left -= sizeof(std::uint64_t)) {
        std::uint64_t word;
        std::memcpy(&word, at, sizeof(word));
        crc = _mm_crc32_u64(crc, word);
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (; left; at++, left--)
        rest = _mm_crc32_u8(rest, static_cast<std::uint8_t>(*at));
    return rest ^ all_ones;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept
{
    std::uint32_t crc = all_ones;

    for (const std::byte b : bytes)
        crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint32_t>(b)) & 0xff];
    return crc ^ all_ones;
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept
{
#ifdef __x86_64__
    static const bool has_instruction = __builtin_cpu_supports("sse4.2");

    if (has_instruction)
        return by_instruction(bytes);
#endif
    return crc32c_by_table(bytes);
}

}  // namespace kdp::tcp
