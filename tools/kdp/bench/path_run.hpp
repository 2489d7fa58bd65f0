// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One path of a benchmark: opened, filled, given its turns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>

#include "bench/fabric.hpp"
#include "bench/io_loop.hpp"
#include "bench/options.hpp"
#include "bench/runner.hpp"

namespace kdp::tool::bench {

class PathRun {
public:
    /// Open @p uri, check that the run fits it, register its memory.
    [[nodiscard]] static Result<PathRun> open(const std::string& uri, const Options& options);

    [[nodiscard]] const DataPath& path() const noexcept { return *path_; }
    [[nodiscard]] std::string label() const;
    /// Bytes of the region under test: --size, or the whole namespace if that is less.
    [[nodiscard]] std::uint64_t region_bytes() const noexcept { return places_ * io_bytes_; }

    /// Write the pattern to the whole region.
    [[nodiscard]] Status fill();

    /// Warm up, measure, then count the system calls of some more I/Os. @p index tells the paths
    /// of a run apart.
    [[nodiscard]] Result<Turn> take_turn(unsigned round, unsigned index);

private:
    PathRun(const Options& options, PathUri uri, std::unique_ptr<DataPath> path, Buffer buffer);

    [[nodiscard]] Status warm_up(const Goal& goal);
    [[nodiscard]] Result<Turn> measure(const Goal& goal);
    [[nodiscard]] Status count_system_calls(const Goal& goal, Turn& turn);
    [[nodiscard]] Result<std::uint64_t> read_back(const std::vector<bool>& written,
                                                  const Pattern& pattern);

    const Options* options_;
    PathUri uri_;
    Buffer buffer_;  // outlives the path, which may still use it
    std::unique_ptr<DataPath> path_;
    std::unique_ptr<IoLoop> io_;
    FabricMeter fabric_;
    std::uint32_t io_bytes_;
    std::uint32_t blocks_an_io_;
    std::uint64_t places_;  // I/Os that the region holds
};

}  // namespace kdp::tool::bench
