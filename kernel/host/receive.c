// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receiving responses: buffers, finding the request, posting the buffers again.
 *
 * Buffers go back in batches, one doorbell for what one call of the provider brought.
 * Until then they are missing: so there are KDP_CQ_BATCH more of them than commands,
 * and each command in flight has a buffer posted for its response at all times.
 */
#include <linux/slab.h>

#include "../core/dma.h"
#include "host.h"

unsigned int kdp_receive_wrs(unsigned int depth)
{
	return depth + KDP_CQ_BATCH;
}

static void kdp_protocol_error(struct kdp_queue *queue, const struct ib_wc *wc, const char *what)
{
	/* what the response invalidated may be the key of a region, which is of no use then */
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		set_bit(KDP_CTRL_KEYS_SPOILED, &queue->ctrl->flags);
	dev_warn_ratelimited(&queue->ctrl->dev, "queue %u: the target broke the protocol: %s\n",
			     queue->qid, what);
	kdp_ctrl_fail(queue->ctrl, "protocol error");
}

/* The request that a response belongs to, if it is in flight. */
static struct kdp_req *kdp_find_inflight(struct kdp_queue *queue, u16 cid)
{
	u16 slot = nvmf_cid_slot(cid);
	struct kdp_req *req;

	if (slot >= queue->depth)
		return NULL;
	/* pairs with kdp_send() */
	req = smp_load_acquire(&queue->inflight[slot]);
	if (!req || req->generation != nvmf_cid_generation(cid))
		return NULL;
	return req;
}

static void kdp_handle_response(struct kdp_queue *queue, const struct ib_wc *wc,
				const struct nvmf_response *rsp)
{
	struct kdp_req *req = kdp_find_inflight(queue, rsp->cid);
	int what = KDP_REQ_RESPONDED;

	if (unlikely(!req))
		return kdp_protocol_error(queue, wc, "response to a command that is not in flight");
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		if (unlikely(req->how != KDP_MAP_MR ||
			     wc->ex.invalidate_rkey != req->reg_wr.key))
			return kdp_protocol_error(queue, wc, "invalidation of a foreign key");
		kdp_queue_count(queue, KDP_QS_REMOTE_INV, 1);
		what |= KDP_REQ_INVALIDATED;
	}
	req->status = rsp->status;
	req->result = rsp->result;
	WRITE_ONCE(queue->inflight[nvmf_cid_slot(rsp->cid)], NULL);
	WRITE_ONCE(queue->responded, queue->responded + 1);
	kdp_req_advance(req, what, &queue->ended);
}

static void kdp_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_rsp *rsp = container_of(wc->wr_cqe, struct kdp_rsp, cqe);
	struct kdp_queue *queue = kdp_wc_queue(wc);
	struct ib_device *ib = queue->conn.dev->ib;
	struct nvmf_response response;

	if (unlikely(wc->status != IB_WC_SUCCESS))
		return kdp_wc_error(queue, wc, "RECV");

	ib_dma_sync_single_for_cpu(ib, rsp->sge.addr, rsp->sge.length, DMA_FROM_DEVICE);
	if (unlikely(nvmf_response_parse(rsp->capsule, wc->byte_len, &response)))
		return kdp_protocol_error(queue, wc, "response shorter than 16 bytes");
	ib_dma_sync_single_for_device(ib, rsp->sge.addr, rsp->sge.length, DMA_FROM_DEVICE);

	rsp->wr.next = queue->repost;
	queue->repost = &rsp->wr;
	kdp_handle_response(queue, wc, &response);
}

/* After a batch of completions. */
void kdp_receive_repost(struct kdp_queue *queue)
{
	struct ib_recv_wr *chain = queue->repost;

	if (!chain)
		return;
	queue->repost = NULL;
	if (unlikely(kdp_conn_post_recv(&queue->conn, chain)))
		kdp_ctrl_fail(queue->ctrl, "a receive could not be posted");
}

/* All receives at once, before the handshake: no response can come too early. */
int kdp_receive_start(struct kdp_queue *queue)
{
	unsigned int i;

	for (i = 0; i < queue->nr_rsps; i++) {
		struct kdp_rsp *rsp = &queue->rsps[i];

		rsp->cqe.done = kdp_recv_done;
		rsp->capsule = &queue->responses[i];
		rsp->sge.addr = queue->responses_dma + i * NVMF_CQE_SIZE;
		rsp->sge.length = NVMF_CQE_SIZE;
		rsp->sge.lkey = queue->conn.dev->pd->local_dma_lkey;
		rsp->wr.wr_cqe = &rsp->cqe;
		rsp->wr.sg_list = &rsp->sge;
		rsp->wr.num_sge = 1;
		rsp->wr.next = i + 1 < queue->nr_rsps ? &queue->rsps[i + 1].wr : NULL;
	}
	return kdp_conn_post_recv(&queue->conn, &queue->rsps[0].wr);
}

/* Returns 0 or -ENOMEM; what there is then goes with kdp_receive_free(). */
int kdp_receive_alloc(struct kdp_queue *queue)
{
	unsigned int nr = kdp_receive_wrs(queue->depth);
	int err;

	queue->nr_rsps = nr;
	queue->rsps = kcalloc(nr, sizeof(*queue->rsps), GFP_KERNEL);
	queue->responses = kcalloc(nr, NVMF_CQE_SIZE, GFP_KERNEL);
	if (!queue->rsps || !queue->responses)
		return -ENOMEM;
	err = kdp_dma_map(queue->conn.dev, queue->responses, nr * NVMF_CQE_SIZE, DMA_FROM_DEVICE,
			  &queue->responses_dma);
	if (err)
		queue->responses_dma = 0;
	return err;
}

void kdp_receive_free(struct kdp_queue *queue)
{
	if (queue->responses_dma)
		kdp_dma_unmap(queue->conn.dev, queue->responses_dma,
			      queue->nr_rsps * NVMF_CQE_SIZE, DMA_FROM_DEVICE);
	kfree(queue->responses);
	kfree(queue->rsps);
}
