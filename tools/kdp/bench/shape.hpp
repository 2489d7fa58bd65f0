// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One point of a benchmark: what kind of I/O, how large, how many at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kdp::tool::bench {

/// rw and randrw are reads and writes mixed.
enum class Workload : std::uint8_t { read, write, randread, randwrite, rw, randrw };

[[nodiscard]] std::optional<Workload> parse_workload(std::string_view text);
[[nodiscard]] std::string_view workload_name(Workload workload) noexcept;
[[nodiscard]] constexpr bool is_mixed(Workload w) noexcept
{
    return w == Workload::rw || w == Workload::randrw;
}
[[nodiscard]] constexpr bool is_write(Workload w) noexcept
{
    return w == Workload::write || w == Workload::randwrite;
}
[[nodiscard]] constexpr bool is_random(Workload w) noexcept
{
    return w == Workload::randread || w == Workload::randwrite || w == Workload::randrw;
}

struct Shape {
    Workload workload = Workload::randread;
    unsigned read_percent = 100;       ///< of the I/Os; 0 for write and randwrite
    std::uint32_t block_bytes = 4096;  ///< of one I/O
    unsigned depth = 1;                ///< in flight, of each thread
    unsigned threads = 1;

    [[nodiscard]] bool reads() const noexcept { return read_percent > 0; }
    [[nodiscard]] bool writes() const noexcept { return read_percent < 100; }
    /// There are both reads and writes, so that it is worth while to tell them apart.
    [[nodiscard]] bool mixed() const noexcept { return reads() && writes(); }
};

/// "randrw, 70 % reads, 4 KiB, depth 16, 2 threads".
[[nodiscard]] std::string describe(const Shape& shape);

}  // namespace kdp::tool::bench
