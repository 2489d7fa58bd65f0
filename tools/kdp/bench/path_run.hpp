// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One path at one point of a benchmark: opened for each thread, filled, given its turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

#include "bench/fabric.hpp"
#include "bench/io_loop.hpp"
#include "bench/latency_log.hpp"
#include "bench/options.hpp"
#include "bench/results.hpp"
#include "bench/team.hpp"
#include "profile/profiler.hpp"

namespace kdp::tool::bench {

/// Opens so many paths to one namespace, each for a thread of its own.
using Opener = std::function<Result<std::vector<std::unique_ptr<DataPath>>>(
    const PathUri& uri, const OpenOptions& options, unsigned count)>;

/// The library's.
[[nodiscard]] Result<std::vector<std::unique_ptr<DataPath>>> open_library_paths(
    const PathUri& uri, const OpenOptions& options, unsigned count);

/// "kernel:kdpg0n1", "verbs:192.0.2.1".
[[nodiscard]] std::string label_of(const PathUri& uri);

/// Whether I/O of @p shape fits a namespace: its blocks, what it takes at once, its size.
/// EINVAL with a sentence.
[[nodiscard]] Status check_fits(const NamespaceInfo& info, const Shape& shape);

/// What came of a turn. The turn is worth keeping if there were I/Os, whatever the status.
struct TurnOutcome {
    Turn turn;
    Histogram reads;
    Histogram writes;
    Status status = ok();
};

class PathRun {
public:
    /// Open @p uri, check that the shape fits it, register memory for each thread.
    [[nodiscard]] static Result<PathRun> open(const PathUri& uri, const Shape& shape,
                                              const Options& options, const Opener& opener);

    [[nodiscard]] const NamespaceInfo& info() const noexcept { return paths_.front()->info(); }
    /// Bytes of the region under test: --size, or the whole namespace if that is less; whole
    /// I/Os, as many for each thread.
    [[nodiscard]] std::uint64_t region_bytes() const noexcept
    {
        return places_ * shape_.threads * shape_.block_bytes;
    }

    /// Write the pattern that reads look for to the whole region.
    [[nodiscard]] Status fill();

    /// Warm up, measure, then count the system calls of some more I/Os, and profile some more if
    /// @p profiler is not null. @p pass tells the turns of
    /// a run apart: patterns that are written carry it. @p log: of which the place is set; may be
    /// null.
    [[nodiscard]] TurnOutcome take_turn(unsigned round, std::uint32_t pass, LatencyLog* log,
                                        profile::Profiler* profiler = nullptr);

private:
    using Paths = std::vector<std::unique_ptr<DataPath>>;
    using Plans = std::vector<std::unique_ptr<ShapedPlan>>;
    using Goals = std::vector<Goal>;  // one a thread
    using Results = std::vector<LoopResult>;

    PathRun(const Options& options, const Shape& shape, const PathUri& uri, Paths paths,
            std::vector<Buffer> buffers);

    [[nodiscard]] Results run_all(Goals goals, const Team::Moment& before = {},
                                  const Team::Moment& after = {});
    [[nodiscard]] Goals goals_of(const Plans& plans) const;
    [[nodiscard]] Status fill_with(std::uint64_t seed);
    [[nodiscard]] Status warm_up(Goals goals);
    void measure(Goals goals, TurnOutcome& outcome);
    [[nodiscard]] Status count_system_calls(Goals goals, Turn& turn);
    [[nodiscard]] Status profile_some(Goals goals, Turn& turn, profile::Profiler& profiler);
    [[nodiscard]] Status read_back(const Plans& plans, Turn& turn);

    const Options* options_;
    Shape shape_;
    profile::Transport transport_;
    std::vector<Buffer> buffers_;  // outlive the paths, which may still use them
    Paths paths_;                  // one a thread
    std::vector<std::unique_ptr<IoLoop>> loops_;
    std::unique_ptr<Team> team_;
    FabricMeter fabric_;
    std::uint64_t blocks_an_io_;
    std::uint64_t places_;  // I/Os that a thread's slice holds
};

}  // namespace kdp::tool::bench
