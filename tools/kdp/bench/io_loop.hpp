// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Keep a path at its depth for so many I/Os or so long, and time each one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/histogram.hpp>

#include "bench/plan.hpp"

namespace kdp::tool::bench {

/// One I/O in a log of them all.
struct LogRecord {
    std::uint64_t lba = 0;
    std::uint64_t ns = 0;
    Op op = Op::read;
};
using LogRecords = std::deque<LogRecord>;  // grows without moving what it has

struct Goal {
    Plan* plan = nullptr;
    std::uint32_t bytes = 4096;    ///< of one I/O: whole blocks
    std::uint64_t ios = 0;         ///< end after so many; 0: no such end
    std::uint64_t runtime_ns = 0;  ///< start no I/O after that; 0: no such end
    /// Block size of the patterns that writes carry and reads are checked against; 0: none.
    std::uint32_t pattern_block = 0;
    const std::atomic<bool>* stop = nullptr;  ///< end when it becomes true
    LogRecords* log = nullptr;                ///< gets every I/O
};

struct LoopResult {
    std::uint64_t begin_ns = 0;  ///< just before the first submission, by now_ns()
    std::uint64_t end_ns = 0;    ///< the last completion
    Histogram reads;             ///< submission to completion, ns
    Histogram writes;
    bool interrupted = false;  ///< by a signal or Goal::stop, before the goal
    /// The first I/O that failed, with its LBA; EILSEQ for data that do not verify; ETIMEDOUT when
    /// nothing completes for 60 s; EPROTO for a path that contradicts itself. What is above counts
    /// the I/Os that succeeded before.
    Status status = ok();

    [[nodiscard]] std::uint64_t ios() const noexcept { return reads.count() + writes.count(); }
};

class IoLoop {
public:
    /// @p memory: at least @p depth times the largest Goal::bytes, registered with the path.
    IoLoop(DataPath& path, std::span<std::byte> memory, unsigned depth);

    /// Returns when nothing is in flight any more, whatever happened.
    [[nodiscard]] LoopResult run(const Goal& goal);

private:
    struct Slot {
        Io io;
        std::uint64_t seed = 0;
        std::uint64_t started_ns = 0;
        bool busy = false;
    };

    void prepare(const Goal& goal);
    [[nodiscard]] Status start(const Goal& goal, std::uint64_t at_most);
    [[nodiscard]] Status finish(const Goal& goal, LoopResult& result);
    [[nodiscard]] Status take(const Goal& goal, const Completion& completion, LoopResult& result);
    [[nodiscard]] Status check(const Goal& goal, std::span<const Completion> taken) const;
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
