// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A benchmark's JSON (Documentation/bench-json.md, schema 2), read and checked.
///
/// What kdp report and kdp advise work on: not on a run's own structures, so that a document of
/// yesterday or of another machine is as good as one of now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kdp/result.hpp>

#include "document/environment.hpp"
#include "document/members.hpp"

namespace kdp::tool::document {

inline constexpr std::uint64_t bench_schema_read = 2;

/// A figure of one path at one point, over the rounds.
struct Estimate {
    double mean = 0;
    /// Half of the mean's 95 % interval; nullopt with one round.
    std::optional<double> half_width;
    double median = 0;
    double min = 0;
    double max = 0;
    unsigned rounds = 0;  ///< that know the figure

    [[nodiscard]] double low() const noexcept { return mean - half_width.value_or(0); }
    [[nodiscard]] double high() const noexcept { return mean + half_width.value_or(0); }
};

/// An Estimate under its key: "lat_mean_us".
struct KeyedEstimate {
    std::string key;
    Estimate estimate;
};

/// What a fabric with the transport in hardware would give: computed, never measured.
struct Projection {
    std::optional<double> latency_us;
    std::optional<double> iops_per_core;
    std::string formula_latency;
    std::string formula_iops;
};

struct RunFailure {
    std::string subject;  ///< the URI, or empty
    std::string text;
    std::string errno_name;
};

struct BenchPath {
    std::string uri;
    std::string label;
    std::string name;  ///< label, told apart from the others' where they are the same
    std::string device;
    std::string rdma_device;  ///< empty: not known, or none
    std::uint64_t blocks = 0;
    std::uint64_t block_size = 0;
    std::uint64_t max_transfer = 0;
};

struct PathResult {
    std::size_t path = 0;  ///< index into Bench::paths
    std::vector<KeyedEstimate> summary;
    std::vector<std::pair<double, double>> percentiles_us;  ///< percent ascending, microseconds
    unsigned rounds = 0;
    std::uint64_t ios = 0;        ///< of all rounds
    std::uint64_t least_ios = 0;  ///< of the round with the fewest
    std::optional<Projection> projection;
    std::optional<RunFailure> failure;

    /// nullptr: not known.
    [[nodiscard]] const Estimate* find(std::string_view key) const noexcept;
};

/// The load, without block size and depth.
struct Load {
    std::string rw;                      ///< "randread"
    std::optional<double> read_percent;  ///< of a mixed one
    std::uint64_t threads = 1;

    bool operator==(const Load&) const = default;
};

struct Point {
    Load load;
    std::uint64_t bs = 0;
    std::uint64_t depth = 0;  ///< I/Os in flight, of each thread
    std::vector<PathResult> results;

    /// nullptr: that path has nothing at this point.
    [[nodiscard]] const PathResult* find(std::size_t path) const noexcept;
};

struct Bench {
    std::string kdp_version;  ///< empty: not said
    Environment environment;
    Json options;
    std::string system_calls_unavailable;
    std::string profile_unavailable;
    std::optional<RunFailure> failure;
    bool interrupted = false;
    std::vector<BenchPath> paths;
    std::vector<Point> points;

    /// Each load that there is, in the order of the points.
    [[nodiscard]] std::vector<Load> loads() const;
    /// The formulas of its projections, each one once.
    [[nodiscard]] std::vector<std::string> formulas() const;
};

/// "randread", "randrw, 70 % reads, 2 threads".
[[nodiscard]] std::string load_name(const Load& load);

/// "4k", "64k", "1m", "512".
[[nodiscard]] std::string size_name(std::uint64_t bytes);

/// EINVAL with a sentence that names the member, and for another schema what to do.
[[nodiscard]] Result<Bench> read_bench(const Json& json);

}  // namespace kdp::tool::document
