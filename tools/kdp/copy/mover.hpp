// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Keep a path at its depth with the pieces of a stage.
#pragma once

#include <cstdint>
#include <functional>

#include <kdp/data_path.hpp>

#include "copy/stage.hpp"

namespace kdp::tool::copy {

struct Job {
    Op op = Op::write;
    std::uint64_t lba = 0;                                               ///< of the first byte
    unsigned depth = 1;                                                  ///< that of the path
    std::uint32_t command_bytes = 0;                                     ///< at most
    std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};  ///< bytes so far
};

struct Moved {
    std::uint64_t bytes = 0;
    std::uint64_t commands = 0;
    bool interrupted = false;  ///< by a signal, before the end
};

/// Returns when nothing is in flight any more, whatever happened; ETIMEDOUT when nothing completes
/// for 60 s is the exception. Errors: of the stage; the first command that failed, with its LBA.
[[nodiscard]] Result<Moved> move(DataPath& path, Stage& stage, const Job& job);

/// One command, to its end.
[[nodiscard]] Status run_one(DataPath& path, const Io& io);

}  // namespace kdp::tool::copy
