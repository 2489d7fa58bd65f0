// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where a benchmark ran, and what that does to its figures.
#pragma once

#include <string>
#include <vector>

#include <kdp/rdma_devices.hpp>

namespace kdp::tool::bench {

struct Environment {
    std::string kernel;  ///< "6.12.38 #1 SMP ..."
    std::string cpu_model;
    unsigned cpus = 0;  ///< online
    bool virtual_machine = false;
    bool emulated = false;         ///< the CPU is software: QEMU's TCG
    std::string machine;           ///< hypervisor, DMI vendor and product; empty when not known
    bool mitigations_off = false;  ///< by the kernel's command line
    std::string clock_source;      ///< "tsc"
    std::vector<RdmaDevice> rdma;
};

[[nodiscard]] Environment look_around();

/// Sentences on what distorts figures taken here; empty on plain hardware.
[[nodiscard]] std::vector<std::string> distortions(const Environment& environment);

}  // namespace kdp::tool::bench
