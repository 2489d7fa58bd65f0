// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The TCP connection below a queue.
#pragma once

#include <kdp/result.hpp>

#include "fabrics/endpoint.hpp"
#include "fabrics/patience.hpp"
#include "unique_fd.hpp"

namespace kdp::tcp {

/// Connect to @p endpoint. The socket does not block, and sends small PDUs at once (TCP_NODELAY).
/// ECONNREFUSED nobody listens; EHOSTUNREACH, ENETUNREACH no way there; ETIMEDOUT after 10 s or
/// when @p patience ends.
[[nodiscard]] Result<UniqueFd> connect_socket(const fabrics::Endpoint& endpoint,
                                              fabrics::Patience patience);

/// The peer's and the network's ends of a connection are one error to users of a path: ENOTCONN.
/// "@p what: <strerror>".
[[nodiscard]] Error lost_connection(int code, const std::string& what);

}  // namespace kdp::tcp
