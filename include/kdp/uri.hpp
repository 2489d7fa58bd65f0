// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The name of a data path.
///
///     kernel:/dev/kdpg0n1                          ?mode=ioctl
///     block:/dev/kdp0n1                            a block device or a regular file
///     block:/dev/kdp0n1?mode=uring-poll            polled by whoever waits; or mode=uring
///     verbs://192.0.2.1:4420/nqn.2024-01.org.example:disk?nsid=1
///     verbs://[fe80::1%25eth0]/nqn.2024-01.org.example:disk
///
/// %XX stands for a byte anywhere behind the scheme: %25 for '%', %3F for '?'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kdp/result.hpp>

namespace kdp {

enum class Scheme : std::uint8_t { kernel, block, verbs };

[[nodiscard]] std::string_view scheme_name(Scheme scheme) noexcept;

struct PathUri {
    Scheme scheme = Scheme::kernel;
    std::string device;         ///< kernel, block: the node or file
    std::string host;           ///< verbs: name or address, without brackets
    std::uint16_t port = 4420;  ///< verbs
    std::string nqn;            ///< verbs: subsystem, 1 to 223 bytes
    std::uint32_t nsid = 1;     ///< verbs
    bool polled = false;        ///< block: mode=uring-poll
};

/// EINVAL with a sentence that quotes what is wrong: an unknown scheme or parameter, an empty
/// part, a port or namespace identifier out of range, a broken %XX, a NUL byte.
[[nodiscard]] Result<PathUri> parse_uri(std::string_view uri);

}  // namespace kdp
