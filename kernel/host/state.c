// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a controller, and who may change them.
 *
 *   new → connecting → live → resetting → connecting → live …
 *                        │        │           │
 *                        └────────┴───────────┴→ failed → resetting … (somebody asks)
 *   any → deleting
 *
 * A state says what is to become of the controller; KDP_CTRL_BROKEN says whether its present
 * connection can be used. Both change together, under state_lock. Work that a state
 * calls for is queued under that lock too: so that, once a controller is deleting, none
 * comes after what has been cancelled.
 *
 * Any context, unless something else is said.
 */
#include "host.h"

static bool kdp_ctrl_in(const struct kdp_ctrl *ctrl, unsigned int states)
{
	lockdep_assert_held(&ctrl->state_lock);
	return states & BIT(ctrl->state);
}

#define KDP_RECOVERING	(BIT(KDP_STATE_RESETTING) | BIT(KDP_STATE_CONNECTING))

/* There is no connection from now on: how long will one be waited for? */
static void kdp_ctrl_lost(struct kdp_ctrl *ctrl)
{
	const struct kdp_options *opts = &ctrl->opts;

	lockdep_assert_held(&ctrl->state_lock);
	WRITE_ONCE(ctrl->state, KDP_STATE_RESETTING);
	ctrl->lost_at = jiffies;
	if (opts->fast_io_fail_tmo >= 0)
		mod_delayed_work(kdp_wq, &ctrl->fast_fail_work, opts->fast_io_fail_tmo * HZ);
	if (opts->ctrl_loss_tmo > 0)
		mod_delayed_work(kdp_wq, &ctrl->loss_work, opts->ctrl_loss_tmo * HZ);
}

/* A timer's work may begin late: is there still no connection, and for so long? */
static bool kdp_ctrl_lost_for(const struct kdp_ctrl *ctrl, int seconds)
{
	return kdp_ctrl_in(ctrl, KDP_RECOVERING) &&
	       time_after_eq(jiffies, ctrl->lost_at + seconds * HZ);
}

/* Connect, from the beginning: what is posted from now on goes to a new connection. */
bool kdp_ctrl_begin(struct kdp_ctrl *ctrl)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	ok = kdp_ctrl_in(ctrl, KDP_RECOVERING | BIT(KDP_STATE_NEW));
	if (ok) {
		WRITE_ONCE(ctrl->state, KDP_STATE_CONNECTING);
		clear_bit(KDP_CTRL_BROKEN, &ctrl->flags);
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return ok;
}

/* False when the connection broke meanwhile, or nobody wants it any more. */
bool kdp_ctrl_go_live(struct kdp_ctrl *ctrl)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	ok = kdp_ctrl_in(ctrl, BIT(KDP_STATE_CONNECTING)) &&
	     !test_bit(KDP_CTRL_BROKEN, &ctrl->flags);
	if (ok) {
		WRITE_ONCE(ctrl->state, KDP_STATE_LIVE);
		clear_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags);
		clear_bit(KDP_CTRL_ASKED, &ctrl->flags);
		cancel_delayed_work(&ctrl->fast_fail_work);
		cancel_delayed_work(&ctrl->loss_work);
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return ok;
}

/* fast_io_fail_tmo is over: does I/O fail from now on? */
bool kdp_ctrl_fail_fast(struct kdp_ctrl *ctrl)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	ok = kdp_ctrl_lost_for(ctrl, ctrl->opts.fast_io_fail_tmo);
	if (ok)
		set_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return ok;
}

/* ctrl_loss_tmo is over: is it given up? The caller breaks off what is under way. */
bool kdp_ctrl_give_up(struct kdp_ctrl *ctrl)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	ok = kdp_ctrl_lost_for(ctrl, ctrl->opts.ctrl_loss_tmo);
	if (ok)
		WRITE_ONCE(ctrl->state, KDP_STATE_FAILED);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return ok;
}

/* False when somebody else takes it down already. */
bool kdp_ctrl_begin_delete(struct kdp_ctrl *ctrl, enum kdp_ctrl_state *before)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	*before = ctrl->state;
	WRITE_ONCE(ctrl->state, KDP_STATE_DELETING);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return *before != KDP_STATE_DELETING;
}

/*
 * The connection cannot be used any more. Returns whether that is news: then the caller
 * queues fail_work.
 */
bool kdp_ctrl_break(struct kdp_ctrl *ctrl)
{
	unsigned long flags;
	bool news;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	news = !test_and_set_bit(KDP_CTRL_BROKEN, &ctrl->flags);
	if (news && kdp_ctrl_in(ctrl, BIT(KDP_STATE_LIVE))) {
		if (ctrl->opts.ctrl_loss_tmo)
			kdp_ctrl_lost(ctrl);
		else
			WRITE_ONCE(ctrl->state, KDP_STATE_FAILED);
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return news;
}

/*
 * Somebody wants a new connection, also where trying was given up. Returns 0, or -ENODEV
 * when it is new or goes.
 */
int kdp_ctrl_ask_reset(struct kdp_ctrl *ctrl)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	switch (ctrl->state) {
	case KDP_STATE_LIVE:
	case KDP_STATE_FAILED:
		set_bit(KDP_CTRL_ASKED, &ctrl->flags);
		set_bit(KDP_CTRL_BROKEN, &ctrl->flags);
		clear_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags);
		kdp_ctrl_lost(ctrl);
		queue_work(kdp_wq, &ctrl->fail_work);
		break;
	case KDP_STATE_RESETTING:
	case KDP_STATE_CONNECTING:
		mod_delayed_work(kdp_connect_wq, &ctrl->reconnect_work, 0);
		break;
	default:
		err = -ENODEV;
		break;
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return err;
}

void kdp_ctrl_queue_reconnect(struct kdp_ctrl *ctrl, unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (kdp_ctrl_in(ctrl, KDP_RECOVERING))
		mod_delayed_work(kdp_connect_wq, &ctrl->reconnect_work, delay);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

/* The namespaces may be others now. */
void kdp_ctrl_queue_scan(struct kdp_ctrl *ctrl)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (kdp_ctrl_in(ctrl, BIT(KDP_STATE_LIVE)))
		queue_work(kdp_scan_wq, &ctrl->scan_work);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

/*
 * A command of a user is sent at most once, and only he knows whether it may be sent
 * again: it does not wait for a connection.
 */
int kdp_check_live(const struct kdp_ctrl *ctrl)
{
	switch (kdp_ctrl_state(ctrl)) {
	case KDP_STATE_LIVE:
		return 0;
	case KDP_STATE_RESETTING:
	case KDP_STATE_CONNECTING:
		return -EAGAIN;
	default:
		return -ENODEV;
	}
}
