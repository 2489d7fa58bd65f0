// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues: creating, draining, arming. */
#include <linux/module.h>

#include "fault.h"
#include "internal.h"

static struct kdp_conn *kdp_cq_conn(struct kdp_cq *cq)
{
	return container_of(cq, struct kdp_conn, cq);
}

static void kdp_cq_event(struct ib_cq *ib, void *context)
{
	struct kdp_conn *conn = context;

	this_cpu_inc(conn->stats->v[KDP_CS_EVENTS]);
	kdp_mode_event(&conn->cq);
}

static void kdp_cq_async_event(struct ib_event *event, void *context)
{
	kdp_conn_break(context, ib_event_msg(event->event));
}

static void kdp_cq_handle(struct kdp_cq *cq, int n)
{
	struct kdp_conn *conn = kdp_cq_conn(cq);
	struct ib_wc *wc = cq->wc;

	/* until Linux 6.2 the bios of polled I/O must be put with bottom halves enabled */
	if (!cq->polled)
		local_bh_disable();
	for (int i = 0; i < n; i++) {
		if (kdp_fault(KDP_FAULT_COMPLETION))
			wc[i].status = IB_WC_GENERAL_ERR;
		wc[i].wr_cqe->done(cq->ib, &wc[i]);
	}
	if (conn->ops->handled)
		conn->ops->handled(conn);
	if (!cq->polled)
		local_bh_enable();
}

/*
 * Take what is there, up to @budget rounded up to a batch, and run the handlers. Called
 * by one context at a time. Returns how many completions there were.
 */
unsigned int kdp_cq_drain(struct kdp_cq *cq, unsigned int budget)
{
	unsigned int total = 0;
	u64 begin;
	int n;

	while (total < budget) {
		begin = kdp_provider_begin();
		n = ib_poll_cq(cq->ib, KDP_CQ_BATCH, cq->wc);
		kdp_provider_end(cq->stats, begin);
		if (n <= 0)
			break;
		kdp_cq_handle(cq, n);
		total += n;
		if (n < KDP_CQ_BATCH)
			break;
	}
	if (total) {
		this_cpu_inc(cq->stats->v[KDP_CS_POLLS_FULL]);
		this_cpu_add(cq->stats->v[KDP_CS_CQES], total);
	} else {
		this_cpu_inc(cq->stats->v[KDP_CS_POLLS_EMPTY]);
	}
	return total;
}

/* Returns 0 when armed, else there is something to poll already. */
int kdp_cq_arm(struct kdp_cq *cq)
{
	u64 begin = kdp_provider_begin();
	int missed = ib_req_notify_cq(cq->ib, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);

	kdp_provider_end(cq->stats, begin);
	return missed;
}

/* One whose interrupt comes to @cpu, if the provider tells; queues of other CPUs take others. */
static int kdp_cq_vector(struct ib_device *ib, int cpu)
{
	int nr = ib->num_comp_vectors, i;

	for (i = 0; i < nr; i++) {
		int vector = (cpu + i) % nr;
		const struct cpumask *mask = ib_get_vector_affinity(ib, vector);

		if (mask && cpumask_test_cpu(cpu, mask))
			return vector;
	}
	return cpu % nr;
}

int kdp_cq_create(struct kdp_conn *conn, u32 nr_cqe)
{
	struct ib_device *ib = conn->dev->ib;
	struct ib_cq_init_attr attr = {
		.cqe		= nr_cqe,
		.comp_vector	= kdp_cq_vector(ib, conn->params.cpu),
	};
	struct kdp_cq *cq = &conn->cq;
	struct ib_cq *ibcq;
	int err;

	cq->mode = KDP_CQ_NONE;
	cq->polled = conn->params.cq_mode == KDP_CQ_POLLED;
	cq->stats = conn->stats;
	ibcq = ib_create_cq(ib, kdp_cq_event, kdp_cq_async_event, conn, &attr);
	if (IS_ERR(ibcq))
		return PTR_ERR(ibcq);
	cq->ib = ibcq;
	err = kdp_conn_set_mode(conn, conn->params.cq_mode, conn->params.spin_us);
	if (err)
		kdp_cq_destroy(cq);
	return err;
}

/*
 * Nobody polls @cq any more. To be called before its QP goes: a completion names the
 * QP, and a QP that was refused in the handshake has flushed ones which nobody waited for.
 */
void kdp_cq_detach(struct kdp_cq *cq)
{
	if (cq->ib)
		kdp_mode_end(cq);
}

/* @cq is detached. */
void kdp_cq_destroy(struct kdp_cq *cq)
{
	if (!cq->ib)
		return;
	ib_destroy_cq(cq->ib);	/* waits for event handlers */
	cq->ib = NULL;
}
