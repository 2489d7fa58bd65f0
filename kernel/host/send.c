// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending commands: one doorbell for a batch, and few completions.
 *
 * A command takes the next place of the ring, copies its 64 bytes into the place's
 * capsule, and its work requests ([REG_MR →] SEND) join the chain. The chain is
 * posted when blk-mq says that no more follows for now, or when it is long.
 *
 * Why a place is not used again too early. After a lost acknowledgement the HCA reads a
 * capsule, and data in it, once more, until the SEND has completed. Most SENDs do not
 * complete visibly: the last of a chain is signalled when one of those since the last
 * signalled one has data in its capsule, or when a quarter of the ring has gone out
 * since. The send queue completes in order, so that its completion stands for all
 * before it: it frees their places, and is what requests with data in the capsule
 * wait for. A full ring has at least one signalled SEND in it, so that there is always a
 * completion to come.
 *
 * The lock is the queue's own; a queue is used by its CPU.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "../core/dma.h"
#include "host.h"

/* Commands that are posted together at most. */
#define KDP_SEND_BATCH	32

/*
 * In flight, and as many again of which nobody knows yet that they have been sent: a
 * full ring is rare, and costs a delay.
 */
static unsigned int kdp_send_ring(unsigned int depth)
{
	return roundup_pow_of_two(2 * depth);
}

/*
 * Work requests on the send queue at most: REG_MR and SEND of each place of the ring,
 * LOCAL_INV of each command.
 */
unsigned int kdp_send_wrs(unsigned int depth)
{
	return 2 * kdp_send_ring(depth) + depth;
}

static struct kdp_send *kdp_send_place(struct kdp_queue *queue, unsigned int count)
{
	return &queue->sends[count & (queue->send_ring - 1)];
}

/* A SEND completed, and with it all before it. */
static void kdp_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_send *send = container_of(wc->wr_cqe, struct kdp_send, cqe);
	struct kdp_queue *queue = kdp_wc_queue(wc);
	unsigned int tail = queue->send_tail, end;

	if (unlikely(wc->status != IB_WC_SUCCESS))
		return kdp_wc_error(queue, wc, "SEND");

	end = tail + ((unsigned int)(send - queue->sends - tail) & (queue->send_ring - 1)) + 1;
	for (; tail != end; tail++) {
		send = kdp_send_place(queue, tail);
		if (send->has_data)
			kdp_req_advance(send->req, KDP_REQ_SENT, &queue->ended);
	}
	/* pairs with kdp_send(): the places have been read */
	smp_store_release(&queue->send_tail, end);
}

/*
 * Post the chain. Returns how many commands are with the provider now, in @posted; the caller
 * tells them so when it has dropped the lock.
 */
static unsigned int kdp_send_post(struct kdp_queue *queue, struct kdp_req *posted[KDP_SEND_BATCH])
{
	struct ib_send_wr *chain = queue->send_chain;
	unsigned int n = 0, i;

	lockdep_assert_held(&queue->send_lock);
	if (!chain)
		return 0;
	if (queue->send_has_data ||
	    queue->send_head - queue->send_signalled >= queue->send_ring / 4) {
		queue->send_last->send_flags = IB_SEND_SIGNALED;
		queue->send_signalled = queue->send_head;
		queue->send_has_data = false;
	}
	for (i = queue->send_posted; i != queue->send_head; i++)
		posted[n++] = kdp_send_place(queue, i)->req;
	kdp_queue_count(queue, KDP_QS_COMMANDS, n);
	queue->send_posted = queue->send_head;
	queue->send_chain = NULL;

	/* part of it may be on its way: whatever fails, the drain ends the requests */
	if (unlikely(kdp_conn_post_send(&queue->conn, chain))) {
		kdp_ctrl_fail(queue->ctrl, "a command could not be posted");
		return 0;
	}
	return n;
}

static void kdp_send_chain(struct kdp_queue *queue, struct kdp_req *req)
{
	struct ib_send_wr *first = &req->send_wr;

	req->send_wr.next = NULL;
	if (req->how == KDP_MAP_MR) {
		req->reg_wr.wr.next = &req->send_wr;
		first = &req->reg_wr.wr;
	}
	if (queue->send_chain)
		queue->send_last->next = first;
	else
		queue->send_chain = first;
	queue->send_last = &req->send_wr;
}

/* Once it is certain that they go: a command that finds the ring full is mapped again. */
static void kdp_count_data(struct kdp_queue *queue, const struct kdp_req *req)
{
	if (req->how == KDP_MAP_INLINE)
		kdp_queue_count(queue, KDP_QS_INLINE, 1);
	if (req->region.region) {
		kdp_queue_count(queue, KDP_QS_REGION, 1);
		this_cpu_inc(*req->region.region->uses);
	}
}

/*
 * Send @rq's command, whose data are mapped; with @last, or soon, all that was chained.
 * Returns false, and does nothing, when the ring is full. From here on the request may
 * end. Context: ->queue_rq.
 */
bool kdp_send(struct kdp_queue *queue, struct request *rq, bool last)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq), *posted[KDP_SEND_BATCH];
	struct ib_device *ib = queue->conn.dev->ib;
	struct kdp_send *send;
	unsigned int n = 0, i;

	spin_lock(&queue->send_lock);
	/* pairs with kdp_send_done() */
	if (unlikely(queue->send_head - smp_load_acquire(&queue->send_tail) ==
		     queue->send_ring)) {
		spin_unlock(&queue->send_lock);
		return false;
	}
	send = kdp_send_place(queue, queue->send_head++);
	i = send - queue->sends;
	send->req = req;
	send->has_data = req->how == KDP_MAP_INLINE;
	queue->send_has_data |= send->has_data;
	kdp_count_data(queue, req);

	req->sge[0].addr = queue->capsules_dma + i * NVMF_SQE_SIZE;
	req->send_wr.wr_cqe = &send->cqe;
	ib_dma_sync_single_for_cpu(ib, req->sge[0].addr, NVMF_SQE_SIZE, DMA_TO_DEVICE);
	queue->capsules[i] = req->cmd;
	ib_dma_sync_single_for_device(ib, req->sge[0].addr, NVMF_SQE_SIZE, DMA_TO_DEVICE);

	blk_mq_start_request(rq);
	/* pairs with kdp_find_inflight(): what is to be known of the request is written */
	smp_store_release(&queue->inflight[rq->tag], req);
	kdp_send_chain(queue, req);
	if (last || queue->send_head - queue->send_posted == KDP_SEND_BATCH)
		n = kdp_send_post(queue, posted);
	spin_unlock(&queue->send_lock);

	for (i = 0; i < n; i++)
		kdp_req_advance(posted[i], KDP_REQ_POSTED, NULL);
	return true;
}

/* ->commit_rqs: blk-mq has no more for now. */
void kdp_send_commit(struct kdp_queue *queue)
{
	struct kdp_req *posted[KDP_SEND_BATCH];
	unsigned int n, i;

	spin_lock(&queue->send_lock);
	n = kdp_send_post(queue, posted);
	spin_unlock(&queue->send_lock);

	for (i = 0; i < n; i++)
		kdp_req_advance(posted[i], KDP_REQ_POSTED, NULL);
}

/* The queue is quiesced and drained: what was only chained never goes out. */
void kdp_send_drop(struct kdp_queue *queue)
{
	spin_lock(&queue->send_lock);
	queue->send_chain = NULL;
	queue->send_posted = queue->send_head;
	spin_unlock(&queue->send_lock);
}

/* Returns 0 or -ENOMEM; what there is then goes with kdp_send_free(). */
int kdp_send_alloc(struct kdp_queue *queue)
{
	unsigned int ring = kdp_send_ring(queue->depth), i;
	int err;

	spin_lock_init(&queue->send_lock);
	queue->send_ring = ring;
	queue->sends = kcalloc(ring, sizeof(*queue->sends), GFP_KERNEL);
	queue->capsules = kcalloc(ring, NVMF_SQE_SIZE, GFP_KERNEL);
	if (!queue->sends || !queue->capsules)
		return -ENOMEM;
	for (i = 0; i < ring; i++)
		queue->sends[i].cqe.done = kdp_send_done;
	err = kdp_dma_map(queue->conn.dev, queue->capsules, ring * NVMF_SQE_SIZE, DMA_TO_DEVICE,
			  &queue->capsules_dma);
	if (err)
		queue->capsules_dma = 0;
	return err;
}

void kdp_send_free(struct kdp_queue *queue)
{
	if (queue->capsules_dma)
		kdp_dma_unmap(queue->conn.dev, queue->capsules_dma,
			      queue->send_ring * NVMF_SQE_SIZE, DMA_TO_DEVICE);
	kfree(queue->capsules);
	kfree(queue->sends);
}
