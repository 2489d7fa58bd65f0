// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs: creating, posting with counts, draining. */
#include <linux/module.h>

#include "fault.h"
#include "internal.h"

static void kdp_qp_event(struct ib_event *event, void *context)
{
	struct kdp_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* a message overtook the CM's last handshake packet */
		rdma_notify(conn->cm_id, IB_EVENT_COMM_EST);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		kdp_conn_break(conn, ib_event_msg(event->event));
		break;
	default:
		break;
	}
}

int kdp_conn_create_qp(struct kdp_conn *conn, const struct ib_qp_cap *cap, u32 nr_cqe)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= kdp_qp_event,
		.qp_context	= conn,
		.cap		= *cap,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int err;

	err = kdp_cq_create(conn, nr_cqe);
	if (err)
		return err;
	attr.send_cq = conn->cq.ib;
	attr.recv_cq = conn->cq.ib;
	err = rdma_create_qp(conn->cm_id, conn->dev->pd, &attr);
	if (err) {
		kdp_cq_detach(&conn->cq);
		kdp_cq_destroy(&conn->cq);
		return err;
	}
	conn->qp = conn->cm_id->qp;
	return 0;
}
EXPORT_SYMBOL_GPL(kdp_conn_create_qp);

/* The cm_id is gone already, so that no CM callback meets a QP that is going. */
void kdp_qp_destroy(struct kdp_conn *conn)
{
	if (!conn->qp)
		return;
	ib_destroy_qp(conn->qp);
	conn->qp = NULL;
}

int kdp_conn_post_send(struct kdp_conn *conn, const struct ib_send_wr *chain)
{
	const struct ib_send_wr *wr;
	u64 begin;
	int err;

	this_cpu_inc(conn->stats->v[KDP_CS_SEND_DOORBELLS]);
	for (wr = chain; wr; wr = wr->next) {
		switch (wr->opcode) {
		case IB_WR_REG_MR:
			this_cpu_inc(conn->stats->v[KDP_CS_WR_REG]);
			break;
		case IB_WR_LOCAL_INV:
			this_cpu_inc(conn->stats->v[KDP_CS_WR_LOCAL_INV]);
			break;
		default:
			this_cpu_inc(conn->stats->v[KDP_CS_WR_SEND]);
			break;
		}
	}
	if (kdp_fault(KDP_FAULT_POST_SEND))
		return -ENOMEM;
	begin = kdp_provider_begin();
	err = ib_post_send(conn->qp, chain, NULL);
	kdp_provider_end(conn->stats, begin);
	return err;
}
EXPORT_SYMBOL_GPL(kdp_conn_post_send);

int kdp_conn_post_recv(struct kdp_conn *conn, const struct ib_recv_wr *chain)
{
	const struct ib_recv_wr *wr;
	u64 begin;
	int err;

	this_cpu_inc(conn->stats->v[KDP_CS_RECV_DOORBELLS]);
	for (wr = chain; wr; wr = wr->next)
		this_cpu_inc(conn->stats->v[KDP_CS_WR_RECV]);
	if (kdp_fault(KDP_FAULT_POST_RECV))
		return -ENOMEM;
	begin = kdp_provider_begin();
	err = ib_post_recv(conn->qp, chain, NULL);
	kdp_provider_end(conn->stats, begin);
	return err;
}
EXPORT_SYMBOL_GPL(kdp_conn_post_recv);
