// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A pattern that tells each block of each run from all others.
///
/// A block is an array of 64-bit little-endian words: its LBA, the seed, then an arithmetic
/// sequence whose start is a hash of both. So a block that was lost, torn, misdirected or left
/// over from another run is noticed, and mostly named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace kdp::tool::bench {

struct Mismatch {
    std::uint64_t lba = 0;
    std::size_t offset = 0;  ///< bytes into the block: the first word that differs
    std::uint64_t expected = 0;
    std::uint64_t found = 0;
    std::string guess;  ///< what the block holds instead, if it can be told

    [[nodiscard]] std::string to_string() const;
};

class Pattern {
public:
    /// @p block_size: bytes, a multiple of 512.
    Pattern(std::uint32_t block_size, std::uint64_t seed) noexcept
        : block_size_(block_size), seed_(seed)
    {
    }

    /// @p data: whole blocks, the first of which is @p lba.
    void fill(std::span<std::byte> data, std::uint64_t lba) const noexcept;

    /// The first block that does not hold its pattern; nullopt if all do.
    [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> data,
                                                std::uint64_t lba) const;

    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

private:
    [[nodiscard]] bool holds(const std::byte* block, std::uint64_t lba) const noexcept;
    [[nodiscard]] Mismatch explain(const std::byte* block, std::uint64_t lba) const;

    std::uint32_t block_size_;
    std::uint64_t seed_;
};

}  // namespace kdp::tool::bench
