// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// How much one I/O may carry.
#pragma once

#include <cstdint>

#include <nvmf/identify.h>

namespace kdp::fabrics {

/// Bytes, whole blocks: what MDTS, the 16 bits of NLB and @p descriptor_max, which is the most
/// that the transport's SGL descriptor says, allow. 0: not even a block.
[[nodiscard]] std::uint32_t max_transfer(const nvmf_ctrl_info& ctrl, const nvmf_ns_info& ns,
                                         std::uint64_t descriptor_max);

}  // namespace kdp::fabrics
