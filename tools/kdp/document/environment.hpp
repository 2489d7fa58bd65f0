// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where something was measured, as its document tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/members.hpp"

namespace kdp::tool::document {

struct RdmaDeviceSeen {
    std::string name;
    std::string driver;  ///< empty: not known
    bool software = false;
    std::string link_layer;
    std::string state;
    std::uint64_t mtu = 0;  ///< 0: not known
    std::string netdev;
    std::uint64_t netdev_mtu = 0;
};

struct Environment {
    std::string kernel;
    std::string cpu_model;  ///< empty: not known, as the texts below
    std::uint64_t cpus = 0;
    bool virtual_machine = false;
    bool emulated = false;
    std::string machine;
    bool mitigations_off = false;
    std::string clock_source;
    std::vector<RdmaDeviceSeen> rdma;
    std::vector<std::string> distortions;
};

[[nodiscard]] Environment read_environment(const Members& members);

/// Name and value of what is known, for a header.
struct Fact {
    std::string name;
    std::string value;
};
[[nodiscard]] std::vector<Fact> facts(const Environment& environment);

}  // namespace kdp::tool::document
