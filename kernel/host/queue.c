// SPDX-License-Identifier: GPL-2.0-only
/* A queue: its connection, command slots, capsules and receive buffers. */
#include <linux/slab.h>

#include "../core/dma.h"
#include "host.h"

/* What draining a queue posts on each of its sides. */
#define KDP_DRAIN_WRS	1

static void kdp_queue_broken(struct kdp_conn *conn, const char *why)
{
	struct kdp_queue *queue = container_of(conn, struct kdp_queue, conn);

	kdp_ctrl_fail(queue->ctrl, why);
}

/* The receives first: a request's end may let the next command out. */
static void kdp_queue_handled(struct kdp_conn *conn)
{
	struct kdp_queue *queue = container_of(conn, struct kdp_queue, conn);

	kdp_receive_repost(queue);
	kdp_requests_end(queue);
}

static unsigned int kdp_queue_awaited(const struct kdp_conn *conn)
{
	const struct kdp_queue *queue = container_of(conn, struct kdp_queue, conn);
	int n = READ_ONCE(queue->send_posted) - READ_ONCE(queue->responded) -
		READ_ONCE(queue->parked);

	return max(n, 0);	/* one that is just being parked, or just ended */
}

/* A controller that goes, or was given up, does not wait for the steps of a handshake. */
static bool kdp_queue_wanted(const struct kdp_conn *conn)
{
	const struct kdp_queue *queue = container_of(conn, struct kdp_queue, conn);

	return kdp_ctrl_state(queue->ctrl) == KDP_STATE_CONNECTING;
}

static const struct kdp_conn_ops kdp_conn_ops = {
	.broken		= kdp_queue_broken,
	.wanted		= kdp_queue_wanted,
	.handled	= kdp_queue_handled,
	.awaited	= kdp_queue_awaited,
};

static int kdp_queue_alloc(struct kdp_queue *queue)
{
	struct kdp_device *dev = queue->conn.dev;
	struct kdp_mr_pool *mrs;
	int err;

	queue->stats = alloc_percpu(struct kdp_queue_stats);
	queue->inflight = kcalloc(queue->depth, sizeof(*queue->inflight), GFP_KERNEL);
	if (!queue->stats || !queue->inflight)
		return -ENOMEM;
	err = kdp_send_alloc(queue);
	if (!err)
		err = kdp_receive_alloc(queue);
	if (err)
		return err;
	mrs = kdp_mr_pool_create(dev, queue->depth, kdp_mr_pages(dev, KDP_MR_PAGES));
	if (IS_ERR(mrs))
		return PTR_ERR(mrs);
	queue->mrs = mrs;
	return 0;
}

/* The QP is gone: nothing reaches these buffers any more. */
static void kdp_queue_free(struct kdp_queue *queue)
{
	if (queue->mrs)
		kdp_mr_pool_destroy(queue->mrs);
	kdp_receive_free(queue);
	kdp_send_free(queue);
	kfree(queue->inflight);
	free_percpu(queue->stats);
}

static unsigned int kdp_queue_send_wrs(const struct kdp_queue *queue)
{
	return kdp_send_wrs(queue->depth) + (queue->qid ? 0 : KDP_REGION_WRS);
}

static int kdp_queue_create_qp(struct kdp_queue *queue)
{
	const struct ib_device_attr *attrs = &queue->conn.dev->ib->attrs;
	struct ib_qp_cap cap = {};

	queue->inline_segments = min_t(unsigned int, KDP_INLINE_SEGMENTS,
				       attrs->max_send_sge - 1);
	cap.max_send_wr = kdp_queue_send_wrs(queue) + KDP_DRAIN_WRS;
	cap.max_recv_wr = kdp_receive_wrs(queue->depth) + KDP_DRAIN_WRS;
	cap.max_send_sge = 1 + queue->inline_segments;
	cap.max_recv_sge = 1;
	/* in an error every work request completes, signalled or not */
	return kdp_conn_create_qp(&queue->conn, &cap, cap.max_send_wr + cap.max_recv_wr);
}

/* The target refused at the CM: what its private data says. */
static int kdp_queue_rejected(struct kdp_queue *queue)
{
	struct kdp_ctrl *ctrl = queue->ctrl;
	int status = nvmf_rdma_rej_parse(queue->conn.private, queue->conn.private_len);

	dev_info(&ctrl->dev, "queue %u: connection rejected: %s (%s)\n", queue->qid,
		 nvmf_rdma_rej_text(status), queue->conn.step_text);
	switch (status) {
	case NVMF_RDMA_REJ_NO_RESOURCES:
		return kdp_ctrl_error(ctrl, -EBUSY, "the target is out of resources");
	case 0:
		return kdp_ctrl_error(ctrl, -ECONNREFUSED, queue->conn.step_text);
	default:
		return kdp_ctrl_error(ctrl, -EPROTO, nvmf_rdma_rej_text(status));
	}
}

static int kdp_queue_handshake(struct kdp_queue *queue)
{
	struct kdp_ctrl *ctrl = queue->ctrl;
	struct nvmf_rdma_cm_req req;
	int err;

	nvmf_rdma_req_fill(&req, queue->qid, queue->depth + 1, ctrl->cntlid);
	err = kdp_conn_connect(&queue->conn, &req, sizeof(req));
	if (err == -ECONNREJECTED)
		return kdp_queue_rejected(queue);
	if (err)
		return kdp_ctrl_error(ctrl, err, queue->conn.step_text);

	err = nvmf_rdma_rep_parse(queue->conn.private, queue->conn.private_len);
	if (err < 0)
		return kdp_ctrl_error(ctrl, err, "the target's accept has bad private data");
	/* no more in flight than the target has receives for */
	queue->depth = min_t(u16, queue->depth, err);
	return 0;
}

/*
 * Bring up the connection of queue @qid with room for @entries - 1 commands in
 * flight, fewer if the device or the target wants fewer (queue->depth). May sleep.
 * Returns 0 or a negative errno; the reason stands in ctrl->error_text. On failure
 * the queue is closed. It was closed before.
 */
int kdp_queue_open(struct kdp_ctrl *ctrl, u16 qid, u16 entries)
{
	struct kdp_queue *queue = &ctrl->queues[qid];
	struct kdp_conn_params params = {
		.net		= ctrl->opts.net,
		.owner		= ctrl,
		.dst		= ctrl->opts.traddr,
		.src		= ctrl->opts.host_traddr,
		.cpu		= kdp_sets_cpu(&ctrl->sets, qid),
		.cq_mode	= kdp_queue_mode(ctrl, qid),
		.spin_us	= ctrl->opts.spin_us,
	};
	int err;

	queue->depth = entries - 1;

	err = kdp_conn_resolve(&queue->conn, &kdp_conn_ops, &params);
	if (err) {
		kdp_ctrl_error(ctrl, err, queue->conn.step_text);
		goto close;
	}
	while (max(kdp_queue_send_wrs(queue), kdp_receive_wrs(queue->depth)) + KDP_DRAIN_WRS >
	       queue->conn.dev->ib->attrs.max_qp_wr && queue->depth > 1)
		queue->depth--;
	queue->conn_depth = queue->depth;

	err = kdp_queue_alloc(queue);
	if (err) {
		kdp_ctrl_error(ctrl, err, "no memory, or no memory regions, for the queue");
		goto close;
	}
	err = kdp_queue_create_qp(queue);
	if (err) {
		kdp_ctrl_error(ctrl, err, "the RDMA device gives no queue pair");
		goto close;
	}
	err = kdp_receive_start(queue);
	if (err) {
		kdp_ctrl_error(ctrl, err, "the RDMA device takes no receives");
		goto close;
	}
	err = kdp_queue_handshake(queue);
	if (err)
		goto close;
	return 0;

close:
	kdp_queue_close(queue);
	return err;
}

/*
 * Hang up: when this returns, no completion of the queue comes any more. Whoever
 * comes second (kdp_ctrl_fail_work(), the end of the controller) waits for the
 * first. A queue of @ctrl that is not open, or just being closed, has nothing to hang
 * up; its fields are not looked at. May sleep.
 */
void kdp_queue_stop(struct kdp_ctrl *ctrl, struct kdp_queue *queue)
{
	mutex_lock(&ctrl->stop_lock);
	if (kdp_conn_disconnect(&queue->conn))
		kdp_send_drop(queue);
	mutex_unlock(&ctrl->stop_lock);
}

/* Any state but in use by blk-mq; may sleep. */
void kdp_queue_close(struct kdp_queue *queue)
{
	kdp_queue_stop(queue->ctrl, queue);
	kdp_conn_close(&queue->conn);
	kdp_counts_add(&queue->ctrl->past[queue->qid], queue);
	kdp_queue_free(queue);
	kdp_conn_release(&queue->conn);
	memset_startat(queue, 0, conn);
}
