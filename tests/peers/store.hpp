// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A namespace's data, in memory, as large as may be: what was not written reads as zeroes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace kdp::peer {

class Store {
public:
    /// @p offset in bytes from the namespace's beginning.
    void read(std::uint64_t offset, std::span<std::byte> out) const;
    void write(std::uint64_t offset, std::span<const std::byte> in);
    void zero(std::uint64_t offset, std::uint64_t bytes);

private:
    static constexpr std::size_t page_bytes = 4096;
    using Page = std::array<std::byte, page_bytes>;

    std::unordered_map<std::uint64_t, Page> pages_;
};

}  // namespace kdp::peer
