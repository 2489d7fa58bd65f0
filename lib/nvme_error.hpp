// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// From NVMe status to errno and to words.
#pragma once

#include <cstdint>
#include <string>

#include <nvmf/fabrics.h>
#include <kdp/result.hpp>

namespace kdp {

/// The errno that says what an NVMe status (NVMF_SC_*) means; 0 for success, EIO for
/// those without a better one.
[[nodiscard]] int errno_from_nvme(std::uint16_t status) noexcept;

/// "@p what failed: NVMe status 0x… (words)", with both codes set.
[[nodiscard]] Error error_from_nvme(std::uint16_t status, const std::string& what);

/// Why a Fabrics Connect to @p nqn at @p where was refused:
/// ENOENT no such subsystem there, EACCES host not allowed, EBUSY, EINVAL.
[[nodiscard]] Error error_from_connect(const nvmf_response& response, const std::string& nqn,
                                       const std::string& host_nqn, const std::string& where);

}  // namespace kdp
