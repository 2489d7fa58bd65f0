// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a path would do on a fabric whose transport is in hardware: `--fabric rtt=2us,gbps=100`.
/// A projection, no measurement.
///
///     latency       = own + post + rtt + bytes / bandwidth             at depth 1
///     IOPS a core   = min(1 / (own + post), bandwidth / bytes)
///
/// own is the path's own CPU time an I/O, measured: application and kernel path; not the provider,
/// whose work is the adapter's there; not the target, which the round trip holds; not waiting.
/// Assumed: at depth 1 all of it lies in the I/O's way, nothing of it runs beside the wire; at a
/// greater depth one core has nothing else to do and no poll is in vain. post is what the
/// adapter's own library takes an I/O (writing the work request, the doorbell, polling its CQ): 0
/// unless given. A transfer is counted once, in one direction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kdp/result.hpp>

#include "profile/breakdown.hpp"

namespace kdp::tool::profile {

struct FabricModel {
    double rtt_us = 0;   ///< from the doorbell to the completion, for an I/O without data
    double gbps = 0;     ///< 10⁹ bits of data a second
    double post_us = 0;  ///< the provider's calls, an I/O
};

/// "rtt=2us,gbps=100", also "post=250ns"; times in ns, us, ms. Both of rtt and gbps must be there.
/// EINVAL with a sentence that names the part.
[[nodiscard]] Result<FabricModel> parse_fabric(std::string_view text);

struct Projection {
    std::optional<Estimate> latency_us;  ///< at depth 1 only
    Estimate iops_per_core;
    std::string formula_latency;  ///< with the numbers; empty where there is no latency
    std::string formula_iops;
    bool link_bound = false;  ///< the link, not the core, is the limit
};

/// nullopt where the path's own cost is not known: no samples, or none of it was seen.
/// @p bytes of data of one I/O; @p depth: I/Os in flight, of all threads.
[[nodiscard]] std::optional<Projection> project(const Estimate& own_us, const FabricModel& fabric,
                                                std::uint32_t bytes, unsigned depth);

}  // namespace kdp::tool::profile
