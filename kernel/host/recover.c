// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens when a connection breaks, until there is a new one or none is wanted.
 *
 *   kdp_ctrl_fail()	any context: nothing is posted any more (KDP_CTRL_BROKEN)
 *   fail_work		every queue hangs up and drains; what was in flight is taken back,
 *			to be sent again, or fails
 *   reconnect_work	the connection is made anew, again and again, with growing waits
 *   fast_fail_work	after fast_io_fail_tmo: what waits fails, trying goes on
 *   loss_work		after ctrl_loss_tmo: it is given up, state failed
 *
 * A request is taken back only when the HCA is off its memory, and its response, should
 * it still come, finds no one: it ends once. Tag sets, and the requests in them, outlive
 * connections; the namespaces' queues are quiesced while I/O waits.
 *
 * Only reconnect_work takes ctrl->lock: the others can break off what it is doing.
 */
#include <linux/blk-mq.h>
#include <linux/random.h>

#include "host.h"

/* The wait after the first attempt in vain; the second is twice as long, and so on. */
#define KDP_RECONNECT_FIRST_MS	250

/* Nothing is to be posted any more. Any context. */
void kdp_ctrl_break_off(struct kdp_ctrl *ctrl)
{
	kdp_ctrl_break(ctrl);
	queue_work(kdp_wq, &ctrl->fail_work);
}

/* A queue of @ctrl is no longer usable. Any context. The first call counts. */
void kdp_ctrl_fail(struct kdp_ctrl *ctrl, const char *why)
{
	if (!kdp_ctrl_break(ctrl))
		return;
	WRITE_ONCE(ctrl->reason, why);
	dev_warn(&ctrl->dev, "connection broken: %s\n", why);
	queue_work(kdp_wq, &ctrl->fail_work);
}

/* Returns 0 when a new connection is being made, see kdp_ctrl_ask_reset(). Any context. */
int kdp_ctrl_reset(struct kdp_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->reason, "reset by request");
	return kdp_ctrl_ask_reset(ctrl);
}

/*
 * The same, and wait for the first attempt. Returns -ENETRESET when it was in vain; more
 * follow as after any break. May sleep, bounded by the timeouts of each step.
 */
int kdp_ctrl_reset_sync(struct kdp_ctrl *ctrl)
{
	int err = kdp_ctrl_reset(ctrl);

	if (err)
		return err;
	flush_work(&ctrl->fail_work);
	flush_delayed_work(&ctrl->reconnect_work);
	return kdp_ctrl_state(ctrl) == KDP_STATE_LIVE ? 0 : -ENETRESET;
}

/* Submitters out of ->queue_rq of @q, and none comes in, until unquiesce. */
static void kdp_quiesce(struct request_queue *q, bool quiesce)
{
	if (!q)
		return;
	if (quiesce)
		blk_mq_quiesce_queue(q);
	else
		blk_mq_unquiesce_queue(q);
}

static void kdp_ctrl_stop_io(struct kdp_ctrl *ctrl)
{
	struct kdp_ns *ns;

	lockdep_assert_held(&ctrl->ns_lock);
	if (ctrl->io_stopped)
		return;
	ctrl->io_stopped = true;
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		kdp_quiesce(ns->queue, true);
}

static void kdp_ctrl_start_io_locked(struct kdp_ctrl *ctrl)
{
	struct kdp_ns *ns;

	lockdep_assert_held(&ctrl->ns_lock);
	if (!ctrl->io_stopped)
		return;
	ctrl->io_stopped = false;
	list_for_each_entry(ns, &ctrl->namespaces, entry) {
		kdp_quiesce(ns->queue, false);
		blk_mq_kick_requeue_list(ns->queue);
	}
}

/* What waited comes to ->queue_rq: to be sent, or to fail. May sleep. */
void kdp_ctrl_start_io(struct kdp_ctrl *ctrl)
{
	mutex_lock(&ctrl->ns_lock);
	kdp_ctrl_start_io_locked(ctrl);
	mutex_unlock(&ctrl->ns_lock);
}

/*
 * @ns joins the others; I/O to it stops and starts with theirs. Not when the connection has
 * been made anew since it said who it is: then -ECONNRESET. May sleep.
 */
int kdp_ctrl_join_io(struct kdp_ctrl *ctrl, struct kdp_ns *ns)
{
	int err = 0;

	mutex_lock(&ctrl->ns_lock);
	if (ns->epoch == ctrl->ns_epoch) {
		list_add_tail(&ns->entry, &ctrl->namespaces);
		if (ctrl->io_stopped)
			kdp_quiesce(ns->queue, true);
	} else {
		err = -ECONNRESET;
	}
	mutex_unlock(&ctrl->ns_lock);
	return err;
}

/* Returns when each has been ended or taken back. */
static void kdp_cancel_all(struct kdp_ctrl *ctrl, struct blk_mq_tag_set *set)
{
	blk_mq_tagset_busy_iter(set, kdp_cancel_request, ctrl);
	blk_mq_tagset_wait_completed_request(set);
}

/*
 * Hang up all queues; end what is in flight on them, or take it back. KDP_CTRL_BROKEN
 * is set: nothing new is posted. The order keeps every request's memory in place until
 * the HCA is off it: quiesce, drain, cancel, unquiesce. May sleep.
 */
void kdp_ctrl_stop_queues(struct kdp_ctrl *ctrl)
{
	unsigned int i;

	mutex_lock(&ctrl->ns_lock);
	kdp_ctrl_stop_io(ctrl);
	kdp_quiesce(ctrl->connect_q, true);
	kdp_quiesce(ctrl->admin_q, true);
	for (i = 0; i < kdp_max_queues(&ctrl->opts); i++)
		kdp_queue_stop(ctrl, &ctrl->queues[i]);
	if (ctrl->connect_q)
		kdp_cancel_all(ctrl, &ctrl->io_set);
	if (ctrl->admin_q)
		kdp_cancel_all(ctrl, &ctrl->admin_set);
	kdp_quiesce(ctrl->admin_q, false);
	kdp_quiesce(ctrl->connect_q, false);
	if (!kdp_ctrl_io_waits(ctrl))
		kdp_ctrl_start_io_locked(ctrl);
	mutex_unlock(&ctrl->ns_lock);
}

static void kdp_ctrl_fail_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(work, struct kdp_ctrl, fail_work);
	enum kdp_ctrl_state state = kdp_ctrl_state(ctrl);

	kdp_ctrl_stop_queues(ctrl);
	if (state == KDP_STATE_FAILED)
		kdp_notify(ctrl, state);
	if (state != KDP_STATE_RESETTING)
		return;
	kdp_notify(ctrl, state);
	kdp_ctrl_queue_reconnect(ctrl, 0);
}

/* Everything of the present connection goes. ctrl->lock is held; may sleep. */
void kdp_ctrl_drop_connection(struct kdp_ctrl *ctrl)
{
	unsigned int i;

	lockdep_assert_held(&ctrl->lock);
	kdp_ctrl_break(ctrl);
	flush_work(&ctrl->fail_work);
	kdp_ctrl_stop_queues(ctrl);
	kdp_keep_alive_stop(ctrl);
	kdp_aen_stop(ctrl);
	for (i = 0; i < kdp_max_queues(&ctrl->opts); i++)
		kdp_queue_close(&ctrl->queues[i]);
}

/*
 * Many hosts lose their target at once, and must not all come back at once: somewhere
 * between half of the wait and the whole.
 */
static unsigned long kdp_reconnect_delay(const struct kdp_ctrl *ctrl)
{
	u32 most = ctrl->opts.reconnect_delay * MSEC_PER_SEC;
	u32 ms = min(most, (u32)KDP_RECONNECT_FIRST_MS << min(ctrl->attempts, 12U));

	return msecs_to_jiffies(ms / 2 + get_random_u32() % (ms / 2 + 1));
}

static void kdp_reconnected(struct kdp_ctrl *ctrl)
{
	dev_info(&ctrl->dev, "connected again, %u attempts in vain before\n", ctrl->attempts);
	ctrl->attempts = 0;
	WRITE_ONCE(ctrl->reconnects, ctrl->reconnects + 1);
	kdp_notify(ctrl, KDP_STATE_LIVE);
	kdp_ctrl_start_io(ctrl);
	kdp_ctrl_queue_scan(ctrl);
}

static void kdp_reconnect_failed(struct kdp_ctrl *ctrl)
{
	unsigned long delay = kdp_reconnect_delay(ctrl);

	kdp_ctrl_drop_connection(ctrl);
	ctrl->attempts++;
	if (!ctrl->opts.ctrl_loss_tmo && kdp_ctrl_give_up(ctrl)) {
		kdp_ctrl_break_off(ctrl);
		return;
	}
	dev_info_ratelimited(&ctrl->dev, "attempt %u to connect again: %s; the next in %u ms\n",
			     ctrl->attempts, ctrl->error_text ?: "failed",
			     jiffies_to_msecs(delay));
	kdp_ctrl_queue_reconnect(ctrl, delay);
}

static void kdp_reconnect_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(to_delayed_work(work), struct kdp_ctrl,
					     reconnect_work);

	mutex_lock(&ctrl->lock);
	if (kdp_ctrl_state(ctrl) == KDP_STATE_LIVE)
		goto unlock;
	kdp_ctrl_drop_connection(ctrl);
	if (!kdp_ctrl_begin(ctrl))
		goto unlock;
	kdp_notify(ctrl, KDP_STATE_CONNECTING);
	if (!kdp_ctrl_reconnect(ctrl) && kdp_ctrl_go_live(ctrl))
		kdp_reconnected(ctrl);
	else
		kdp_reconnect_failed(ctrl);
unlock:
	mutex_unlock(&ctrl->lock);
}

static void kdp_fast_fail_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(to_delayed_work(work), struct kdp_ctrl,
					     fast_fail_work);

	if (!kdp_ctrl_fail_fast(ctrl))
		return;
	dev_warn(&ctrl->dev, "no connection for %d s: I/O fails until there is one\n",
		 ctrl->opts.fast_io_fail_tmo);
	kdp_ctrl_start_io(ctrl);
}

/* What an attempt just does is broken off: an attempt may hang longer than the time allows. */
static void kdp_loss_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(to_delayed_work(work), struct kdp_ctrl, loss_work);

	if (!kdp_ctrl_give_up(ctrl))
		return;
	dev_warn(&ctrl->dev, "no connection for %d s: given up\n", ctrl->opts.ctrl_loss_tmo);
	kdp_ctrl_break_off(ctrl);
}

void kdp_recover_init(struct kdp_ctrl *ctrl)
{
	INIT_WORK(&ctrl->fail_work, kdp_ctrl_fail_work);
	INIT_DELAYED_WORK(&ctrl->reconnect_work, kdp_reconnect_work);
	INIT_DELAYED_WORK(&ctrl->fast_fail_work, kdp_fast_fail_work);
	INIT_DELAYED_WORK(&ctrl->loss_work, kdp_loss_work);
}
