// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a benchmark measured: points, at each point the paths, of each path its turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/histogram.hpp>

#include "bench/cost.hpp"
#include "bench/fabric.hpp"
#include "bench/shape.hpp"
#include "profile/breakdown.hpp"

namespace kdp::tool::bench {

/// What is kept of one turn's latencies, ns. The histograms of all turns are merged into the
/// result's, so that long sweeps need little memory.
struct Latencies {
    double mean = 0;
    std::uint64_t p50 = 0;
    std::uint64_t p99 = 0;
    std::uint64_t p99_9 = 0;
    std::uint64_t max = 0;

    [[nodiscard]] static Latencies of(const Histogram& histogram);
};

/// One path's part of one round.
struct Turn {
    unsigned round = 0;  ///< from 1
    std::uint64_t ios = 0;
    std::uint64_t bytes = 0;
    std::uint64_t elapsed_ns = 0;
    Latencies latency;                       ///< of all I/Os
    std::optional<Latencies> read_latency;   ///< where reads and writes are mixed
    std::optional<Latencies> write_latency;  ///< likewise
    Cost cost;
    std::optional<FabricCounters> fabric;
    std::uint64_t counted_ios = 0;                ///< further ones, whose system calls were counted
    std::optional<std::uint64_t> system_calls;    ///< of counted_ios
    std::optional<profile::Breakdown> breakdown;  ///< of CPU time, by a profile of further I/Os
    std::uint64_t verified_blocks = 0;
    bool interrupted = false;  ///< ended early: by a signal, or since the path failed
};

struct Failure {
    std::string subject;  ///< the URI, or empty
    Error error;
};

/// One path at one point.
struct PathResult {
    std::size_t path = 0;  ///< index into RunReport::paths
    std::vector<Turn> turns;
    Histogram reads;   ///< latencies of all turns, ns
    Histogram writes;  ///< likewise
    /// What ended it here: the turns before stand, and it has no further ones.
    std::optional<Failure> failure;

    [[nodiscard]] Histogram latency() const;
};

/// What the turns' profiles say together, of all their samples; nullopt if there are none.
[[nodiscard]] std::optional<profile::Breakdown> whole_breakdown(const PathResult& result);

struct PointReport {
    Shape shape;
    std::vector<PathResult> results;  ///< in the order of the paths
};

struct PathReport {
    std::string uri;
    std::string label;  ///< short: "kernel:kdpg0n1"
    NamespaceInfo info;
};

struct RunReport {
    std::uint64_t region_bytes = 0;  ///< what was used of each namespace, at most
    double clock_ns = 0;             ///< cost of one look at the clock
    double check_ns = 0;  ///< cost of verifying one I/O of the largest size; 0 without --verify
    std::string why_no_system_calls;
    std::string why_no_profile;  ///< empty also if none was asked for
    std::vector<PathReport> paths;
    std::vector<PointReport> points;
    std::optional<Failure> failure;  ///< the first one
    bool interrupted = false;        ///< by a signal

    [[nodiscard]] bool has_figures() const noexcept;
};

}  // namespace kdp::tool::bench
