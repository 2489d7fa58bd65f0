// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "socket.hpp"

#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace kdp::tcp {

using namespace std::chrono_literals;

namespace {

constexpr auto connect_time = 10000ms;

}  // namespace

Result<UniqueFd> connect_socket(const fabrics::Endpoint& endpoint, fabrics::Patience patience)
{
    const std::string what = "cannot connect to " + endpoint.text;
    UniqueFd fd(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                       IPPROTO_TCP));
    if (!fd)
        return error_from_errno(errno, "cannot make a socket for " + endpoint.text);
    const int on = 1;
    if (setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
        return error_from_errno(errno, "cannot set TCP_NODELAY");

    const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
    if (connect(fd.get(), address, endpoint.length) < 0) {
        if (errno != EINPROGRESS)
            return error_from_errno(errno, what);
        pollfd ready{fd.get(), POLLOUT, 0};
        fabrics::Patience part = patience.for_part(connect_time);
        if (!part.sleep({&ready, 1}))
            return error_from_errno(ETIMEDOUT, what);
        int error = 0;
        socklen_t length = sizeof(error);
        if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) < 0)
            error = errno;
        if (error)
            return error_from_errno(error, what);
    }
    return fd;
}

Error lost_connection(int code, const std::string& what)
{
    Error error = error_from_errno(code, what);

    error.code = ENOTCONN;
    return error;
}

}  // namespace kdp::tcp
