// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/modules.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

namespace kdp::tool::profile {
namespace {

using Names = std::vector<std::string>;

/// Of each module, who uses it: "ib_uverbs 204800 2 rdma_rxe,rdma_ucm, Live 0x…".
std::map<std::string, Names, std::less<>> users_of(std::string_view proc_modules)
{
    std::map<std::string, Names, std::less<>> users;
    std::istringstream lines{std::string(proc_modules)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, size, references, list;
        if (!(words >> name >> size >> references >> list))
            continue;
        Names& of = users[name];
        std::istringstream names(list);
        for (std::string user; std::getline(names, user, ',');)
            if (!user.empty() && user != "-" && user.front() != '[')  // [permanent]
                of.push_back(user);
    }
    return users;
}

bool is_stack(std::string_view module)
{
    return module.starts_with("ib_") || module.starts_with("rdma_cm") ||
           module.starts_with("rdma_ucm") || module.starts_with("iw_cm");
}

Roles::Modules providers(const std::map<std::string, Names, std::less<>>& users)
{
    Roles::Modules found;
    if (const auto uverbs = users.find("ib_uverbs"); uverbs != users.end())
        for (const std::string& user : uverbs->second)
            if (!is_stack(user))
                found.insert(user);
    Roles::Modules parts;
    for (const auto& [module, of] : users)
        if (!is_stack(module) && std::any_of(of.begin(), of.end(), [&](const auto& user) {
                return found.contains(user);
            }))
            parts.insert(module);
    found.merge(parts);
    return found;
}

bool is_target(std::string_view module)
{
    return module.starts_with("nvmet") || module == "null_blk" || module == "kdp_target" ||
           module == "rnbd_server" || module == "rtrs_server";
}

/// What hosts and targets share (nvme_auth, nvme_keyring, nvme_common) works for who called it.
bool is_path(std::string_view module)
{
    return module == "kdp_core" || module == "kdp_host" || module == "nvme" ||
           module == "nvme_core" || module == "nvme_fabrics" || module == "nvme_rdma" ||
           module == "nvme_tcp" || module == "rnbd_client" || module == "rtrs_client";
}

}  // namespace

Roles roles_of(std::string_view proc_modules, Transport transport, bool software)
{
    const auto users = users_of(proc_modules);
    Roles roles;
    for (const auto& [module, of] : users) {
        if (is_path(module))
            roles.path.insert(module);
        if (is_target(module) && transport != Transport::none)
            roles.target.insert(module);
    }
    if (transport == Transport::rdma) {
        roles.provider = providers(users);
        roles.local_target = users.contains("nvmet_rdma");
        if (software)
            roles.network = Roles::Network::provider;
    }
    if (transport == Transport::tcp) {
        roles.local_target = users.contains("nvmet_tcp");
        roles.network = Roles::Network::path;
    }
    // Without one, a null_blk under test is the path's own disk.
    if (transport == Transport::none && users.contains("null_blk"))
        roles.path.insert("null_blk");
    return roles;
}

}  // namespace kdp::tool::profile
