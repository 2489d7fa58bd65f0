// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/nvme_device.hpp"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "kernel/command.hpp"

namespace kdp::kernel {

Result<NvmeDevice> NvmeDevice::open(const std::string& device)
{
    UniqueFd fd(::open(device.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd)
        return error_from_errno(errno, device);
    struct stat st;
    if (fstat(fd.get(), &st) < 0)
        return error_from_errno(errno, device);
    const int nsid = S_ISCHR(st.st_mode) ? ioctl(fd.get(), NVME_IOCTL_ID) : -1;
    if (nsid <= 0)
        return Error{ENOTTY, fmt::format("{} is not the character device of an NVMe namespace "
                                         "(/dev/kdpg0n1, /dev/ng0n1)",
                                         device)};
    return NvmeDevice(std::move(fd), static_cast<std::uint32_t>(nsid));
}

std::string NvmeDevice::kernel_name() const
{
    struct stat st;
    if (fstat(fd_.get(), &st) < 0)
        return "";
    std::error_code error;
    const auto path = std::filesystem::canonical(
        fmt::format("/sys/dev/char/{}:{}", major(st.st_rdev), minor(st.st_rdev)), error);
    return error ? std::string() : path.filename().string();
}

Status NvmeDevice::identify(std::uint8_t cns, std::uint32_t nsid, std::span<std::byte> data) const
{
    nvme_admin_cmd command{};
    command.opcode = NVMF_ADM_IDENTIFY;
    command.nsid = nsid;
    command.addr = reinterpret_cast<std::uintptr_t>(data.data());
    command.data_len = static_cast<std::uint32_t>(data.size());
    command.cdw10 = cns;
    const int rc = ioctl(fd_.get(), NVME_IOCTL_ADMIN_CMD, &command);
    if (rc < 0)
        return error_from_errno(errno, "Identify");
    if (rc > 0)
        return error_from_nvme(static_cast<std::uint16_t>(rc), "Identify");
    return ok();
}

Result<kdp_features> NvmeDevice::features() const
{
    kdp_features features{};
    if (ioctl(fd_.get(), KDP_IOC_FEATURES, &features) < 0)
        return error_from_errno(errno, "KDP_IOC_FEATURES");
    return features;
}

Completion NvmeDevice::run(const Io& io, std::uint32_t block_size) noexcept
{
    int rc = -1;
    if (has_io64_.load(std::memory_order_relaxed)) {
        nvme_passthru_cmd64 command{};
        fill_command(command, io, nsid_, block_size);
        rc = ioctl(fd_.get(), NVME_IOCTL_IO64_CMD, &command);
        if (rc < 0 && errno == ENOTTY)
            has_io64_.store(false, std::memory_order_relaxed);  // before 5.5
    }
    if (!has_io64_.load(std::memory_order_relaxed)) {
        nvme_passthru_cmd command{};
        fill_command(command, io, nsid_, block_size);
        rc = ioctl(fd_.get(), NVME_IOCTL_IO_CMD, &command);
    }
    return completion_of(io.tag, rc < 0 ? -errno : rc);
}

}  // namespace kdp::kernel
