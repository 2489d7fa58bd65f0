// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// From samples to a Breakdown: what was seen, by name and by class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

#include "profile/breakdown.hpp"
#include "profile/kernel_symbols.hpp"
#include "profile/modules.hpp"
#include "profile/sampler.hpp"
#include "profile/stacks.hpp"

namespace kdp::tool::profile {

/// What @p uri goes through. block: and kernel: paths are asked for their transport in sysfs.
[[nodiscard]] Transport transport_of(const PathUri& uri);

/// Whether the RDMA device @p name keeps its transport in software; true where that is not known.
[[nodiscard]] bool is_software_provider(std::string_view name);

/// Whether polls in user space that find nothing are told from other work (lib/polling_code.hpp).
[[nodiscard]] bool knows_polls_of_user_space() noexcept;

class Profiler {
public:
    /// How long one stretch may last.
    static constexpr std::chrono::milliseconds longest{2000};

    /// Errors: those of Sampler::open() and KernelSymbols::load(); EXDEV inside a PID namespace,
    /// where the kernel's threads have no numbers.
    [[nodiscard]] static Result<Profiler> open();

    /// Watch from now on.
    [[nodiscard]] Status start();

    /// Watch no more. To be called as soon as the last I/O is through.
    [[nodiscard]] Status stop();

    /// What happened between start() and stop().
    struct Stretch {
        std::uint64_t ios = 0;
        std::uint64_t elapsed_ns = 0;
        Transport transport = Transport::none;
        std::string_view rdma_device;  ///< may be empty
    };
    /// Whose time it was. All threads of this process are the path's. Clears what was seen.
    [[nodiscard]] Result<Breakdown> classify(const Stretch& stretch);

    /// Every call chain so far, with its class and how often it was seen (stacks.hpp).
    [[nodiscard]] const Stacks& stacks() const noexcept { return stacks_; }

private:
    Profiler(Sampler sampler, KernelSymbols symbols);

    Sampler sampler_;
    KernelSymbols symbols_;
    std::vector<RawSample> seen_;
    Sampler::Harvest harvest_;
    Stacks stacks_;
};

}  // namespace kdp::tool::profile
