// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// An open character device of an NVMe namespace, and its ioctls.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include <kdp/kdp_ioctl.h>
#include <kdp/data_path.hpp>
#include <kdp/result.hpp>

#include "unique_fd.hpp"

namespace kdp::kernel {

/// All members may be called by several threads at once.
class NvmeDevice {
public:
    /// ENOTTY when @p device is no NVMe namespace.
    [[nodiscard]] static Result<NvmeDevice> open(const std::string& device);

    NvmeDevice(NvmeDevice&& other) noexcept
        : fd_(std::move(other.fd_)), nsid_(other.nsid_), has_io64_(other.has_io64_.load())
    {
    }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] std::uint32_t nsid() const noexcept { return nsid_; }
    /// The kernel's name of it, "ng0n1", whatever the node is called; empty when it cannot be told.
    [[nodiscard]] std::string kernel_name() const;

    /// Identify, @p cns NVMF_CNS_*, into 4096 bytes. EIO with the NVMe status.
    [[nodiscard]] Status identify(std::uint8_t cns, std::uint32_t nsid,
                                  std::span<std::byte> data) const;

    /// What kdp's driver has; ENOTTY for another driver, and for kdp's before it had any.
    [[nodiscard]] Result<kdp_features> features() const;

    /// One Read, Write or Flush, checked by the caller; sleeps until it is done.
    [[nodiscard]] Completion run(const Io& io, std::uint32_t block_size) noexcept;

private:
    NvmeDevice(UniqueFd fd, std::uint32_t nsid) : fd_(std::move(fd)), nsid_(nsid) {}

    UniqueFd fd_;
    std::uint32_t nsid_;
    std::atomic<bool> has_io64_{true};
};

}  // namespace kdp::kernel
