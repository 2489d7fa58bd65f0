// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// From an address and a name to a controller with its I/O queues: the first time and, after
/// it was lost, again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

#include "fabrics/admin.hpp"
#include "queue.hpp"

namespace kdp::verbs {

using fabrics::Admin;

/// A controller that is ready for I/O.
struct Controller {
    std::unique_ptr<Admin> admin;
    nvmf_ns_info ns{};
    std::uint32_t max_transfer = 0;    ///< bytes in one I/O at most
    std::uint32_t in_capsule_max = 0;  ///< bytes of data in a capsule at most
    std::vector<std::unique_ptr<Queue>> queues;
};

class Connector {
public:
    /// EINVAL: no such address; the host's identity is host_identity()'s.
    static Result<Connector> create(const PathUri& uri, const OpenOptions& options);

    /// Connect the admin queue and the I/O queues @p qids of the @p total that the controller
    /// is asked for. All or none.
    [[nodiscard]] Result<Controller> connect(std::span<const std::uint16_t> qids, unsigned total,
                                             Patience patience) const;

    /// "192.0.2.1:4420/nqn…"
    [[nodiscard]] std::string name() const { return endpoint_.text + "/" + subsystem_.nqn; }
    [[nodiscard]] std::uint32_t nsid() const noexcept { return nsid_; }
    [[nodiscard]] unsigned depth() const noexcept { return depth_; }

private:
    Connector() = default;
    Result<std::unique_ptr<Queue>> open_queue(Admin& admin, std::uint16_t qid,
                                              Patience patience) const;

    fabrics::Endpoint endpoint_;
    fabrics::Subsystem subsystem_;
    std::uint32_t nsid_ = 0;
    unsigned depth_ = 0;
};

}  // namespace kdp::verbs
