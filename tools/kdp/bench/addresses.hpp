// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Which place of the region the next I/O goes to.
#pragma once

#include <cstdint>

namespace kdp::tool::bench {

/// A good mixer of 64 bits (splitmix64's finaliser): a bijection.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) noexcept
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/// Places 0 to @p places - 1, in order and from the start again, or at random. The same seed
/// gives the same sequence.
class Addresses {
public:
    Addresses(std::uint64_t places, bool random, std::uint64_t seed) noexcept
        : places_(places), random_(random), seed_(seed)
    {
    }

    [[nodiscard]] std::uint64_t next() noexcept
    {
        const std::uint64_t n = position_++;
        if (!random_)
            return n % places_;
        // the high half of the product: uniform without a division
        const auto wide = static_cast<unsigned __int128>(mix64(seed_ ^ mix64(n))) * places_;
        return static_cast<std::uint64_t>(wide >> 64);
    }

private:
    std::uint64_t places_;
    bool random_;
    std::uint64_t seed_;
    std::uint64_t position_ = 0;
};

}  // namespace kdp::tool::bench
