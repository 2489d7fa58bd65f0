// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// An Io as a passthrough command, and what the kernel's answer means.
#pragma once

#include <linux/nvme_ioctl.h>

#include <cstdint>

#include <nvmf/command.h>
#include <kdp/data_path.hpp>

#include "nvme_error.hpp"

namespace kdp::kernel {

/// Fill @p command, which is all 0, with a Read, Write or Flush that has been checked.
/// nvme_passthru_cmd, nvme_passthru_cmd64 and nvme_uring_cmd differ in nothing that is set here.
template <typename Command>
void fill_command(Command& command, const Io& io, std::uint32_t nsid,
                  std::uint32_t block_size) noexcept
{
    command.opcode = io.op == Op::read    ? NVMF_IO_READ
                     : io.op == Op::write ? NVMF_IO_WRITE
                                          : NVMF_IO_FLUSH;
    command.nsid = nsid;
    if (io.op == Op::flush)
        return;
    command.addr = reinterpret_cast<std::uintptr_t>(io.data.data());
    command.data_len = static_cast<std::uint32_t>(io.data.size());
    command.cdw10 = static_cast<std::uint32_t>(io.lba);
    command.cdw11 = static_cast<std::uint32_t>(io.lba >> 32);
    command.cdw12 = static_cast<std::uint32_t>(io.data.size() / block_size - 1);
}

/// @p answer: 0, an NVMe status, or a negative errno, as ioctl (but for its errno) and io_uring
/// have it.
[[nodiscard]] inline Completion completion_of(std::uint64_t tag, int answer) noexcept
{
    if (answer < 0)
        return {tag, -answer, 0};
    return {tag, errno_from_nvme(static_cast<std::uint16_t>(answer)), answer};
}

}  // namespace kdp::kernel
