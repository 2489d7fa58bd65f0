// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The subcommands: each adds itself to the parser and leaves what to run.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace kdp::tool {

/// Exit status of the tool.
enum Exit : int {
    exit_ok = 0,
    exit_failed = 1,  ///< the operation failed; stderr says why
    exit_usage = 2,   ///< the command line makes no sense
};

/// Set by the subcommand that was chosen; returns an Exit.
using Run = std::function<int()>;

void add_advise(CLI::App& app, Run& run);
void add_bench(CLI::App& app, Run& run);
void add_connect(CLI::App& app, Run& run);
void add_copy(CLI::App& app, Run& run);
void add_disconnect(CLI::App& app, Run& run);
void add_list(CLI::App& app, Run& run);
void add_monitor(CLI::App& app, Run& run);
void add_report(CLI::App& app, Run& run);
void add_reset(CLI::App& app, Run& run);
void add_set(CLI::App& app, Run& run);
void add_rescan(CLI::App& app, Run& run);
void add_stats(CLI::App& app, Run& run);

}  // namespace kdp::tool
