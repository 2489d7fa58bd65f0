// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/rdma_devices.hpp>

#include <infiniband/verbs.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

namespace kdp {
namespace {

namespace fs = std::filesystem;

// What the software drivers call themselves in ibv_device_attr::vendor_id
constexpr std::uint32_t vendor_rxe = 0xffffff;
constexpr std::uint32_t vendor_siw = 0x626d74;

std::string read_line(const fs::path& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// "CA" of "1: CA"
std::string behind_colon(const std::string& line)
{
    const auto at = line.find(": ");
    return at == std::string::npos ? line : line.substr(at + 2);
}

int mtu_bytes(ibv_mtu mtu)
{
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

void ask_verbs(ibv_device* device, RdmaDevice& found)
{
    const std::unique_ptr<ibv_context, decltype(&ibv_close_device)> context(ibv_open_device(device),
                                                                            ibv_close_device);
    if (!context)
        return;
    ibv_device_attr attributes{};
    if (ibv_query_device(context.get(), &attributes) == 0) {
        if (attributes.vendor_id == vendor_rxe)
            found.driver = "rxe";
        else if (attributes.vendor_id == vendor_siw)
            found.driver = "siw";
    }
    ibv_port_attr port{};
    if (ibv_query_port(context.get(), 1, &port) == 0)
        found.mtu = mtu_bytes(port.active_mtu);
}

void ask_sysfs(RdmaDevice& found)
{
    const fs::path entry = "/sys/class/infiniband/" + found.name;
    std::error_code error;
    found.node_type = behind_colon(read_line(entry / "node_type"));
    found.link_layer = read_line(entry / "ports/1/link_layer");
    found.state = behind_colon(read_line(entry / "ports/1/state"));
    found.netdev = read_line(entry / "ports/1/gid_attrs/ndevs/0");
    if (found.netdev.empty())
        found.netdev = read_line(entry / "parent");  // rxe before it has an address
    if (!found.netdev.empty())
        std::ifstream("/sys/class/net/" + found.netdev + "/mtu") >> found.netdev_mtu;
    // A software device borrows the netdev's parent, whose driver is not its own.
    if (found.driver.empty()) {
        const fs::path driver = fs::canonical(entry / "device/driver", error);
        if (!error)
            found.driver = driver.filename();
    }
}

}  // namespace

std::vector<RdmaDevice> rdma_devices()
{
    std::vector<RdmaDevice> devices;
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    for (int i = 0; list && i < count; i++) {
        RdmaDevice found;
        found.name = ibv_get_device_name(list[i]);
        ask_verbs(list[i], found);
        ask_sysfs(found);
        devices.push_back(std::move(found));
    }
    if (list)
        ibv_free_device_list(list);
    std::sort(devices.begin(), devices.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return devices;
}

}  // namespace kdp
