/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults on demand: places where the n-th passage fails as a provider, a device or
 * a peer may fail. For tests; off unless armed by root, and then a static branch
 * keeps the cost at a no-op.
 *
 * /sys/kernel/debug/kdp/fault/NAME, one file a point:
 *   write N > 0   the N-th passage from now on fails, once
 *   write 0       no passage fails any more
 *   read          passages since the last write, and how many are left to go: "7 0"
 */
#ifndef KDP_FAULT_H
#define KDP_FAULT_H

#include <linux/jump_label.h>

enum kdp_fault_point {
	KDP_FAULT_POST_SEND,		/* ib_post_send() refuses the chain */
	KDP_FAULT_POST_RECV,		/* ib_post_recv() refuses the chain */
	KDP_FAULT_MR_ALLOC,		/* the device has no MR left */
	KDP_FAULT_MR_MAP,		/* the segments do not fit the MR */
	KDP_FAULT_DMA_MAP,		/* no DMA mapping to be had */
	KDP_FAULT_CM_ADDR,		/* RDMA_CM_EVENT_ADDR_ERROR */
	KDP_FAULT_CM_ROUTE,		/* RDMA_CM_EVENT_ROUTE_ERROR */
	KDP_FAULT_CM_CONNECT,		/* RDMA_CM_EVENT_CONNECT_ERROR */
	KDP_FAULT_COMPLETION,		/* a completion with an error status */
	KDP_FAULT_NR
};

DECLARE_STATIC_KEY_FALSE(kdp_fault_armed);

bool kdp_fault_passage(enum kdp_fault_point point);

/* Does this passage of @point fail? Any context. */
static inline bool kdp_fault(enum kdp_fault_point point)
{
	return static_branch_unlikely(&kdp_fault_armed) && kdp_fault_passage(point);
}

#endif /* KDP_FAULT_H */
