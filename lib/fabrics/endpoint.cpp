// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "endpoint.hpp"

#include <cerrno>
#include <cstring>

#include <netdb.h>

namespace kdp::fabrics {

Result<Endpoint> Endpoint::parse(const std::string& address, std::uint16_t port)
{
    addrinfo hints{};
    addrinfo* found = nullptr;
    const std::string service = std::to_string(port);

    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    const int rc = getaddrinfo(address.c_str(), service.c_str(), &hints, &found);
    if (rc)
        return Error{
            EINVAL, "'" + address + "' is not a numeric IPv4 or IPv6 address: " + gai_strerror(rc)};
    Endpoint endpoint;
    std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
    endpoint.length = found->ai_addrlen;
    endpoint.text = found->ai_family == AF_INET6 ? "[" + address + "]" : address;
    endpoint.text += ":" + service;
    freeaddrinfo(found);
    return endpoint;
}

}  // namespace kdp::fabrics
