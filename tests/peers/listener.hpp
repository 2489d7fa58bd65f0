// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The connection manager's side: requests, accepts, rejects, ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rdma/rdma_cma.h>

#include "connection.hpp"
#include "handler.hpp"

namespace kdp::peer {

class Listener {
public:
    Listener(Loop& loop, Journal& journal, Rules& rules, Handler& handler, const Config& config);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Throws std::runtime_error. Port 0: any; the journal says which.
    void listen(const std::string& address, const std::string& port);

private:
    struct Request {
        rdma_cm_id* id;
        std::vector<std::byte> data;
        rdma_conn_param param;
    };

    void on_events();
    void on_request(const Request& request);
    void accept(const Request& request, std::uint16_t qid, const std::vector<Action>& actions);
    void reject(rdma_cm_id* id, const Action& action);
    void refuse(rdma_cm_id* id, std::uint16_t status);
    void forget(rdma_cm_id* id);

    Loop& loop_;
    Journal& journal_;
    Rules& rules_;
    Handler& handler_;
    const Config& config_;
    rdma_event_channel* channel_;
    rdma_cm_id* id_ = nullptr;
    std::map<rdma_cm_id*, ConnectionPtr> connections_;
    std::vector<rdma_cm_id*> ignored_;
};

}  // namespace kdp::peer
