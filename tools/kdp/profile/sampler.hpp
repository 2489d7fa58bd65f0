// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A look at every CPU many times a second: perf events of the software clock, one a CPU, of all
/// tasks, the idle one included.
///
/// Nobody reads while it runs, so that no reader is in the picture: the rings hold the longest run
/// that was promised. A software clock needs no PMU and works in virtual machines; it does not
/// look into code that runs with interrupts off, which it sees where they are switched on again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <kdp/result.hpp>

#include "profile/records.hpp"

namespace kdp::tool::profile {

class Sampler {
public:
    /// Looks a second and CPU. No divisor of anything that a machine does regularly.
    static constexpr unsigned default_frequency = 1999;

    /// Make ready to look @p frequency times a second for @p longest; starts nothing.
    /// Errors, with a sentence for the reader of the results:
    ///   EACCES, EPERM   it needs CAP_PERFMON
    ///   ENOENT, ENODEV, ENOSYS, EOPNOTSUPP   the kernel has no perf events (User-Mode Linux)
    ///   EPERM, ENOMEM   the rings are more than may be locked
    [[nodiscard]] static Result<Sampler> open(std::chrono::milliseconds longest,
                                              unsigned frequency = default_frequency);

    [[nodiscard]] Status start();

    struct Harvest {
        std::uint64_t samples = 0;  ///< that were read
        std::uint64_t lost = 0;     ///< for which the rings had no room
        /// CPU time that the samples stand for: of all CPUs, from start() to stop().
        double cpu_us = 0;
    };
    /// Stop, and hand over what was seen. @p each is called for each sample, CPU after CPU.
    /// Errors: EBADMSG for a ring that makes no sense.
    [[nodiscard]] Result<Harvest> stop(const std::function<void(const RawSample&)>& each);

    [[nodiscard]] unsigned frequency() const noexcept { return frequency_; }

    Sampler(Sampler&&) noexcept;
    Sampler& operator=(Sampler&&) noexcept;
    ~Sampler();

private:
    class Ring;
    Sampler();

    std::vector<std::unique_ptr<Ring>> rings_;  // one a CPU
    unsigned frequency_ = default_frequency;
    std::chrono::steady_clock::time_point started_;
};

}  // namespace kdp::tool::profile
