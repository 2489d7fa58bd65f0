// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// All points, at each of them all paths, interleaved in rounds.
///
/// Every path is opened, with the deepest queue, before anything runs. Then, for each point, the
/// paths are opened as it wants them, and a round gives each path one turn: some I/Os to warm up,
/// then the measured ones. The order turns around with every round, so that what drifts
/// (temperature, other load, translation caches) hits all alike.
#pragma once

#include <functional>
#include <string>

#include "bench/latency_log.hpp"
#include "bench/options.hpp"
#include "bench/path_run.hpp"
#include "bench/results.hpp"

namespace kdp::tool::bench {

/// Told before each step, for a progress line.
using Progress = std::function<void(const std::string& step)>;

/// What a run uses of the world.
struct Surroundings {
    Progress progress = [](const std::string&) {};
    Opener opener = open_library_paths;
    LatencyLog* log = nullptr;          ///< gets every measured I/O
    profile::Stacks* stacks = nullptr;  ///< gets every call chain that was seen, with --profile
};

/// Run the benchmark from the calling thread. A path that cannot be opened at first, or a refusal
/// to write, is a failure with no points. A path that fails later keeps the turns it had and gets
/// no more; the others go on. Data that do not verify end the run, so that nothing writes over the
/// evidence.
[[nodiscard]] RunReport run(const Options& options, const Surroundings& surroundings);

}  // namespace kdp::tool::bench
