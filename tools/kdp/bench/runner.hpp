// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// All paths, interleaved in rounds.
///
/// Every path is opened before anything runs. A round gives each path one turn: some I/Os to
/// warm up, then the measured ones. The order turns around with every round, so that what drifts
/// (temperature, other load, translation caches) hits all alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/histogram.hpp>

#include "bench/cost.hpp"
#include "bench/fabric.hpp"
#include "bench/options.hpp"

namespace kdp::tool::bench {

/// One path's part of one round.
struct Turn {
    unsigned round = 0;  ///< from 1
    std::uint64_t ios = 0;
    std::uint64_t bytes = 0;
    std::uint64_t elapsed_ns = 0;
    Histogram latency;
    Cost cost;
    std::optional<FabricCounters> fabric;
    std::uint64_t counted_ios = 0;              ///< further ones, whose system calls were counted
    std::optional<std::uint64_t> system_calls;  ///< of counted_ios
    std::uint64_t verified_blocks = 0;
    bool interrupted = false;
};

struct PathReport {
    std::string uri;
    std::string label;  ///< short: "kernel:kdpg0n1"
    NamespaceInfo info;
    std::vector<Turn> turns;
};

struct Failure {
    std::string subject;  ///< the URI, or empty
    Error error;
};

struct RunReport {
    std::uint64_t region_bytes = 0;  ///< what was used of each namespace
    double clock_ns = 0;             ///< cost of one look at the clock
    double check_ns = 0;             ///< cost of verifying one I/O's data; 0 without --verify
    std::string why_no_system_calls;
    std::vector<PathReport> paths;
    std::optional<Failure> failure;  ///< what ended the run early; the figures before it stand
    bool interrupted = false;
};

/// Told before each step, for a progress line.
using Progress = std::function<void(const std::string& step)>;

/// Run the benchmark on the calling thread. A path that cannot be opened, or a refusal to write,
/// is a failure with no turns.
[[nodiscard]] RunReport run(const Options& options, const Progress& progress);

}  // namespace kdp::tool::bench
