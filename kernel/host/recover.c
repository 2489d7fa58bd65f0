// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens when a connection breaks: nothing is posted any more, every queue
 * hangs up and drains, and what was in flight fails. The controller stays, failed,
 * until it is disconnected.
 */
#include "host.h"

/*
 * A queue of @ctrl is no longer usable. Any context. The first call counts; what is
 * to be done is done by kdp_ctrl_fail_work().
 */
void kdp_ctrl_fail(struct kdp_ctrl *ctrl, const char *why)
{
	if (test_and_set_bit(KDP_CTRL_BROKEN, &ctrl->flags))
		return;
	dev_warn(&ctrl->dev, "connection broken: %s\n", why);
	kdp_ctrl_set_state(ctrl, KDP_STATE_FAILED);
	queue_work(kdp_wq, &ctrl->fail_work);
}

/* Submitters out of ->queue_rq, and none comes in, until unquiesce. */
static void kdp_ctrl_quiesce(struct kdp_ctrl *ctrl, bool quiesce)
{
	void (*fn)(struct request_queue *q) = quiesce ? blk_mq_quiesce_queue :
							blk_mq_unquiesce_queue;
	struct kdp_ns *ns;

	lockdep_assert_held(&ctrl->ns_lock);
	if (ctrl->admin_q)
		fn(ctrl->admin_q);
	if (ctrl->connect_q)
		fn(ctrl->connect_q);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		fn(ns->queue);
}

/*
 * Hang up all queues and end what is in flight on them with a path error. New
 * requests are refused by kdp_queue_accepts(): KDP_CTRL_BROKEN is set. The order
 * keeps every request's memory in place until the HCA is off it:
 * quiesce, drain, cancel, unquiesce.
 */
void kdp_ctrl_stop_queues(struct kdp_ctrl *ctrl)
{
	unsigned int i;

	mutex_lock(&ctrl->ns_lock);
	kdp_ctrl_quiesce(ctrl, true);
	for (i = 0; i <= ctrl->opts.nr_io_queues; i++)
		kdp_queue_stop(ctrl, &ctrl->queues[i]);
	if (ctrl->connect_q)
		blk_mq_tagset_busy_iter(&ctrl->io_set, kdp_cancel_request, ctrl);
	if (ctrl->admin_q)
		blk_mq_tagset_busy_iter(&ctrl->admin_set, kdp_cancel_request, ctrl);
	kdp_ctrl_quiesce(ctrl, false);
	mutex_unlock(&ctrl->ns_lock);
}

void kdp_ctrl_fail_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(work, struct kdp_ctrl, fail_work);

	kdp_ctrl_stop_queues(ctrl);
}
