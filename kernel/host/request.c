// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a request on the wire.
 *
 *   queue_rq	command built into the slot's capsule, data mapped, REG_MR (if the
 *		data need it) and SEND posted with one doorbell
 *   then, in any order: SEND completed · response received
 *   then	the MR is known to be invalid: the peer did it along with its response,
 *		or a LOCAL_INV of ours completed
 *   complete	data unmapped, request ended
 *
 * Rule: a request ends only when all three hold. The HCA may read the capsule, and
 * data in it, again until the SEND completed (a lost ACK); the peer may
 * reach the data until the MR is invalid. LOCAL_INV is posted when SEND and
 * response are both there, so that it can never overtake the REG_MR, whatever the
 * peer sends and when.
 *
 * All completions of a queue are handled by one poller thread, one at a time, so
 * that the progress of a request needs no lock.
 */
#include <linux/blkdev.h>

#include "host.h"

size_t kdp_request_pdu_size(void)
{
	return struct_size_t(struct kdp_req, inline_sg, KDP_INLINE_SEGMENTS);
}

static struct kdp_queue *kdp_wc_queue(const struct ib_wc *wc)
{
	struct kdp_conn *conn = wc->qp->qp_context;

	return container_of(conn, struct kdp_queue, conn);
}

/* A work request failed. While we disconnect, the flushed ones say nothing new. */
static void kdp_wc_error(struct kdp_queue *queue, const struct ib_wc *wc, const char *what)
{
	if (!test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags))
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		dev_warn_ratelimited(&queue->ctrl->dev, "queue %u: %s failed: %s (vendor 0x%x)\n",
				     queue->qid, what, ib_wc_status_msg(wc->status),
				     wc->vendor_err);
	kdp_ctrl_fail(queue->ctrl, "a work request failed");
}

static void kdp_protocol_error(struct kdp_queue *queue, const char *what)
{
	dev_warn_ratelimited(&queue->ctrl->dev, "queue %u: the target broke the protocol: %s\n",
			     queue->qid, what);
	kdp_ctrl_fail(queue->ctrl, "protocol error");
}

static void kdp_inv_done(struct ib_cq *cq, struct ib_wc *wc);

static int kdp_post_local_inv(struct kdp_req *req)
{
	struct ib_send_wr wr = {
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.wr_cqe			= &req->inv_cqe,
		.ex.invalidate_rkey	= req->reg_wr.key,
	};

	return kdp_conn_post_send(&req->queue->conn, &wr);
}

static void kdp_req_advance(struct kdp_req *req, u8 what)
{
	req->progress |= what;
	if ((req->progress & (KDP_REQ_SENT | KDP_REQ_RESPONDED)) !=
	    (KDP_REQ_SENT | KDP_REQ_RESPONDED))
		return;
	if (!(req->progress & KDP_REQ_INVALIDATED)) {
		/* on failure the request waits for the drain: it must not end before */
		if (kdp_post_local_inv(req))
			kdp_ctrl_fail(req->queue->ctrl, "LOCAL_INV could not be posted");
		return;
	}
	blk_mq_complete_request(blk_mq_rq_from_pdu(req));
}

static void kdp_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_req *req = container_of(wc->wr_cqe, struct kdp_req, send_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS))
		return kdp_wc_error(req->queue, wc, "SEND");
	kdp_req_advance(req, KDP_REQ_SENT);
}

/* REG_MR is not signalled: it is heard of only when it failed. */
static void kdp_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_req *req = container_of(wc->wr_cqe, struct kdp_req, reg_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS))
		kdp_wc_error(req->queue, wc, "REG_MR");
}

static void kdp_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_req *req = container_of(wc->wr_cqe, struct kdp_req, inv_cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS))
		return kdp_wc_error(req->queue, wc, "LOCAL_INV");
	kdp_req_advance(req, KDP_REQ_INVALIDATED);
}

/* The request that a response belongs to, if it is in flight. */
static struct kdp_req *kdp_find_inflight(struct kdp_queue *queue, u16 cid)
{
	u16 slot = nvmf_cid_slot(cid);
	struct kdp_req *req;

	if (slot >= queue->depth)
		return NULL;
	req = READ_ONCE(queue->inflight[slot]);
	if (!req || req->generation != nvmf_cid_generation(cid))
		return NULL;
	return req;
}

static void kdp_handle_response(struct kdp_queue *queue, const struct ib_wc *wc,
				const struct nvmf_response *rsp)
{
	struct kdp_req *req = kdp_find_inflight(queue, rsp->cid);
	u8 what = KDP_REQ_RESPONDED;

	if (unlikely(!req))
		return kdp_protocol_error(queue, "response to a command that is not in flight");
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		if (unlikely(req->how != KDP_MAP_MR ||
			     wc->ex.invalidate_rkey != req->reg_wr.key))
			return kdp_protocol_error(queue, "invalidation of a foreign key");
		kdp_queue_count(queue, KDP_QS_REMOTE_INV, 1);
		what |= KDP_REQ_INVALIDATED;
	}
	req->status = rsp->status;
	req->result = rsp->result;
	WRITE_ONCE(queue->inflight[nvmf_cid_slot(rsp->cid)], NULL);
	kdp_req_advance(req, what);
}

void kdp_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_rsp *rsp = container_of(wc->wr_cqe, struct kdp_rsp, cqe);
	struct kdp_queue *queue = kdp_wc_queue(wc);
	struct ib_device *ib = queue->conn.dev->ib;
	struct nvmf_response response;

	if (unlikely(wc->status != IB_WC_SUCCESS))
		return kdp_wc_error(queue, wc, "RECV");

	ib_dma_sync_single_for_cpu(ib, rsp->sge.addr, rsp->sge.length, DMA_FROM_DEVICE);
	if (unlikely(nvmf_response_parse(rsp->capsule, wc->byte_len, &response)))
		return kdp_protocol_error(queue, "response shorter than 16 bytes");
	ib_dma_sync_single_for_device(ib, rsp->sge.addr, rsp->sge.length, DMA_FROM_DEVICE);

	/* the buffer first: the request's end may let the next command out */
	if (unlikely(kdp_queue_repost(queue, rsp)))
		kdp_ctrl_fail(queue->ctrl, "a receive could not be posted");
	kdp_handle_response(queue, wc, &response);
}

/*
 * What may be posted now. While connecting, only our own commands; while
 * disconnecting, those and the I/O that was there; on a broken connection nothing.
 */
static bool kdp_queue_accepts(const struct kdp_queue *queue, struct request *rq)
{
	const struct kdp_ctrl *ctrl = queue->ctrl;
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	bool internal = blk_rq_is_passthrough(rq) && req->internal;

	if (test_bit(KDP_CTRL_BROKEN, &ctrl->flags) ||
	    !test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags))
		return false;
	switch (kdp_ctrl_state(ctrl)) {
	case KDP_STATE_LIVE:
		return true;
	case KDP_STATE_CONNECTING:
		return internal;
	case KDP_STATE_DELETING:
		return internal || queue->qid;
	default:
		return false;
	}
}

static blk_status_t kdp_build_command(struct kdp_req *req, struct request *rq,
				      struct nvmf_sqe *sqe)
{
	struct kdp_ns *ns = rq->q->queuedata;
	u8 opcode = NVMF_IO_READ;
	u32 control = 0;

	switch (req_op(rq)) {
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		*sqe = req->cmd;
		return BLK_STS_OK;
	case REQ_OP_FLUSH:
		nvmf_build_flush(sqe, ns->nsid);
		return BLK_STS_OK;
	case REQ_OP_WRITE:
		opcode = NVMF_IO_WRITE;
		if (rq->cmd_flags & REQ_FUA)
			control |= NVMF_RW_FUA;
		fallthrough;
	case REQ_OP_READ:
		if (rq->cmd_flags & (REQ_FAILFAST_DEV | REQ_RAHEAD))
			control |= NVMF_RW_LIMITED_RETRY;
		nvmf_build_rw(sqe, opcode, ns->nsid,
			      blk_rq_pos(rq) >> (ns->info.lba_shift - SECTOR_SHIFT),
			      blk_rq_bytes(rq) >> ns->info.lba_shift, control);
		return BLK_STS_OK;
	default:
		return BLK_STS_NOTSUPP;
	}
}

static void kdp_prepare_send(struct kdp_req *req, int tag)
{
	struct kdp_queue *queue = req->queue;

	req->sge[0].addr = queue->capsules_dma + tag * NVMF_SQE_SIZE;
	req->sge[0].length = NVMF_SQE_SIZE;
	req->sge[0].lkey = queue->conn.dev->pd->local_dma_lkey;
	req->send_cqe.done = kdp_send_done;
	req->reg_cqe.done = kdp_reg_done;
	req->inv_cqe.done = kdp_inv_done;
	req->send_wr = (struct ib_send_wr) {
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
		.wr_cqe		= &req->send_cqe,
		.sg_list	= req->sge,
		.num_sge	= 1,
	};
}

static blk_status_t kdp_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct kdp_queue *queue = hctx->driver_data;
	struct ib_device *ib = queue->conn.dev->ib;
	struct request *rq = bd->rq;
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	struct nvmf_sqe *sqe = &queue->capsules[rq->tag];
	dma_addr_t sqe_dma = queue->capsules_dma + rq->tag * NVMF_SQE_SIZE;
	const struct ib_send_wr *chain = &req->send_wr;
	blk_status_t status;
	int err;

	req->queue = queue;
	if (unlikely(!kdp_queue_accepts(queue, rq))) {
		req->status = NVMF_SC_HOST_PATH_ERROR;
		return BLK_STS_TRANSPORT;
	}

	ib_dma_sync_single_for_cpu(ib, sqe_dma, NVMF_SQE_SIZE, DMA_TO_DEVICE);
	status = kdp_build_command(req, rq, sqe);
	if (unlikely(status != BLK_STS_OK))
		return status;
	sqe->cid = nvmf_htole16(nvmf_cid(rq->tag, ++req->generation));
	req->generation &= 0xf;

	kdp_prepare_send(req, rq->tag);
	err = kdp_map_data(req, rq, sqe);
	if (unlikely(err))
		return err == -ENOMEM ? BLK_STS_RESOURCE : BLK_STS_IOERR;
	ib_dma_sync_single_for_device(ib, sqe_dma, NVMF_SQE_SIZE, DMA_TO_DEVICE);

	req->progress = KDP_REQ_INVALIDATED;
	if (req->how == KDP_MAP_MR) {
		req->progress = 0;
		req->reg_wr.wr.next = &req->send_wr;
		chain = &req->reg_wr.wr;
	} else if (req->how == KDP_MAP_INLINE) {
		kdp_queue_count(queue, KDP_QS_INLINE, 1);
	}
	kdp_queue_count(queue, KDP_QS_COMMANDS, 1);

	blk_mq_start_request(rq);
	WRITE_ONCE(queue->inflight[rq->tag], req);
	/* part of the chain may be on its way: whatever fails, the drain ends the request */
	if (unlikely(kdp_conn_post_send(&queue->conn, chain)))
		kdp_ctrl_fail(queue->ctrl, "a command could not be posted");
	return BLK_STS_OK;
}

/* ->complete: on the CPU that submitted, or where blk-mq likes it; may not sleep. */
static void kdp_complete_request(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (likely(!req->status) && req->how != KDP_MAP_NONE)
		kdp_queue_count(req->queue, rq_data_dir(rq) == WRITE ? KDP_QS_BYTES_WRITTEN :
								    KDP_QS_BYTES_READ,
				blk_rq_payload_bytes(rq));
	kdp_unmap_data(req, rq);
	if (unlikely(req->status) && !blk_rq_is_passthrough(rq))
		dev_dbg(&req->queue->ctrl->dev, "queue %u: status 0x%x\n", req->queue->qid,
			req->status);
	blk_mq_end_request(rq, kdp_status_to_blk(req->status));
}

/*
 * For blk_mq_tagset_busy_iter(): end a request that will get no answer. Its queue
 * is drained and quiesced: neither the poller nor a submitter touches it.
 */
bool kdp_cancel_request(struct request *rq, void *data)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (blk_mq_request_completed(rq))
		return true;
	WRITE_ONCE(req->queue->inflight[rq->tag], NULL);
	req->status = NVMF_SC_HOST_PATH_ERROR;
	blk_mq_complete_request(rq);
	return true;
}

static enum blk_eh_timer_return kdp_timeout(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	struct kdp_queue *queue = req->queue;

	dev_warn_ratelimited(&queue->ctrl->dev, "queue %u tag %d: no answer in time\n",
			     queue->qid, rq->tag);
	if (kdp_ctrl_state(queue->ctrl) == KDP_STATE_CONNECTING)
		kdp_ctrl_error(queue->ctrl, -ETIMEDOUT, "the target does not answer a command");
	kdp_ctrl_fail(queue->ctrl, "a command timed out");
	/* ends by kdp_ctrl_fail_work(), when the HCA is off its memory */
	return BLK_EH_RESET_TIMER;
}

static int kdp_init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct kdp_ctrl *ctrl = data;

	hctx->driver_data = &ctrl->queues[index + 1];
	return 0;
}

static int kdp_init_admin_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct kdp_ctrl *ctrl = data;

	hctx->driver_data = &ctrl->queues[0];
	return 0;
}

const struct blk_mq_ops kdp_mq_ops = {
	.queue_rq	= kdp_queue_rq,
	.complete	= kdp_complete_request,
	.timeout	= kdp_timeout,
	.init_hctx	= kdp_init_hctx,
};

const struct blk_mq_ops kdp_admin_mq_ops = {
	.queue_rq	= kdp_queue_rq,
	.complete	= kdp_complete_request,
	.timeout	= kdp_timeout,
	.init_hctx	= kdp_init_admin_hctx,
};
