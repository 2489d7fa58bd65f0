// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Who this host is to a target: its NQN and its 16-byte identifier.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kdp/export.hpp>
#include <kdp/result.hpp>

namespace kdp {

/// The Host Identifier of the specification: a UUID, in the order of its text.
using HostId = std::array<std::uint8_t, 16>;

/// Both names of a host. A target that restricts its hosts knows the NQN.
struct HostIdentity {
    std::string nqn;  ///< host NQN, 1 to 223 bytes
    HostId id{};      ///< host identifier
};

/// Where the defaults come from; other values are for tests.
struct HostIdentitySources {
    std::string hostnqn_file = "/etc/nvme/hostnqn";   ///< an NQN, on a line
    std::string hostid_file = "/etc/nvme/hostid";     ///< a UUID, on a line
    std::string machine_id_file = "/etc/machine-id";  ///< 32 hexadecimal digits
};

/// A UUID in text, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" (dashes optional), to bytes
/// in the order of the text. nullopt for anything else.
[[nodiscard]] KDP_API std::optional<HostId> parse_uuid(std::string_view text);
/// With dashes and in lower case, as parse_uuid() reads it.
[[nodiscard]] KDP_API std::string format_uuid(const HostId& id);

/// The identity of this host, the same as nvme-cli's where that has one.
///
/// NQN: @p nqn, else the file /etc/nvme/hostnqn, else one made from the machine ID.
/// Identifier: @p id, else the UUID in a given @p nqn, else the file /etc/nvme/hostid, else
/// the UUID in the NQN, else from the machine ID (hashed: the machine ID is not to be shown).
/// Both empty means the defaults. Reads files; thread safe.
/// Errors: EINVAL for an NQN of more than 223 bytes or with a NUL or an @p id that is no UUID,
/// ENOENT when there is no source left.
[[nodiscard]] KDP_API Result<HostIdentity> host_identity(const std::string& nqn = {},
                                                         const std::string& id = {},
                                                         const HostIdentitySources& sources = {});

}  // namespace kdp
