// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/host_id.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include <fmt/format.h>

#include <nvmf/fabrics.h>

#include "sha256.hpp"

namespace kdp {
namespace {

constexpr std::string_view uuid_nqn = "nqn.2014-08.org.nvmexpress:uuid:";

std::optional<std::string> first_line(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line))
        return std::nullopt;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
        line.pop_back();
    if (line.empty())
        return std::nullopt;
    return line;
}

std::optional<HostId> uuid_in_nqn(std::string_view nqn)
{
    if (!nqn.starts_with(uuid_nqn))
        return std::nullopt;
    return parse_uuid(nqn.substr(uuid_nqn.size()));
}

/// A UUID of version 8 (own scheme, RFC 9562) from the machine ID.
std::optional<HostId> uuid_of_machine(const std::string& path)
{
    const auto machine = first_line(path);
    if (!machine)
        return std::nullopt;
    const auto digest = sha256("kdp host identity:" + *machine);
    HostId id;
    std::copy_n(digest.begin(), id.size(), id.begin());
    id[6] = (id[6] & 0x0f) | 0x80;
    id[8] = (id[8] & 0x3f) | 0x80;
    return id;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

}  // namespace

std::optional<HostId> parse_uuid(std::string_view text)
{
    const bool dashes = text.size() == 36;
    if (!dashes && text.size() != 32)
        return std::nullopt;
    HostId id{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (dashes && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (text[i] != '-')
                return std::nullopt;
            continue;
        }
        const int value = hex_digit(text[i]);
        if (value < 0)
            return std::nullopt;
        id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | value);
        digits++;
    }
    return id;
}

std::string format_uuid(const HostId& id)
{
    std::string text;
    for (std::size_t i = 0; i < id.size(); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += fmt::format("{:02x}", id[i]);
    }
    return text;
}

Result<HostIdentity> host_identity(const std::string& nqn, const std::string& id,
                                   const HostIdentitySources& sources)
{
    HostIdentity identity;
    if (!nqn.empty()) {
        identity.nqn = nqn;
    } else if (const auto line = first_line(sources.hostnqn_file)) {
        identity.nqn = *line;
    } else if (const auto uuid = uuid_of_machine(sources.machine_id_file)) {
        identity.nqn = std::string(uuid_nqn) + format_uuid(*uuid);
    } else {
        return Error{ENOENT, fmt::format("this host has no NQN: neither {} nor {} can be read; "
                                         "give one",
                                         sources.hostnqn_file, sources.machine_id_file)};
    }
    if (identity.nqn.size() > NVMF_NQN_SIZE)
        return Error{EINVAL, fmt::format("the host NQN has {} bytes; {} are allowed",
                                         identity.nqn.size(), NVMF_NQN_SIZE)};
    if (identity.nqn.find('\0') != std::string::npos)
        return Error{EINVAL, "the host NQN contains a NUL byte"};

    std::optional<HostId> found;
    if (!id.empty()) {
        found = parse_uuid(id);
        if (!found)
            return Error{EINVAL, fmt::format("the host identifier \"{}\" is no UUID", id)};
    }
    if (!found && !nqn.empty())
        found = uuid_in_nqn(nqn);
    if (!found) {
        if (const auto line = first_line(sources.hostid_file)) {
            found = parse_uuid(*line);
            if (!found)
                return Error{EINVAL, fmt::format("{} holds no UUID", sources.hostid_file)};
        }
    }
    if (!found)
        found = uuid_in_nqn(identity.nqn);
    if (!found)
        found = uuid_of_machine(sources.machine_id_file);
    if (!found)
        return Error{ENOENT, fmt::format("this host has no identifier: neither {} nor {} can be "
                                         "read; give one",
                                         sources.hostid_file, sources.machine_id_file)};
    identity.id = *found;
    return identity;
}

}  // namespace kdp
