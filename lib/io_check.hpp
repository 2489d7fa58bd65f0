// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What every path refuses in an Io before it reaches the kernel.
#pragma once

#include <cerrno>

#include <kdp/data_path.hpp>

namespace kdp {

/// 0; EINVAL for a length that is no multiple of the block size, 0, too long or given with a
/// flush; ERANGE beyond the namespace.
[[nodiscard]] inline int check_io(const NamespaceInfo& info, const Io& io) noexcept
{
    if (io.op == Op::flush)
        return io.data.empty() ? 0 : EINVAL;
    if (io.data.empty() || io.data.size() % info.block_size != 0 ||
        io.data.size() > info.max_transfer)
        return EINVAL;
    const std::uint64_t blocks = io.data.size() / info.block_size;
    if (io.lba >= info.blocks || blocks > info.blocks - io.lba)
        return ERANGE;
    return 0;
}

}  // namespace kdp
