// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What kdp bench is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kdp/result.hpp>

#include "bench/shape.hpp"
#include "profile/projection.hpp"

namespace kdp::tool::bench {

struct Options {
    std::vector<std::string> uris;
    std::vector<Workload> workloads = {Workload::randread};
    std::optional<unsigned> read_percent;  ///< of mixed workloads; nullopt: there are none
    std::vector<std::uint32_t> block_bytes = {4096};
    std::vector<unsigned> depths = {1};  ///< of each thread
    unsigned threads = 1;
    double runtime_s = 2;   ///< a path and round, unless ios says otherwise
    std::uint64_t ios = 0;  ///< a path and round, of all threads together; 0: by runtime
    unsigned rounds = 3;
    std::uint64_t warmup_ios = 200;  ///< before each measurement
    std::uint64_t region_bytes = std::uint64_t{64} << 20;
    std::uint64_t seed = 1;
    std::vector<int> cpus;  ///< thread i runs on cpus[i mod size]; empty: where the scheduler likes
    bool verify = false;
    bool profile = false;                        ///< tell apart what CPU time is spent on
    std::optional<profile::FabricModel> fabric;  ///< project for it; implies profile
    bool allow_write = false;

    /// Some I/O of this run changes data.
    [[nodiscard]] bool writes() const noexcept;
    [[nodiscard]] std::uint32_t largest_block() const noexcept;
    [[nodiscard]] unsigned largest_depth() const noexcept;
};

/// The points of a run, in the order in which they are measured: every workload with every block
/// size with every depth, the depth changing fastest.
[[nodiscard]] std::vector<Shape> points(const Options& options);

/// The texts of the command line that need more than a number. Lists are separated by commas.
struct RawOptions {
    std::string workloads = "randread";
    std::string block_bytes = "4k";
    std::string depths = "1";
    std::string cpus = {};
    std::string region_bytes = "64m";
    std::string fabric = {};
    std::optional<unsigned> read_percent = {};
};

/// Parse @p raw into @p options and check that everything fits together. The error's text names
/// the option; its code is EINVAL.
[[nodiscard]] Status complete_options(const RawOptions& raw, Options& options);

}  // namespace kdp::tool::bench
