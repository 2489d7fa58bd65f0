// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Every measured I/O, one line each.
#pragma once

#include <cstddef>

#include <kdp/result.hpp>

#include "bench/io_loop.hpp"
#include "output_file.hpp"

namespace kdp::tool::bench {

/// Written between the turns, so that it does not disturb what is measured. After an error
/// nothing more is written, and commit() tells of it.
class LatencyLog {
public:
    /// The errors of OutputFile::create().
    [[nodiscard]] static Result<LatencyLog> create(const std::string& file);

    /// What the next records belong to: indices into the report's points and paths.
    void at(std::size_t point, std::size_t path) noexcept
    {
        point_ = point;
        path_ = path;
    }
    /// One line a record: point, path, round, thread, kind, LBA, ns; tabs between.
    void append(unsigned round, unsigned thread, const LogRecords& records);

    /// Give the file its name.
    [[nodiscard]] Status commit() { return file_.commit(); }

private:
    explicit LatencyLog(OutputFile file) : file_(std::move(file)) {}

    OutputFile file_;
    std::size_t point_ = 0;
    std::size_t path_ = 0;
};

}  // namespace kdp::tool::bench
