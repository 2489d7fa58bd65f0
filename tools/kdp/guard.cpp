// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "guard.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "unique_fd.hpp"

namespace kdp::tool {
namespace {

namespace fs = std::filesystem;

/// A partition table on the disk, whether the kernel has read it or not.
bool has_partition_table(int fd)
{
    std::array<unsigned char, 4096 + 8> data{};
    if (pread(fd, data.data(), data.size(), 0) < 512)
        return false;
    for (const std::size_t sector : {512, 4096})
        if (std::memcmp(data.data() + sector, "EFI PART", 8) == 0)
            return true;
    if (data[510] != 0x55 || data[511] != 0xaa)
        return false;
    for (std::size_t entry = 446; entry < 510; entry += 16)
        if (data[entry + 4] != 0)  // the partition's type
            return true;
    return false;
}

/// Partitions that the kernel has made devices of.
std::string first_partition(dev_t number)
{
    std::error_code error;
    const fs::path entry = fmt::format("/sys/dev/block/{}:{}", major(number), minor(number));
    for (const auto& child : fs::directory_iterator(entry, error))
        if (fs::exists(child.path() / "partition", error))
            return child.path().filename();
    return "";
}

/// A block device exclusively, for a moment: fails for whatever holds it or a part of it.
Status check_free(const std::string& device, const struct stat& st)
{
    const bool block = S_ISBLK(st.st_mode);
    const UniqueFd fd(open(device.c_str(), O_RDONLY | O_CLOEXEC | (block ? O_EXCL : 0)));
    if (fd || errno != EBUSY)
        return ok();
    return Error{EBUSY, fmt::format("{} is in use (mounted, swap, or part of another device); "
                                    "not writing to it",
                                    device)};
}

Status check_partitions(const std::string& device, const struct stat& st)
{
    const UniqueFd fd(open(device.c_str(), O_RDONLY | O_CLOEXEC));
    const std::string partition = S_ISBLK(st.st_mode) ? first_partition(st.st_rdev) : "";
    if (!partition.empty() || (fd && has_partition_table(fd.get())))
        return Error{EBUSY, fmt::format("{} has partitions{}; not writing to it", device,
                                        partition.empty() ? "" : ", for example " + partition)};
    return ok();
}

/// The block device of the same namespace: /dev/kdp0n1 beside /dev/kdpg0n1.
std::string block_device_beside(const std::string& char_device)
{
    const fs::path path(char_device);
    const std::string name = path.filename();
    std::string disk;
    if (name.starts_with("kdpg"))
        disk = "kdp" + name.substr(4);
    else if (name.starts_with("ng"))
        disk = "nvme" + name.substr(2);
    else
        return "";
    return path.parent_path() / disk;
}

/// What writing to @p uri would overwrite; false where there is nothing to look at: opening it will
/// say what is wrong.
bool find_device(const PathUri& uri, std::string& device, struct stat& st)
{
    if (uri.device.empty())  // verbs:, tcp:
        return false;
    device = uri.scheme == Scheme::kernel ? block_device_beside(uri.device) : uri.device;
    return !device.empty() && stat(device.c_str(), &st) == 0 &&
           (S_ISBLK(st.st_mode) || S_ISREG(st.st_mode));
}

}  // namespace

Status check_unused(const PathUri& uri)
{
    std::string device;
    struct stat st;
    return find_device(uri, device, st) ? check_free(device, st) : ok();
}

Status check_writable(const PathUri& uri)
{
    std::string device;
    struct stat st;
    if (!find_device(uri, device, st))
        return ok();
    if (const Status unused = check_free(device, st); !unused)
        return unused.error();
    return check_partitions(device, st);
}

}  // namespace kdp::tool
