// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The RDMA devices of this machine, as far as a benchmark wants to say.
#pragma once

#include <string>
#include <vector>

#include <kdp/export.hpp>

namespace kdp {

/// One RDMA device and its first port.
struct RdmaDevice {
    std::string name;        ///< "rxe0"
    std::string driver;      ///< "rxe", "siw", "mlx5_core"; empty when not known
    std::string node_type;   ///< "CA", "RNIC"
    std::string link_layer;  ///< "Ethernet", "InfiniBand"
    std::string state;       ///< of port 1: "ACTIVE"
    int mtu = 0;             ///< active, of port 1, bytes; 0: not known
    std::string netdev;      ///< below it; empty when not known
    int netdev_mtu = 0;      ///< bytes; 0: not known

    /// Does it do in software, on this machine's CPUs, what an adapter does in silicon?
    [[nodiscard]] bool software() const { return driver == "rxe" || driver == "siw"; }
};

/// From sysfs and libibverbs; sorted by name. None where there is none, or no rdma-core. Reads
/// files; any thread.
[[nodiscard]] KDP_API std::vector<RdmaDevice> rdma_devices();

}  // namespace kdp
