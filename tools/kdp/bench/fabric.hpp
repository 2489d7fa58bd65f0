// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a path did on the RDMA fabric, from whoever counts it: the kdp_host module for its
/// devices, the path itself for verbs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace kdp::tool::bench {

struct FabricCounters {
    std::uint64_t doorbells = 0;  ///< posts to send and receive queues
    std::uint64_t work_requests = 0;
    std::uint64_t completions = 0;              ///< CQEs
    std::uint64_t registrations = 0;            ///< memory registrations
    std::optional<std::uint64_t> bytes_copied;  ///< by CPU, of data; nullopt: nobody counts it
};

class FabricMeter {
public:
    /// Find out who counts for @p uri. Asks the module for a kernel: or block: device.
    [[nodiscard]] static FabricMeter of(const PathUri& uri);

    /// The tallies now; nullopt where nobody counts, as for the in-tree driver.
    /// @p paths: those of all threads.
    [[nodiscard]] std::optional<FabricCounters> read(
        std::span<const std::unique_ptr<DataPath>> paths) const;

private:
    bool by_path_ = false;
    std::optional<std::uint32_t> instance_;  // of the kdp controller
};

[[nodiscard]] FabricCounters operator-(const FabricCounters& end, const FabricCounters& begin);

}  // namespace kdp::tool::bench
