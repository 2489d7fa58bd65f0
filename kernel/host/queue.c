// SPDX-License-Identifier: GPL-2.0-only
/* A queue: its connection, command slots, capsules and receive buffers. */
#include <linux/slab.h>

#include "../core/dma.h"
#include "host.h"

/*
 * Work requests of a command on the send queue: REG_MR, SEND, LOCAL_INV. One more
 * on each queue is what draining it posts.
 */
#define KDP_SEND_WRS	3
#define KDP_DRAIN_WRS	1

static void kdp_queue_broken(struct kdp_conn *conn, const char *why)
{
	struct kdp_queue *queue = container_of(conn, struct kdp_queue, conn);

	kdp_ctrl_fail(queue->ctrl, why);
}

static const struct kdp_conn_ops kdp_conn_ops = {
	.broken	= kdp_queue_broken,
};

/* Where the completions of I/O queue @qid are polled: the qid-th CPU that is online. */
static int kdp_queue_cpu(u16 qid)
{
	unsigned int n = qid ? (qid - 1) % num_online_cpus() : 0;
	int cpu;

	for_each_online_cpu(cpu)
		if (n-- == 0)
			return cpu;
	return cpumask_first(cpu_online_mask);
}

static int kdp_queue_alloc(struct kdp_queue *queue)
{
	struct kdp_device *dev = queue->conn.dev;
	struct kdp_mr_pool *mrs;
	int err;

	queue->stats = alloc_percpu(struct kdp_queue_stats);
	queue->inflight = kcalloc(queue->depth, sizeof(*queue->inflight), GFP_KERNEL);
	queue->rsps = kcalloc(queue->depth, sizeof(*queue->rsps), GFP_KERNEL);
	queue->capsules = kcalloc(queue->depth, NVMF_SQE_SIZE, GFP_KERNEL);
	queue->responses = kcalloc(queue->depth, NVMF_CQE_SIZE, GFP_KERNEL);
	if (!queue->stats || !queue->inflight || !queue->rsps || !queue->capsules ||
	    !queue->responses)
		return -ENOMEM;

	err = kdp_dma_map(dev, queue->capsules, queue->depth * NVMF_SQE_SIZE, DMA_TO_DEVICE,
			  &queue->capsules_dma);
	if (err) {
		queue->capsules_dma = 0;
		return err;
	}
	err = kdp_dma_map(dev, queue->responses, queue->depth * NVMF_CQE_SIZE, DMA_FROM_DEVICE,
			  &queue->responses_dma);
	if (err) {
		queue->responses_dma = 0;
		return err;
	}
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
	if (queue->responses_dma)
		kdp_dma_unmap(queue->conn.dev, queue->responses_dma,
			      queue->conn_depth * NVMF_CQE_SIZE, DMA_FROM_DEVICE);
	if (queue->capsules_dma)
		kdp_dma_unmap(queue->conn.dev, queue->capsules_dma,
			      queue->conn_depth * NVMF_SQE_SIZE, DMA_TO_DEVICE);
	kfree(queue->responses);
	kfree(queue->capsules);
	kfree(queue->rsps);
	kfree(queue->inflight);
	free_percpu(queue->stats);
}

static void kdp_rsp_to_wr(struct kdp_rsp *rsp, struct ib_recv_wr *wr)
{
	*wr = (struct ib_recv_wr) {
		.wr_cqe		= &rsp->cqe,
		.sg_list	= &rsp->sge,
		.num_sge	= 1,
	};
}

int kdp_queue_repost(struct kdp_queue *queue, struct kdp_rsp *rsp)
{
	struct ib_recv_wr wr;

	kdp_rsp_to_wr(rsp, &wr);
	return kdp_conn_post_recv(&queue->conn, &wr);
}

/* All receives at once, before the handshake: no response can come too early. */
static int kdp_queue_post_receives(struct kdp_queue *queue)
{
	struct ib_recv_wr *wrs;
	int err;

	wrs = kcalloc(queue->depth, sizeof(*wrs), GFP_KERNEL);
	if (!wrs)
		return -ENOMEM;
	for (unsigned int i = 0; i < queue->depth; i++) {
		struct kdp_rsp *rsp = &queue->rsps[i];

		rsp->cqe.done = kdp_recv_done;
		rsp->capsule = &queue->responses[i];
		rsp->sge.addr = queue->responses_dma + i * NVMF_CQE_SIZE;
		rsp->sge.length = NVMF_CQE_SIZE;
		rsp->sge.lkey = queue->conn.dev->pd->local_dma_lkey;
		kdp_rsp_to_wr(rsp, &wrs[i]);
		if (i)
			wrs[i - 1].next = &wrs[i];
	}
	err = kdp_conn_post_recv(&queue->conn, wrs);
	kfree(wrs);
	return err;
}

static int kdp_queue_create_qp(struct kdp_queue *queue)
{
	const struct ib_device_attr *attrs = &queue->conn.dev->ib->attrs;
	struct ib_qp_cap cap = {};

	queue->inline_segments = min_t(unsigned int, KDP_INLINE_SEGMENTS,
				       attrs->max_send_sge - 1);
	cap.max_send_wr = KDP_SEND_WRS * queue->depth + KDP_DRAIN_WRS;
	cap.max_recv_wr = queue->depth + KDP_DRAIN_WRS;
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
 * the queue is as before.
 */
int kdp_queue_open(struct kdp_ctrl *ctrl, u16 qid, u16 entries)
{
	struct kdp_queue *queue = &ctrl->queues[qid];
	struct kdp_conn_params params = {
		.net		= ctrl->opts.net,
		.dst		= ctrl->opts.traddr,
		.src		= ctrl->opts.host_traddr,
		.cpu		= kdp_queue_cpu(qid),
		.spin_us	= ctrl->opts.spin_us,
	};
	u32 device_depth;
	int err;

	memset(queue, 0, sizeof(*queue));
	queue->ctrl = ctrl;
	queue->qid = qid;
	queue->depth = entries - 1;

	err = kdp_conn_resolve(&queue->conn, &kdp_conn_ops, &params);
	if (err) {
		kdp_ctrl_error(ctrl, err, queue->conn.step_text);
		goto close;
	}
	device_depth = (queue->conn.dev->ib->attrs.max_qp_wr - KDP_DRAIN_WRS) / KDP_SEND_WRS;
	queue->depth = min_t(u32, queue->depth, device_depth);
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
	err = kdp_queue_post_receives(queue);
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
	kdp_conn_disconnect(&queue->conn);
	mutex_unlock(&ctrl->stop_lock);
}

/* Any state but in use by blk-mq; may sleep. */
void kdp_queue_close(struct kdp_queue *queue)
{
	if (!queue->ctrl)
		return;
	kdp_queue_stop(queue->ctrl, queue);
	kdp_conn_close(&queue->conn);
	kdp_queue_free(queue);
	kdp_conn_release(&queue->conn);
	memset(queue, 0, sizeof(*queue));
}
