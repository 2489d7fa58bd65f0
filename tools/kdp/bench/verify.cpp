// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/verify.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <endian.h>

#include <fmt/format.h>

#include "bench/addresses.hpp"

namespace kdp::tool::bench {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::uint64_t step = 0x9e3779b97f4a7c15;

constexpr std::uint64_t start_of(std::uint64_t lba, std::uint64_t seed)
{
    return mix64(mix64(lba) + seed);
}

std::uint64_t word_at(const std::byte* block, std::size_t index)
{
    std::uint64_t value;
    std::memcpy(&value, block + index * word, word);
    return le64toh(value);
}

std::uint64_t expected_at(std::uint64_t lba, std::uint64_t seed, std::size_t index)
{
    if (index == 0)
        return lba;
    if (index == 1)
        return seed;
    return start_of(lba, seed) + index * step;
}

}  // namespace

std::string Mismatch::to_string() const
{
    std::string text = fmt::format("LBA {}, byte {}: expected {:016x}, found {:016x}", lba, offset,
                                   expected, found);
    if (!guess.empty())
        text += fmt::format(" ({})", guess);
    return text;
}

void Pattern::fill(std::span<std::byte> data, std::uint64_t lba) const noexcept
{
    for (std::size_t at = 0; at < data.size(); at += block_size_, lba++) {
        const std::uint64_t head[2] = {htole64(lba), htole64(seed_)};
        std::memcpy(data.data() + at, head, sizeof(head));
        std::uint64_t value = start_of(lba, seed_) + 2 * step;
        for (std::size_t i = 2 * word; i < block_size_; i += word, value += step) {
            const std::uint64_t stored = htole64(value);
            std::memcpy(data.data() + at + i, &stored, word);
        }
    }
}

bool Pattern::holds(const std::byte* block, std::uint64_t lba) const noexcept
{
    std::uint64_t difference = (word_at(block, 0) ^ lba) | (word_at(block, 1) ^ seed_);
    std::uint64_t value = start_of(lba, seed_) + 2 * step;
    // no early end: so the compiler may take several words at once
    for (std::size_t i = 2; i < block_size_ / word; i++, value += step)
        difference |= word_at(block, i) ^ value;
    return difference == 0;
}

Mismatch Pattern::explain(const std::byte* block, std::uint64_t lba) const
{
    Mismatch mismatch{lba, 0, 0, 0, {}};
    for (std::size_t i = 0; i < block_size_ / word; i++) {
        mismatch.expected = expected_at(lba, seed_, i);
        mismatch.found = word_at(block, i);
        mismatch.offset = i * word;
        if (mismatch.expected != mismatch.found)
            break;
    }
    const std::uint64_t other_lba = word_at(block, 0), other_seed = word_at(block, 1);
    if (std::all_of(block, block + block_size_, [](std::byte b) { return b == std::byte{0}; }))
        mismatch.guess = "the block is all zeroes";
    else if (Pattern(block_size_, other_seed).holds(block, other_lba))
        mismatch.guess = other_seed == seed_
                             ? fmt::format("it holds the data of LBA {}", other_lba)
                             : fmt::format("it holds the data of LBA {} of another pass, seed {}",
                                           other_lba, other_seed);
    return mismatch;
}

std::optional<Mismatch> Pattern::check(std::span<const std::byte> data, std::uint64_t lba) const
{
    for (std::size_t at = 0; at < data.size(); at += block_size_, lba++)
        if (!holds(data.data() + at, lba))
            return explain(data.data() + at, lba);
    return std::nullopt;
}

}  // namespace kdp::tool::bench
