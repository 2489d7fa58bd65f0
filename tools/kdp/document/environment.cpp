// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/environment.hpp"

#include <fmt/format.h>

namespace kdp::tool::document {
namespace {

RdmaDeviceSeen read_device(const Members& members)
{
    const auto mtu_or_null = [&](std::string_view key) {
        return members.number_or_null(key) ? members.count(key) : 0;
    };
    return {.name = members.text("name"),
            .driver = members.text_or_null("driver"),
            .software = members.boolean("software"),
            .link_layer = members.text("link_layer"),
            .state = members.text("state"),
            .mtu = mtu_or_null("mtu"),
            .netdev = members.text_or_null("netdev"),
            .netdev_mtu = mtu_or_null("netdev_mtu")};
}

std::string device_line(const RdmaDeviceSeen& device)
{
    std::string kind = device.driver.empty() ? "driver not known" : device.driver;
    if (device.driver == "rxe")
        kind = "soft-RoCE, rxe";
    else if (device.driver == "siw")
        kind = "soft-iWARP, siw";
    else if (device.software)
        kind += ", in software";
    std::string line =
        fmt::format("{} ({}, {}, {}", device.name, kind, device.link_layer, device.state);
    if (device.mtu != 0)
        line += fmt::format(", MTU {}", device.mtu);
    line += ")";
    if (!device.netdev.empty())
        line += fmt::format(" on {}", device.netdev);
    if (!device.netdev.empty() && device.netdev_mtu != 0)
        line += fmt::format(", MTU {}", device.netdev_mtu);
    return line;
}

}  // namespace

Environment read_environment(const Members& members)
{
    Environment env{.kernel = members.text("kernel"),
                    .cpu_model = members.text_or_null("cpu_model"),
                    .cpus = members.count("cpus"),
                    .virtual_machine = members.boolean("virtual_machine"),
                    .emulated = members.boolean("emulated"),
                    .machine = members.text_or_null("machine"),
                    .mitigations_off = members.boolean("mitigations_off"),
                    .clock_source = members.text_or_null("clock_source"),
                    .rdma = {},
                    .distortions = members.texts("distortions")};
    for (const Members& device : members.objects("rdma_devices"))
        env.rdma.push_back(read_device(device));
    return env;
}

std::vector<Fact> facts(const Environment& env)
{
    std::vector<Fact> all = {
        {"kernel", env.kernel},
        {"cpu",
         fmt::format("{}, {} online{}", env.cpu_model.empty() ? "model not known" : env.cpu_model,
                     env.cpus, env.mitigations_off ? ", mitigations off" : "")}};
    const char* kind = env.emulated ? "emulated" : env.virtual_machine ? "virtual" : "";
    if (*kind || !env.machine.empty())
        all.push_back({"machine", *kind == '\0' ? env.machine
                                  : env.machine.empty()
                                      ? kind
                                      : fmt::format("{}: {}", kind, env.machine)});
    if (!env.clock_source.empty())
        all.push_back({"clock", env.clock_source});
    for (const RdmaDeviceSeen& device : env.rdma)
        all.push_back({"rdma", device_line(device)});
    if (env.rdma.empty())
        all.push_back({"rdma", "no RDMA device"});
    return all;
}

}  // namespace kdp::tool::document
