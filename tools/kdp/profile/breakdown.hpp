// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Samples, counted by class, and what they say about the CPU time of an I/O.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "profile/classes.hpp"
#include "profile/classify.hpp"

namespace kdp::tool::profile {

/// A figure and how sure it is.
struct Estimate {
    double value = 0;
    double half_width = 0;  ///< of its 95 % interval; of the sampling alone, see Breakdown
};

/// Where the machine's CPU time went while @p ios I/Os were done.
///
/// A sample stands for cpu_us / samples of CPU time: the samples of the idle task count there, so
/// that looks that were late or lost do not matter. Of n samples k in a class make k/n of the time.
/// The half-width is that of a proportion by Wilson, which is not 0 where nothing was seen: it says
/// how far chance alone may be off, not what differs from run to run.
struct Breakdown {
    std::uint64_t ios = 0;
    double cpu_us = 0;          ///< of all CPUs, idle time included
    std::uint64_t samples = 0;  ///< that were classified: the sum over all classes
    std::uint64_t lost = 0;     ///< not seen for want of room
    double elapsed_us = 0;      ///< of these I/Os, to compare with those that were not watched
    std::array<std::uint64_t, class_count> by_class{};

    [[nodiscard]] std::uint64_t in(Class c) const noexcept
    {
        return by_class[static_cast<std::size_t>(c)];
    }
    /// All but idle.
    [[nodiscard]] std::uint64_t busy() const noexcept { return samples - in(Class::idle); }

    /// µs an I/O of @p count samples. Only with samples and I/Os.
    [[nodiscard]] Estimate us_an_io(std::uint64_t count) const;
    [[nodiscard]] Estimate us_an_io(Class c) const { return us_an_io(in(c)); }
    /// Both stretches together.
    Breakdown& operator+=(const Breakdown& other);

    /// What the path itself costs: application and kernel path.
    [[nodiscard]] Estimate own_us_an_io() const
    {
        return us_an_io(in(Class::application) + in(Class::kernel_path));
    }
};

/// Counts samples. Those of a kernel thread between its works are shared out when all are there.
class Tally {
public:
    explicit Tally(Roles roles) : roles_(std::move(roles)) {}

    /// Returns its class, or nullopt where that is decided later.
    std::optional<Class> add(const Sample& sample, std::uint64_t count = 1);

    /// The number of samples of each class; their sum is the number of those that were added.
    [[nodiscard]] std::array<std::uint64_t, class_count> by_class() const;

private:
    using Counts = std::array<std::uint64_t, class_count>;
    struct Thread {
        Counts works{};
        std::uint64_t between = 0;
    };

    Roles roles_;
    Counts counts_{};
    std::map<std::uint32_t, Thread> kernel_threads_;
};

/// @p total in the proportions of @p weights, in whole numbers whose sum is @p total: by largest
/// remainders, the first of equal ones. Weights that are all 0 give all 0.
[[nodiscard]] std::array<std::uint64_t, class_count> share_out(
    std::uint64_t total, const std::array<std::uint64_t, class_count>& weights);

}  // namespace kdp::tool::profile
