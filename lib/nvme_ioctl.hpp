// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The passthrough ioctls on one open NVMe character device.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include <kdp/data_path.hpp>
#include <kdp/result.hpp>

#include "unique_fd.hpp"

namespace kdp {

/// All members may be called by several threads at once.
class NvmeIoctl {
public:
    /// ENOTTY when @p device is no NVMe namespace.
    [[nodiscard]] static Result<NvmeIoctl> open(const std::string& device);

    NvmeIoctl(NvmeIoctl&& other) noexcept
        : fd_(std::move(other.fd_)), nsid_(other.nsid_), has_io64_(other.has_io64_.load())
    {
    }

    [[nodiscard]] std::uint32_t nsid() const noexcept { return nsid_; }
    [[nodiscard]] dev_t device_number() const;

    /// Identify, @p cns NVMF_CNS_*, into 4096 bytes. EIO with the NVMe status.
    [[nodiscard]] Status identify(std::uint8_t cns, std::uint32_t nsid,
                                  std::span<std::byte> data) const;

    /// One Read, Write or Flush, checked by the caller; sleeps until it is done.
    [[nodiscard]] Completion run(const Io& io, std::uint32_t block_size) noexcept;

private:
    NvmeIoctl(UniqueFd fd, std::uint32_t nsid) : fd_(std::move(fd)), nsid_(nsid) {}

    UniqueFd fd_;
    std::uint32_t nsid_;
    std::atomic<bool> has_io64_{true};
};

}  // namespace kdp
