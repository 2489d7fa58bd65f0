// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a request on the wire.
 *
 *   queue_rq	command built, data mapped; REG_MR (if the data need it) and SEND
 *		join the queue's chain (send.c)
 *   then, in any order: posted, with whatever else was in the chain · response
 *		received · SEND known to be complete, if it carries data
 *   then	the MR is known to be invalid: the peer did it along with its response,
 *		or a LOCAL_INV of ours completed
 *   complete	data unmapped, request ended
 *
 * Rule: a request ends only when all of these hold. Until it is posted, the provider
 * reads its work requests; until its SEND is complete, the HCA may read data in the
 * capsule again (a lost ACK); until the MR is invalid the peer may reach the data.
 * LOCAL_INV is posted when the request is posted and answered, so that it can never
 * overtake the REG_MR, whatever the peer sends and when.
 *
 * Completions of a queue are handled one at a time, but beside who posts: progress is
 * atomic, and whoever adds the last bit goes on.
 */
#include <linux/blkdev.h>

#include "host.h"

/* A command that breaks every connection, or fails for now again and again, fails. */
#define KDP_MAX_RETRIES	5
/* How long a target has that said "not now". */
#define KDP_RETRY_MS	50

size_t kdp_request_pdu_size(void)
{
	return struct_size_t(struct kdp_req, inline_sg, KDP_INLINE_SEGMENTS);
}

/*
 * A work request failed. While we disconnect, the flushed ones say nothing new. There need
 * not be another one to say why: soft-RoCE flushes them all when, after a lost packet, it
 * does a REG_MR once more.
 */
void kdp_wc_error(struct kdp_queue *queue, const struct ib_wc *wc, const char *what)
{
	if (!test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags))
		return;
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		kdp_ctrl_fail(queue->ctrl, "the queue pair is in the error state");
		return;
	}
	dev_warn_ratelimited(&queue->ctrl->dev, "queue %u: %s failed: %s (vendor 0x%x)\n",
			     queue->qid, what, ib_wc_status_msg(wc->status), wc->vendor_err);
	kdp_ctrl_fail(queue->ctrl, "a work request failed");
}

/* Everything has happened: give back what the request holds. */
static void kdp_finish_request(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (unlikely(req->copied)) {
		kdp_queue_count(req->queue, KDP_QS_BYTES_COPIED, req->copied);
		req->copied = 0;
	}
	if (likely(!req->status) && req->how != KDP_MAP_NONE)
		kdp_queue_count(req->queue, rq_data_dir(rq) == WRITE ? KDP_QS_BYTES_WRITTEN :
								    KDP_QS_BYTES_READ,
				req->region.region ? req->region.length :
						     blk_rq_payload_bytes(rq));
	kdp_unmap_data(req, rq);
}

/* Is the same command likely to fare better another time? */
static bool kdp_may_retry(struct request *rq)
{
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (blk_rq_is_passthrough(rq) || blk_noretry_request(rq) ||
	    req->retries >= KDP_MAX_RETRIES)
		return false;
	return req->unanswered ? kdp_ctrl_io_waits(req->queue->ctrl) :
				 !(req->status & NVMF_SC_DNR);
}

/*
 * Back to blk-mq: to be sent when there is a connection again, or, where the target
 * answered that another time might do, a moment later. A connection that breaks by
 * request says nothing against the commands on it.
 */
static void kdp_retry_request(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	bool unanswered = req->unanswered;

	kdp_queue_count(req->queue, KDP_QS_RETRIES, 1);
	if (!unanswered || !test_bit(KDP_CTRL_ASKED, &req->queue->ctrl->flags))
		req->retries++;
	req->unanswered = false;
	blk_mq_requeue_request(rq, false);
	if (!unanswered)
		blk_mq_delay_kick_requeue_list(rq->q, KDP_RETRY_MS);
}

/* ->complete: on the CPU that submitted, or where blk-mq likes it; may not sleep. */
static void kdp_complete_request(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	kdp_finish_request(rq);
	if (unlikely(req->status)) {
		if (kdp_may_retry(rq))
			return kdp_retry_request(rq);
		if (!blk_rq_is_passthrough(rq))
			dev_dbg(&req->queue->ctrl->dev, "queue %u: status 0x%x\n",
				req->queue->qid, req->status);
	}
	req->retries = 0;
	blk_mq_end_request(rq, kdp_status_to_blk(req->status));
}

static void kdp_complete_batch(struct io_comp_batch *batch)
{
	struct request *rq;

	rq_list_for_each(&batch->req_list, rq) {
		struct kdp_req *req = blk_mq_rq_to_pdu(rq);

		kdp_finish_request(rq);
		req->retries = 0;
	}
	blk_mq_end_request_batch(batch);
}

/* What a batch of completions has ended. */
void kdp_requests_end(struct kdp_queue *queue)
{
	if (!queue->ended.complete)
		return;
	queue->ended.complete(&queue->ended);
	queue->ended = (struct io_comp_batch) {};
}

static void kdp_req_end(struct kdp_req *req, struct io_comp_batch *batch)
{
	struct request *rq = blk_mq_rq_from_pdu(req);

	if (blk_mq_complete_request_remote(rq))
		return;
	/* errors are ended one by one: a batch has no status */
	if (req->status || !batch || !blk_mq_add_to_batch(rq, batch, 0, kdp_complete_batch))
		kdp_complete_request(rq);
}

static void kdp_post_local_inv(struct kdp_req *req)
{
	struct kdp_queue *queue = req->queue;
	struct ib_send_wr wr = {
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.wr_cqe			= &req->inv_cqe,
		.ex.invalidate_rkey	= req->reg_wr.key,
	};

	/* on failure the request waits for the drain: it must not end before */
	if (unlikely(kdp_conn_post_send(&queue->conn, &wr)))
		kdp_ctrl_fail(queue->ctrl, "LOCAL_INV could not be posted");
}

/*
 * @what has happened to @req, once. If that was the last, the request ends: in @batch,
 * where there is one. Bottom halves or process context.
 */
void kdp_req_advance(struct kdp_req *req, int what, struct io_comp_batch *batch)
{
	const int answered = KDP_REQ_POSTED | KDP_REQ_RESPONDED;
	int before = atomic_fetch_or(what, &req->progress);
	int now = before | what;

	if (now == KDP_REQ_DONE)
		kdp_req_end(req, batch);
	else if ((before & answered) != answered && (now & answered) == answered &&
		 !(now & KDP_REQ_INVALIDATED))
		kdp_post_local_inv(req);
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
	kdp_req_advance(req, KDP_REQ_INVALIDATED, &req->queue->ended);
}

/*
 * What may be posted now. While connecting, only our own commands; while
 * disconnecting, those and the I/O that was there; on a broken connection nothing.
 */
static bool kdp_ctrl_accepts(const struct kdp_ctrl *ctrl, struct request *rq, u16 qid)
{
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	bool internal = blk_rq_is_passthrough(rq) && req->internal;

	if (test_bit(KDP_CTRL_BROKEN, &ctrl->flags))
		return false;
	switch (kdp_ctrl_state(ctrl)) {
	case KDP_STATE_LIVE:
		return true;
	case KDP_STATE_CONNECTING:
		return internal;
	case KDP_STATE_DELETING:
		return internal || qid;
	default:
		return false;
	}
}

/* The controller first: of a queue that it may not use now, nothing is looked at. */
static bool kdp_queue_accepts(const struct kdp_queue *queue, struct request *rq)
{
	return kdp_ctrl_accepts(queue->ctrl, rq, queue->qid) &&
	       test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags);
}

/* I/O waits while the connection is made anew; commands of users and of ours do not. */
static blk_status_t kdp_refuse(struct kdp_ctrl *ctrl, struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (!blk_rq_is_passthrough(rq) && !blk_noretry_request(rq) && kdp_ctrl_io_waits(ctrl))
		return BLK_STS_RESOURCE;
	req->status = NVMF_SC_HOST_PATH_ERROR;
	req->retries = 0;
	return BLK_STS_TRANSPORT;
}

/* The range of blocks is the command's data; it lies in the request. */
static void kdp_build_discard(struct kdp_req *req, struct request *rq, const struct kdp_ns *ns,
			      struct nvmf_sqe *sqe)
{
	nvmf_build_deallocate(sqe, &req->discard, ns->nsid,
			      blk_rq_pos(rq) >> (ns->info.lba_shift - SECTOR_SHIFT),
			      blk_rq_bytes(rq) >> ns->info.lba_shift);
	rq->special_vec.bv_page = virt_to_page(&req->discard);
	rq->special_vec.bv_offset = offset_in_page(&req->discard);
	rq->special_vec.bv_len = sizeof(req->discard);
	rq->rq_flags |= RQF_SPECIAL_PAYLOAD;
}

static void kdp_build_rw(struct request *rq, const struct kdp_ns *ns, u8 opcode,
			 struct nvmf_sqe *sqe)
{
	u32 control = 0;

	if (rq->cmd_flags & REQ_FUA)
		control |= NVMF_RW_FUA;
	if (rq->cmd_flags & (REQ_FAILFAST_DEV | REQ_RAHEAD))
		control |= NVMF_RW_LIMITED_RETRY;
	nvmf_build_rw(sqe, opcode, ns->nsid,
		      blk_rq_pos(rq) >> (ns->info.lba_shift - SECTOR_SHIFT),
		      blk_rq_bytes(rq) >> ns->info.lba_shift, control);
}

static blk_status_t kdp_build_command(struct kdp_req *req, struct request *rq,
				      struct nvmf_sqe *sqe)
{
	struct kdp_ns *ns = rq->q->queuedata;

	switch (req_op(rq)) {
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		return BLK_STS_OK;	/* built already */
	case REQ_OP_FLUSH:
		nvmf_build_flush(sqe, ns->nsid);
		return BLK_STS_OK;
	case REQ_OP_READ:
		kdp_build_rw(rq, ns, NVMF_IO_READ, sqe);
		return BLK_STS_OK;
	case REQ_OP_WRITE:
		kdp_build_rw(rq, ns, NVMF_IO_WRITE, sqe);
		return BLK_STS_OK;
	case REQ_OP_WRITE_ZEROES:
		kdp_build_rw(rq, ns, NVMF_IO_WRITE_ZEROES, sqe);
		return BLK_STS_OK;
	case REQ_OP_DISCARD:
		kdp_build_discard(req, rq, ns, sqe);
		return BLK_STS_OK;
	default:
		return BLK_STS_NOTSUPP;
	}
}

static void kdp_prepare_send(struct kdp_req *req)
{
	req->sge[0].length = NVMF_SQE_SIZE;
	req->sge[0].lkey = req->queue->conn.dev->pd->local_dma_lkey;
	req->reg_cqe.done = kdp_reg_done;
	req->inv_cqe.done = kdp_inv_done;
	req->send_wr = (struct ib_send_wr) {
		.opcode		= IB_WR_SEND,
		.sg_list	= req->sge,
		.num_sge	= 1,
	};
}

/* What need not happen any more, by the way in which the data travel. */
static int kdp_initial_progress(const struct kdp_req *req)
{
	switch (req->how) {
	case KDP_MAP_MR:
		return KDP_REQ_SENT;
	case KDP_MAP_INLINE:
		return KDP_REQ_INVALIDATED;
	default:
		return KDP_REQ_SENT | KDP_REQ_INVALIDATED;
	}
}

static blk_status_t kdp_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct kdp_queue *queue = hctx->driver_data;
	struct request *rq = bd->rq;
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	blk_status_t status;
	int err;

	req->queue = queue;
	if (unlikely(!kdp_queue_accepts(queue, rq)))
		return kdp_refuse(queue->ctrl, rq);
	if (unlikely(!kdp_ns_accepts(rq))) {
		req->retries = 0;
		return BLK_STS_IOERR;
	}
	req->unanswered = false;

	status = kdp_build_command(req, rq, &req->cmd);
	if (unlikely(status != BLK_STS_OK))
		return status;
	req->cmd.cid = nvmf_htole16(nvmf_cid(rq->tag, ++req->generation));
	req->generation &= 0xf;

	kdp_prepare_send(req);
	err = kdp_map_data(req, rq, &req->cmd);
	if (unlikely(err))
		return err == -ENOMEM ? BLK_STS_RESOURCE : BLK_STS_IOERR;
	atomic_set(&req->progress, kdp_initial_progress(req));
	if (unlikely(!kdp_send(queue, rq, bd->last))) {
		kdp_unmap_data(req, rq);
		return BLK_STS_RESOURCE;
	}
	return BLK_STS_OK;
}

static void kdp_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct kdp_queue *queue = hctx->driver_data;

	if (likely(test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags)))
		kdp_send_commit(queue);
}

/*
 * For blk_mq_tagset_busy_iter(): end a request that will get no answer, or take it back.
 * Its queue is drained and quiesced: neither the poller nor a submitter touches it.
 */
bool kdp_cancel_request(struct request *rq, void *data)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (blk_mq_request_completed(rq))
		return true;
	WRITE_ONCE(req->queue->inflight[rq->tag], NULL);
	req->status = NVMF_SC_HOST_PATH_ERROR;
	req->unanswered = true;
	blk_mq_complete_request(rq);
	return true;
}

static enum blk_eh_timer_return kdp_timeout(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	struct kdp_queue *queue = req->queue;

	if (kdp_req_is_event(req))
		return BLK_EH_RESET_TIMER;
	if (kdp_poll_late(rq))
		return BLK_EH_DONE;
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
	.commit_rqs	= kdp_commit_rqs,
	.complete	= kdp_complete_request,
	.timeout	= kdp_timeout,
	.init_hctx	= kdp_init_hctx,
	.map_queues	= kdp_map_queues,
	.poll		= kdp_poll,
};

const struct blk_mq_ops kdp_admin_mq_ops = {
	.queue_rq	= kdp_queue_rq,
	.commit_rqs	= kdp_commit_rqs,
	.complete	= kdp_complete_request,
	.timeout	= kdp_timeout,
	.init_hctx	= kdp_init_admin_hctx,
};
