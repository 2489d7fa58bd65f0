// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A copy between a file and a namespace, and what it cost.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>

#include <kdp/data_path.hpp>

#include "copy/options.hpp"

namespace kdp::tool::copy {

struct Report {
    std::uint64_t bytes = 0;          ///< of the file
    std::uint64_t total = 0;          ///< that were asked for
    std::uint64_t padding_bytes = 0;  ///< zeroes behind the file's end, to the end of its block
    std::uint64_t elapsed_ns = 0;     ///< with the flush
    std::uint64_t cpu_user_us = 0;    ///< of all threads of this process
    std::uint64_t cpu_system_us = 0;
    std::uint64_t commands = 0;       ///< Read, Write and Flush
    std::uint64_t command_bytes = 0;  ///< of one at most
    std::uint64_t regions = 0;        ///< that were added
    std::uint64_t registrations = 0;  ///< of the RDMA device, that these took
    std::uint64_t region_bytes = 0;   ///< of the largest region
    KernelMode mode = KernelMode::ioctl;
    std::string device;  ///< for people
    bool flushed = false;
    bool interrupted = false;
};

/// What went wrong with what, for report().
struct Failure {
    std::string subject;
    Error error;
};

/// Called after each completion.
using Progress = std::function<void(std::uint64_t bytes, std::uint64_t total)>;

/// A report; or a failure, and what was written by then stays so.
[[nodiscard]] std::variant<Report, Failure> run(const Options& options, const Progress& progress);

/// Copy between @p file, open, and @p path, which is that of the options. The checks of what fits
/// and the sizes are in it; opening is not. @p report: total and bytes are its own to fill in.
[[nodiscard]] Status run_on(DataPath& path, std::span<std::byte> memory, int file,
                            const Options& options, const Progress& progress, Report& report);

/// How many bytes of the file are to be copied: @p file_bytes is its length. EINVAL, ENOSPC or
/// ERANGE with a sentence when that does not fit the namespace.
[[nodiscard]] Result<std::uint64_t> length_of(const Options& options, const NamespaceInfo& info,
                                              std::uint64_t file_bytes);

}  // namespace kdp::tool::copy
