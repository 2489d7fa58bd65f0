// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "connector.hpp"

#include <cerrno>

#include "fabrics/limits.hpp"

namespace kdp::verbs {

Result<Connector> Connector::create(const PathUri& uri, const OpenOptions& options)
{
    Result<HostIdentity> host = host_identity(options.host_nqn);
    if (!host)
        return host.error();
    Result<Endpoint> endpoint = Endpoint::parse(uri.host, uri.port);
    if (!endpoint)
        return endpoint.error();
    Connector connector;
    connector.endpoint_ = std::move(*endpoint);
    connector.subsystem_ = {uri.nqn, std::move(*host), options.keep_alive_ms, true};
    connector.nsid_ = uri.nsid;
    connector.depth_ = options.depth;
    return connector;
}

Result<Controller> Connector::connect(std::span<const std::uint16_t> qids, unsigned total,
                                      Patience patience) const
{
    Result<std::unique_ptr<Queue>> queue = Queue::open(
        endpoint_, {0, fabrics::admin_entries, fabrics::admin_depth, NVMF_CNTLID_DYNAMIC},
        patience);
    if (!queue)
        return queue.error();
    Result<std::unique_ptr<Admin>> admin = Admin::open(std::move(*queue), subsystem_, patience);
    if (!admin)
        return admin.error();
    if (Status s = (*admin)->ask_for_queues(total); !s)
        return s.error();
    Result<nvmf_ns_info> ns = (*admin)->identify_namespace(nsid_);
    if (!ns)
        return ns.error();
    if (Status s = (*admin)->check_depth(depth_); !s)
        return s.error();

    Controller controller;
    controller.ns = *ns;
    controller.max_transfer = fabrics::max_transfer((*admin)->info(), *ns, NVMF_KEYED_LEN_MAX);
    controller.in_capsule_max = nvmf_inline_max(&(*admin)->info());
    if (!controller.max_transfer)
        return Error{EPROTO, "the controller at " + name() + " transfers less than a block"};
    for (const std::uint16_t qid : qids) {
        Result<std::unique_ptr<Queue>> io = open_queue(**admin, qid, patience);
        if (!io) {
            // or each would wait for its answer
            for (const std::unique_ptr<Queue>& open : controller.queues)
                open->connection().hang_up();
            return io.error();
        }
        controller.queues.push_back(std::move(*io));
    }
    (*admin)->set_patience({});
    controller.admin = std::move(*admin);
    return controller;
}

Result<std::unique_ptr<Queue>> Connector::open_queue(Admin& admin, std::uint16_t qid,
                                                     Patience patience) const
{
    Result<std::unique_ptr<Queue>> queue = Queue::open(
        endpoint_,
        {qid, fabrics::queue_entries(depth_), static_cast<std::uint16_t>(depth_), admin.cntlid()},
        patience);
    if (!queue)
        return queue.error();
    if (Status s = admin.join(**queue, qid, depth_); !s)
        return s.error();
    return queue;
}

}  // namespace kdp::verbs
