// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "limits.hpp"

#include <algorithm>

#include <nvmf/command.h>

namespace kdp::fabrics {

std::uint32_t max_transfer(const nvmf_ctrl_info& ctrl, const nvmf_ns_info& ns,
                           std::uint64_t descriptor_max)
{
    std::uint64_t bytes =
        std::min<std::uint64_t>(std::min<std::uint64_t>(descriptor_max, UINT32_MAX),
                                static_cast<std::uint64_t>(NVMF_RW_NLB_MAX) << ns.lba_shift);

    if (ctrl.mdts)
        bytes = std::min<std::uint64_t>(bytes, ctrl.mdts);
    return static_cast<std::uint32_t>(bytes >> ns.lba_shift << ns.lba_shift);
}

}  // namespace kdp::fabrics
