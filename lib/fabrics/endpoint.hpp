// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where a controller listens.
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

#include <kdp/result.hpp>

namespace kdp::fabrics {

struct Endpoint {
    sockaddr_storage address{};
    socklen_t length = 0;  ///< bytes of it that are used
    std::string text;      ///< "192.0.2.1:4420" or "[fe80::1%eth0]:4420"

    /// @p address is a numeric IPv4 or IPv6 address; a link-local one needs its
    /// %interface. EINVAL for anything else.
    static Result<Endpoint> parse(const std::string& address, std::uint16_t port);
};

}  // namespace kdp::fabrics
