// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/address.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace kdp {

Result<SocketAddress> SocketAddress::from_bytes(std::span<const std::byte> bytes)
{
    sa_family_t family = AF_UNSPEC;
    if (bytes.size() >= sizeof(family))
        std::memcpy(&family, bytes.data(), sizeof(family));
    const std::size_t want = family == AF_INET    ? sizeof(sockaddr_in)
                             : family == AF_INET6 ? sizeof(sockaddr_in6)
                                                  : 0;
    if (want == 0 || bytes.size() < want)
        return Error{EINVAL, fmt::format("an address of family {} and {} bytes is neither IPv4 "
                                         "nor IPv6",
                                         family, bytes.size())};
    SocketAddress address;
    std::memcpy(&address.storage, bytes.data(), want);
    address.length = static_cast<socklen_t>(want);
    return address;
}

std::uint16_t SocketAddress::port() const noexcept
{
    if (family() == AF_INET)
        return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
    if (family() == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
    return 0;
}

std::string SocketAddress::host() const
{
    if (empty())
        return "";
    char text[NI_MAXHOST];
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&storage), length, text, sizeof(text),
                    nullptr, 0, NI_NUMERICHOST) != 0)
        return "?";
    return text;
}

std::string SocketAddress::to_string() const
{
    if (family() == AF_INET6)
        return fmt::format("[{}]:{}", host(), port());
    return fmt::format("{}:{}", host(), port());
}

namespace {

int errno_of_resolver(int code)
{
    switch (code) {
        case EAI_SYSTEM:
            return errno;
        case EAI_AGAIN:
            return EAGAIN;
        case EAI_MEMORY:
            return ENOMEM;
        default:
            return EINVAL;
    }
}

}  // namespace

Result<SocketAddress> resolve(const std::string& host, std::uint16_t port, int family)
{
    std::string name = host;
    if (name.size() >= 2 && name.front() == '[' && name.back() == ']')
        name = name.substr(1, name.size() - 2);
    if (name.empty())
        return Error{EINVAL, "the address is empty"};

    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int rc = getaddrinfo(name.c_str(), nullptr, &hints, &list);
    if (rc != 0) {
        const int code = errno_of_resolver(rc);
        return Error{code, fmt::format("cannot resolve \"{}\": {}", name, gai_strerror(rc))};
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);

    SocketAddress address;
    std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
    address.length = list->ai_addrlen;
    if (address.family() == AF_INET)
        reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = htons(port);
    else
        reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = htons(port);
    return address;
}

}  // namespace kdp
