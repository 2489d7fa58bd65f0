// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What kdp bench is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kdp/result.hpp>

namespace kdp::tool::bench {

enum class Workload : std::uint8_t { read, write, randread, randwrite };

[[nodiscard]] std::optional<Workload> parse_workload(std::string_view text);
[[nodiscard]] std::string_view workload_name(Workload workload) noexcept;
[[nodiscard]] constexpr bool is_write(Workload w) noexcept
{
    return w == Workload::write || w == Workload::randwrite;
}
[[nodiscard]] constexpr bool is_random(Workload w) noexcept
{
    return w == Workload::randread || w == Workload::randwrite;
}

struct Options {
    std::vector<std::string> uris;
    Workload workload = Workload::randread;
    std::uint32_t block_bytes = 4096;  ///< of one I/O
    unsigned depth = 1;
    double runtime_s = 2;   ///< a path and round, unless ios says otherwise
    std::uint64_t ios = 0;  ///< a path and round; 0: by runtime
    unsigned rounds = 3;
    std::uint64_t warmup_ios = 200;  ///< before each measurement
    std::uint64_t region_bytes = std::uint64_t{64} << 20;
    std::uint64_t seed = 1;
    int cpu = -1;  ///< -1: wherever the scheduler likes
    bool verify = false;
    bool allow_write = false;
    bool json = false;

    /// Some I/O of this run changes data.
    [[nodiscard]] bool writes() const noexcept { return is_write(workload) || verify; }
};

/// The texts of the command line that need more than a number.
struct RawOptions {
    std::string workload = "randread";
    std::string block_bytes = "4k";
    std::string region_bytes = "64m";
};

/// Parse @p raw into @p options and check that everything fits together. The error's text names
/// the option; its code is EINVAL.
[[nodiscard]] Status complete_options(const RawOptions& raw, Options& options);

}  // namespace kdp::tool::bench
