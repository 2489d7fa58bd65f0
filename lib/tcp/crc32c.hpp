// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// CRC32C (Castagnoli), the digest of NVMe/TCP: reflected, begun with and finished by all ones
/// (RFC 3720, 12.1; NVMe TCP Transport 1.0, 3.3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kdp::tcp {

/// Of @p bytes; by the CPU's instruction where it has one (SSE4.2), else by a table.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// Always by the table: for CPUs without, and to check the other by.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

}  // namespace kdp::tcp
