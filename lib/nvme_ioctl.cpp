// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nvme_ioctl.hpp"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include <nvmf/command.h>

#include "nvme_error.hpp"

namespace kdp {

Result<NvmeIoctl> NvmeIoctl::open(const std::string& device)
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
    return NvmeIoctl(std::move(fd), static_cast<std::uint32_t>(nsid));
}

dev_t NvmeIoctl::device_number() const
{
    struct stat st;
    return fstat(fd_.get(), &st) == 0 ? st.st_rdev : 0;
}

Status NvmeIoctl::identify(std::uint8_t cns, std::uint32_t nsid, std::span<std::byte> data) const
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

Completion NvmeIoctl::run(const Io& io, std::uint32_t block_size) noexcept
{
    // the two structures differ in what follows timeout_ms only
    const auto fill = [&](auto& command) {
        command.opcode = io.op == Op::read    ? NVMF_IO_READ
                         : io.op == Op::write ? NVMF_IO_WRITE
                                              : NVMF_IO_FLUSH;
        command.nsid = nsid_;
        if (io.op == Op::flush)
            return;
        command.addr = reinterpret_cast<std::uintptr_t>(io.data.data());
        command.data_len = static_cast<std::uint32_t>(io.data.size());
        command.cdw10 = static_cast<std::uint32_t>(io.lba);
        command.cdw11 = static_cast<std::uint32_t>(io.lba >> 32);
        command.cdw12 = static_cast<std::uint32_t>(io.data.size() / block_size - 1);
    };
    int rc = -1;
    if (has_io64_.load(std::memory_order_relaxed)) {
        nvme_passthru_cmd64 command{};
        fill(command);
        rc = ioctl(fd_.get(), NVME_IOCTL_IO64_CMD, &command);
        if (rc < 0 && errno == ENOTTY)
            has_io64_.store(false, std::memory_order_relaxed);  // before 5.5
    }
    if (!has_io64_.load(std::memory_order_relaxed)) {
        nvme_passthru_cmd command{};
        fill(command);
        rc = ioctl(fd_.get(), NVME_IOCTL_IO_CMD, &command);
    }
    if (rc < 0)
        return {io.tag, errno, 0};
    return {io.tag, errno_from_nvme(static_cast<std::uint16_t>(rc)), rc};
}

}  // namespace kdp
