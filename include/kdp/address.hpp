// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where a target listens: an IPv4 or IPv6 socket address, from a name and for people.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <kdp/export.hpp>
#include <kdp/result.hpp>

namespace kdp {

/// A sockaddr_in or sockaddr_in6 by value; length 0: none.
struct KDP_API SocketAddress {
    sockaddr_storage storage{};  ///< the binary address
    socklen_t length = 0;        ///< bytes of it; 0: none

    /// Copy a binary sockaddr. EINVAL unless it is a whole sockaddr_in or sockaddr_in6.
    [[nodiscard]] static Result<SocketAddress> from_bytes(std::span<const std::byte> bytes);

    /// Is there no address?
    [[nodiscard]] bool empty() const noexcept { return length == 0; }
    /// AF_INET or AF_INET6; AF_UNSPEC if empty.
    [[nodiscard]] int family() const noexcept { return storage.ss_family; }
    /// In the host's byte order; 0 if empty.
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// Numeric: "192.0.2.1", "fe80::1%eth0".
    [[nodiscard]] std::string host() const;
    /// With the port: "192.0.2.1:4420", "[fe80::1%eth0]:4420".
    [[nodiscard]] std::string to_string() const;
};

/// Resolve @p host, a name or an IPv4 or IPv6 address (with or without brackets, with
/// "%scope" for link-local ones). The first answer counts. @p family: AF_UNSPEC, AF_INET
/// or AF_INET6. May block on the name service; thread safe.
/// Errors: EINVAL for what is no name or address, EAGAIN, ENOMEM, or what the resolver got.
[[nodiscard]] KDP_API Result<SocketAddress> resolve(const std::string& host, std::uint16_t port,
                                                    int family = AF_UNSPEC);

}  // namespace kdp
