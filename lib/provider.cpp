// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "provider.hpp"

#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <kdp/control.hpp>

namespace kdp {
namespace {

namespace fs = std::filesystem;

std::string read_line(const fs::path& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// An NVMe controller of the in-tree driver below @p device: itself, or, with native
/// multipath, the first one of its subsystem.
fs::path nvme_controller(const fs::path& device)
{
    std::error_code error;
    if (fs::exists(device / "transport", error))
        return device;
    for (const auto& entry : fs::directory_iterator(device, error))
        if (fs::exists(entry.path() / "transport", error))
            return entry.path();
    return {};
}

DeviceOrigin origin_of_nvme(const std::string& disk)
{
    std::error_code error;
    const fs::path device = fs::canonical("/sys/block/" + disk + "/device", error);
    if (error)
        return {};
    const fs::path controller = nvme_controller(device);
    if (controller.empty())
        return {};
    return {"",
            fmt::format("{} {} {}", read_line(controller / "transport"),
                        read_line(controller / "address"), read_line(controller / "subsysnqn"))};
}

DeviceOrigin origin_of_kdp(const std::string& disk)
{
    const auto controllers = control::list();
    if (!controllers)
        return {};
    for (const auto& c : controllers.value())
        for (const auto& ns : c.namespaces)
            if (ns.disk == disk)
                return {c.rdma_device,
                        fmt::format("rdma {} {}", c.traddr.to_string(), c.subsystem_nqn)};
    return {};
}

}  // namespace

std::string disk_name(dev_t device)
{
    std::error_code error;
    fs::path path =
        fs::canonical(fmt::format("/sys/dev/block/{}:{}", major(device), minor(device)), error);
    if (error)
        return "";
    if (fs::exists(path / "partition", error))
        path = path.parent_path();
    return path.filename();
}

std::string disk_of_char_device(std::string_view name)
{
    if (name.starts_with("kdpg"))
        return fmt::format("kdp{}", name.substr(4));
    if (name.starts_with("ng"))
        return fmt::format("nvme{}", name.substr(2));
    return "";
}

DeviceOrigin origin_of_disk(const std::string& name)
{
    if (name.starts_with("kdp"))
        return origin_of_kdp(name);
    if (name.starts_with("nvme"))
        return origin_of_nvme(name);
    return {};
}

std::uint64_t queue_limit(const std::string& disk, const std::string& limit,
                          std::uint64_t otherwise)
{
    std::ifstream file("/sys/block/" + disk + "/queue/" + limit);
    std::uint64_t value = 0;
    return file >> value ? value : otherwise;
}

}  // namespace kdp
