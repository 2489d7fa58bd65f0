// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Keep a path at its depth for so many I/Os or so long, and time each one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/histogram.hpp>

#include "bench/verify.hpp"

namespace kdp::tool::bench {

struct Goal {
    Op op = Op::read;
    std::uint32_t bytes = 4096;           ///< of one I/O: whole blocks
    std::uint64_t ios = 0;                ///< end after so many; 0: no such end
    std::uint64_t runtime_ns = 0;         ///< start no I/O after that; 0: no such end
    std::function<std::uint64_t()> next;  ///< the next I/O's first LBA
    const Pattern* pattern = nullptr;     ///< writes carry it, reads are checked against it
};

struct LoopResult {
    std::uint64_t ios = 0;
    std::uint64_t elapsed_ns = 0;  ///< first submission to last completion
    Histogram latency;             ///< submission to completion, ns
    bool interrupted = false;      ///< by a signal, before the goal
};

class IoLoop {
public:
    /// @p memory: at least @p depth times the largest Goal::bytes, registered with the path.
    IoLoop(DataPath& path, std::span<std::byte> memory, unsigned depth);

    /// Returns when nothing is in flight any more, whatever happened.
    /// Errors: the first I/O that failed, with its LBA; EILSEQ for data that do not verify;
    /// ETIMEDOUT when nothing completes for 60 s.
    [[nodiscard]] Result<LoopResult> run(const Goal& goal);

private:
    struct Slot {
        Io io;
        std::uint64_t started_ns = 0;
        bool busy = false;
    };

    [[nodiscard]] Status start(const Goal& goal, std::uint64_t at_most);
    [[nodiscard]] Status finish(const Goal& goal, LoopResult& result);
    void drain();

    DataPath& path_;
    std::span<std::byte> memory_;
    std::vector<Slot> slots_;
    std::vector<unsigned> free_;
    std::vector<Io> batch_;  // built, not yet taken by the path
    std::vector<Completion> completions_;
    std::uint64_t issued_ = 0;
    std::uint64_t last_ns_ = 0;  // the latest look at the clock
};

}  // namespace kdp::tool::bench
