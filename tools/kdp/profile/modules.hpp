// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Which modules of this kernel play which part.
#pragma once

#include <string_view>

#include "profile/classify.hpp"

namespace kdp::tool::profile {

/// What a path's I/O goes through, as far as the rules want to know.
enum class Transport : std::uint8_t {
    none,  ///< a disk of this machine
    rdma,
    tcp,
};

/// The roles of the modules in @p proc_modules, the text of /proc/modules.
///
/// A provider is found by what it uses, not by name: every one needs ib_uverbs, for user memory,
/// and nobody else does but rdma_ucm. Modules that a provider uses (mlx5_core, udp_tunnel) are its
/// parts, unless they are the RDMA stack's own. With @p software the provider's packets go through
/// this kernel's network.
[[nodiscard]] Roles roles_of(std::string_view proc_modules, Transport transport, bool software);

}  // namespace kdp::tool::profile
