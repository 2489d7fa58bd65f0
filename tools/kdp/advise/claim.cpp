// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/claim.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kdp::tool::advise {
namespace {

/// The software provider that any of the paths may have used: of a path that names no device
/// (a driver that does not tell) it may be any of the machine's.
std::string software_provider(const document::Bench& bench)
{
    const auto used = [&](const document::RdmaDeviceSeen& device) {
        return std::any_of(bench.paths.begin(), bench.paths.end(), [&](const auto& path) {
            return path.rdma_device.empty() || path.rdma_device == device.name;
        });
    };
    for (const document::RdmaDeviceSeen& device : bench.environment.rdma)
        if (device.software && used(device))
            return device.driver == "rxe"   ? "soft-RoCE"
                   : device.driver == "siw" ? "soft-iWARP"
                                            : "an RDMA provider in software";
    return "";
}

}  // namespace

Claim claim_of(const document::Bench& bench)
{
    const std::string provider = software_provider(bench);
    const bool emulated = bench.environment.emulated;
    if (!provider.empty() || emulated) {
        const std::string where = provider.empty() ? "under emulation"
                                  : emulated       ? fmt::format("on {} under emulation", provider)
                                                   : fmt::format("on {}", provider);
        return {.here_only = true,
                .headline = fmt::format("Measured {}: this says nothing of your fabric.", where),
                .explanation =
                    "What follows ranks the paths on the machine that it was measured "
                    "on. Run kdp advise on your own hardware before you decide."};
    }
    if (bench.environment.virtual_machine)
        return {
            .here_only = false,
            .headline = "Measured in a virtual machine: on bare hardware the ranking may differ.",
            .explanation =
                "Interrupts and idle CPUs cost more here, which burdens the paths "
                "that sleep more than those that poll."};
    return {};
}

}  // namespace kdp::tool::advise
