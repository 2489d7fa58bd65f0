/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests: an RDMA device that is nothing but its ops. ib_core's own functions run
 * on it (ib_alloc_pd, ib_alloc_mr, ib_create_cq, ...), but it is not registered:
 * nobody else sees it. What it is asked is counted, and what it answers is told by
 * the test.
 */
#ifndef KDP_FAKE_IB_H
#define KDP_FAKE_IB_H

#include <rdma/ib_verbs.h>

#include "kdp_core.h"

#define KDP_FAKE_POSTS	64

/* A work request that was posted, as it was then. */
struct kdp_fake_post {
	enum ib_wr_opcode	opcode;
	int			send_flags;
	struct ib_cqe		*cqe;
	u32			key;		/* REG_MR, LOCAL_INV */
	int			access;		/* REG_MR */
	int			num_sge;
	u64			addr;		/* of the first SGE */
};

struct kdp_fake_ib {
	struct ib_device	ib;

	unsigned int		mrs;		/* that live */
	unsigned int		mr_allocs;
	unsigned int		mr_fails_at;	/* the n-th ->alloc_mr fails; 0: none */
	int			mr_error;	/* with this errno */
	int			map_error;	/* what ->map_mr_sg returns, if not 0 */

	struct kdp_fake_post	posts[KDP_FAKE_POSTS];
	unsigned int		nr_posts;
	unsigned int		doorbells;	/* of both queues */
	int			send_error;	/* what posting returns, if not 0 */
	int			recv_error;
	unsigned int		recvs;
};

struct kdp_fake_mr {
	struct ib_mr		ib;
	u32			max_pages;
	u32			nr_pages;
	u64			pages[] __counted_by(max_pages);
};

/* Where the driver of a fake CQ is when it calls ->at. */
enum kdp_fake_at {
	KDP_FAKE_POLL_BEGIN,
	KDP_FAKE_POLL_END,
	KDP_FAKE_ARM_BEGIN,
	KDP_FAKE_ARM_END,
};

#define KDP_FAKE_CQES	256

struct kdp_fake_cq {
	struct ib_cq		ib;
	spinlock_t		lock;		/* head, tail, armed, owed */
	unsigned int		head;
	unsigned int		tail;
	struct ib_wc		wc[KDP_FAKE_CQES];
	bool			armed;
	unsigned int		owed;		/* events that were raised but not delivered yet */
	unsigned int		polls;
	unsigned int		arms;
	int			poll_error;	/* what polling returns, if not 0 */
	int			arm_result;	/* what arming returns, if not 0 */
	void			(*at)(struct kdp_fake_cq *cq, enum kdp_fake_at at);
};

static inline struct kdp_fake_cq *to_kdp_fake_cq(struct ib_cq *ib)
{
	return container_of(ib, struct kdp_fake_cq, ib);
}

static inline struct kdp_fake_mr *to_kdp_fake_mr(struct ib_mr *ib)
{
	return container_of(ib, struct kdp_fake_mr, ib);
}

/* Fill @dev: a fake device with a PD. Returns NULL without memory. */
struct kdp_fake_ib *kdp_fake_create(struct kdp_device *dev);
void kdp_fake_destroy(struct kdp_device *dev);

/*
 * A work request completes on @cq. If the CQ is armed that raises an event: it is
 * delivered at once, or (@late) by kdp_fake_deliver(). Any context.
 */
void kdp_fake_complete(struct kdp_fake_cq *cq, struct ib_cqe *cqe, bool late);
void kdp_fake_deliver(struct kdp_fake_cq *cq);

/* Completions that nobody has polled yet. */
unsigned int kdp_fake_backlog(struct kdp_fake_cq *cq);

#endif /* KDP_FAKE_IB_H */
