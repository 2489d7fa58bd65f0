// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Owners, move-only, of everything that librdmacm and libibverbs hand out.
///
/// Members of a class are destroyed last to first: declare them in the order in
/// which they depend on each other (channel, id, PD, CQ, QP, MR).
#pragma once

#include <memory>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

namespace kdp::verbs {

/// Deleter that calls a C function.
template <auto Function>
struct Call {
    template <typename T>
    void operator()(T* object) const noexcept
    {
        Function(object);
    }
};

using EventChannel = std::unique_ptr<rdma_event_channel, Call<rdma_destroy_event_channel>>;
using CmId = std::unique_ptr<rdma_cm_id, Call<rdma_destroy_id>>;
using Pd = std::unique_ptr<ibv_pd, Call<ibv_dealloc_pd>>;
using CompChannel = std::unique_ptr<ibv_comp_channel, Call<ibv_destroy_comp_channel>>;
using Cq = std::unique_ptr<ibv_cq, Call<ibv_destroy_cq>>;
using Mr = std::unique_ptr<ibv_mr, Call<ibv_dereg_mr>>;
/// The QP of the id that it points to; once it is gone, the HCA touches no memory
/// on its behalf any more.
using QpOfId = std::unique_ptr<rdma_cm_id, Call<rdma_destroy_qp>>;

}  // namespace kdp::verbs
