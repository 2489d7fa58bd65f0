// SPDX-License-Identifier: GPL-2.0-only
/* Who takes the completions of a controller's queues; polling by who waits. */
#include <linux/blkdev.h>

#include "host.h"

static const enum kdp_cq_mode kdp_modes[] = {
	[KDP_MODE_THREAD]	= KDP_CQ_THREAD,
	[KDP_MODE_EVENT]	= KDP_CQ_EVENT,
	[KDP_MODE_CALLER]	= KDP_CQ_CALLER,
};

/* @attr is one of enum kdp_cq_mode_attr. */
enum kdp_cq_mode kdp_mode_of_attr(u32 attr)
{
	return kdp_modes[attr];
}

u32 kdp_mode_attr(enum kdp_cq_mode mode)
{
	switch (mode) {
	case KDP_CQ_THREAD:
		return KDP_MODE_THREAD;
	case KDP_CQ_EVENT:
		return KDP_MODE_EVENT;
	default:
		return KDP_MODE_CALLER;
	}
}

/* In which mode queue @qid is to be opened. */
enum kdp_cq_mode kdp_queue_mode(const struct kdp_ctrl *ctrl, u16 qid)
{
	return kdp_queue_is_polled(ctrl, qid) ? KDP_CQ_POLLED : ctrl->opts.cq_mode;
}

/* One that has hung up stays as it is; opening it again takes the new mode. */
static int kdp_queue_set_mode(struct kdp_queue *queue, enum kdp_cq_mode mode, s32 spin_us)
{
	struct kdp_ctrl *ctrl = queue->ctrl;
	int err = 0;

	/* hanging up changes the mode as well */
	mutex_lock(&ctrl->stop_lock);
	if (test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags))
		err = kdp_conn_set_mode(&queue->conn, mode, spin_us);
	mutex_unlock(&ctrl->stop_lock);
	return err;
}

static int kdp_set_first_queues(struct kdp_ctrl *ctrl, unsigned int nr, enum kdp_cq_mode mode,
				s32 spin_us, unsigned int *done)
{
	unsigned int qid;
	int err = 0;

	for (qid = 0; qid < nr && !err; qid++)
		if (!kdp_queue_is_polled(ctrl, qid))
			err = kdp_queue_set_mode(&ctrl->queues[qid], mode, spin_us);
	*done = qid;
	return err;
}

/*
 * The admin queue and the I/O queues, but for the polled ones, are served in that mode from
 * now on, also after a reconnect. I/O goes on meanwhile. ctrl->lock is held; may sleep. On
 * failure all is as it was: -ENOMEM, -EINTR.
 */
int kdp_ctrl_set_modes(struct kdp_ctrl *ctrl, enum kdp_cq_mode mode, s32 spin_us)
{
	unsigned int done;
	int err;

	lockdep_assert_held(&ctrl->lock);
	err = kdp_set_first_queues(ctrl, ctrl->nr_io_queues + 1, mode, spin_us, &done);
	if (err) {
		if (kdp_set_first_queues(ctrl, done, ctrl->opts.cq_mode, ctrl->opts.spin_us, &done))
			dev_warn(&ctrl->dev, "some queues are left in the new completion mode\n");
		return err;
	}
	ctrl->opts.cq_mode = mode;
	ctrl->opts.spin_us = spin_us;
	return 0;
}

/*
 * Before the disks go, which waits for I/O in flight: nobody has to poll for it any more.
 * May sleep. Nobody makes a connection meanwhile.
 */
void kdp_ctrl_stop_polling(struct kdp_ctrl *ctrl)
{
	unsigned int qid;

	/* hanging up changes the mode as well */
	mutex_lock(&ctrl->stop_lock);
	for (qid = 1; qid <= ctrl->nr_io_queues; qid++)
		if (test_bit(KDP_CONN_ESTABLISHED, &ctrl->queues[qid].conn.flags))
			kdp_conn_stop_polling(&ctrl->queues[qid].conn);
	mutex_unlock(&ctrl->stop_lock);
}

/* ->poll: requests end as they do elsewhere, in batches of the queue's own. */
int kdp_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *batch)
{
	struct kdp_queue *queue = hctx->driver_data;

	return max(kdp_conn_poll(&queue->conn), 0);
}

/*
 * A command's time is over. On a polled queue it may be that nobody has polled: is it through
 * when somebody does? Context: ->timeout.
 */
bool kdp_poll_late(struct request *rq)
{
	struct kdp_queue *queue = rq->mq_hctx->driver_data;
	int n;

	if (rq->mq_hctx->type != HCTX_TYPE_POLL)
		return false;
	do {
		n = kdp_conn_poll(&queue->conn);
		cpu_relax();
	} while (n && blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT);	/* -EBUSY: somebody else does */
	return blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT;
}
