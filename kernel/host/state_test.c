// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of state.c, included below: which state follows which, and what is queued then. */
#include <kunit/test.h>
#include <linux/module.h>

#include "host.h"

struct workqueue_struct *kdp_wq;
struct workqueue_struct *kdp_connect_wq;
struct workqueue_struct *kdp_scan_wq;

#include "state.c"

#define ALL_STATES	(KDP_STATE_GONE + 1)

struct state_world {
	struct kdp_ctrl	ctrl;
	atomic_t	runs[5];	/* of each work, in the order of state_world_init() */
};

enum which { FAIL, RECONNECT, FAST_FAIL, LOSS, SCAN };

static void count_run(struct kdp_ctrl *ctrl, enum which which)
{
	atomic_inc(&container_of(ctrl, struct state_world, ctrl)->runs[which]);
}

static void fail_runs(struct work_struct *work)
{
	count_run(container_of(work, struct kdp_ctrl, fail_work), FAIL);
}

static void reconnect_runs(struct work_struct *work)
{
	count_run(container_of(to_delayed_work(work), struct kdp_ctrl, reconnect_work), RECONNECT);
}

static void fast_fail_runs(struct work_struct *work)
{
	count_run(container_of(to_delayed_work(work), struct kdp_ctrl, fast_fail_work), FAST_FAIL);
}

static void loss_runs(struct work_struct *work)
{
	count_run(container_of(to_delayed_work(work), struct kdp_ctrl, loss_work), LOSS);
}

static void scan_runs(struct work_struct *work)
{
	count_run(container_of(work, struct kdp_ctrl, scan_work), SCAN);
}

static int state_world_init(struct kunit *test)
{
	struct state_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	test->priv = w;
	kdp_wq = alloc_workqueue("kdp_test", 0, 0);
	KUNIT_ASSERT_NOT_NULL(test, kdp_wq);
	kdp_connect_wq = kdp_wq;
	kdp_scan_wq = kdp_wq;
	spin_lock_init(&w->ctrl.state_lock);
	INIT_WORK(&w->ctrl.fail_work, fail_runs);
	INIT_DELAYED_WORK(&w->ctrl.reconnect_work, reconnect_runs);
	INIT_DELAYED_WORK(&w->ctrl.fast_fail_work, fast_fail_runs);
	INIT_DELAYED_WORK(&w->ctrl.loss_work, loss_runs);
	INIT_WORK(&w->ctrl.scan_work, scan_runs);
	w->ctrl.opts.ctrl_loss_tmo = 1000;
	w->ctrl.opts.fast_io_fail_tmo = 500;
	return 0;
}

static void state_world_exit(struct kunit *test)
{
	struct state_world *w = test->priv;

	if (!w || !kdp_wq)
		return;
	cancel_work_sync(&w->ctrl.fail_work);
	cancel_work_sync(&w->ctrl.scan_work);
	cancel_delayed_work_sync(&w->ctrl.reconnect_work);
	cancel_delayed_work_sync(&w->ctrl.fast_fail_work);
	cancel_delayed_work_sync(&w->ctrl.loss_work);
	destroy_workqueue(kdp_wq);
	kdp_wq = NULL;
}

static struct kdp_ctrl *in_state(struct kunit *test, enum kdp_ctrl_state state)
{
	struct state_world *w = test->priv;

	w->ctrl.state = state;
	w->ctrl.flags = 0;
	w->ctrl.lost_at = jiffies;
	return &w->ctrl;
}

/* What of @which has run until now. */
static int runs(struct kunit *test, enum which which)
{
	struct state_world *w = test->priv;

	flush_workqueue(kdp_wq);
	return atomic_read(&w->runs[which]);
}

static void begins_unless_it_stands_or_goes(struct kunit *test)
{
	for (u32 state = 0; state < ALL_STATES; state++) {
		struct kdp_ctrl *ctrl = in_state(test, state);
		bool may = state == KDP_STATE_NEW || state == KDP_STATE_RESETTING ||
			   state == KDP_STATE_CONNECTING;

		set_bit(KDP_CTRL_BROKEN, &ctrl->flags);
		KUNIT_EXPECT_EQ(test, kdp_ctrl_begin(ctrl), may);
		KUNIT_EXPECT_EQ(test, ctrl->state, may ? KDP_STATE_CONNECTING : state);
		KUNIT_EXPECT_EQ(test, test_bit(KDP_CTRL_BROKEN, &ctrl->flags), !may);
	}
}

static void goes_live_only_unbroken(struct kunit *test)
{
	for (u32 state = 0; state < ALL_STATES; state++) {
		for (int broken = 0; broken < 2; broken++) {
			struct kdp_ctrl *ctrl = in_state(test, state);
			bool may = state == KDP_STATE_CONNECTING && !broken;

			if (broken)
				set_bit(KDP_CTRL_BROKEN, &ctrl->flags);
			set_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags);
			KUNIT_EXPECT_EQ(test, kdp_ctrl_go_live(ctrl), may);
			KUNIT_EXPECT_EQ(test, ctrl->state, may ? KDP_STATE_LIVE : state);
			KUNIT_EXPECT_EQ(test, test_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags), !may);
		}
	}
}

static void breaks_once(struct kunit *test)
{
	struct kdp_ctrl *ctrl = in_state(test, KDP_STATE_LIVE);

	KUNIT_EXPECT_TRUE(test, kdp_ctrl_break(ctrl));
	KUNIT_EXPECT_EQ(test, ctrl->state, KDP_STATE_RESETTING);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&ctrl->loss_work));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&ctrl->fast_fail_work));
	KUNIT_EXPECT_FALSE(test, kdp_ctrl_break(ctrl));

	/* back again: no timer runs on */
	KUNIT_ASSERT_TRUE(test, kdp_ctrl_begin(ctrl));
	KUNIT_ASSERT_TRUE(test, kdp_ctrl_go_live(ctrl));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->loss_work));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->fast_fail_work));
	KUNIT_EXPECT_TRUE(test, kdp_ctrl_break(ctrl));
}

static void break_leaves_other_states(struct kunit *test)
{
	for (u32 state = 0; state < ALL_STATES; state++) {
		struct kdp_ctrl *ctrl = in_state(test, state);

		if (state == KDP_STATE_LIVE)
			continue;
		KUNIT_EXPECT_TRUE(test, kdp_ctrl_break(ctrl));
		KUNIT_EXPECT_EQ(test, ctrl->state, state);
		KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->loss_work));
	}
}

static void without_recovery_it_fails_at_once(struct kunit *test)
{
	struct kdp_ctrl *ctrl = in_state(test, KDP_STATE_LIVE);

	ctrl->opts.ctrl_loss_tmo = 0;
	KUNIT_EXPECT_TRUE(test, kdp_ctrl_break(ctrl));
	KUNIT_EXPECT_EQ(test, ctrl->state, KDP_STATE_FAILED);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->loss_work));

	/* who asks gets one attempt all the same */
	KUNIT_EXPECT_EQ(test, kdp_ctrl_ask_reset(ctrl), 0);
	KUNIT_EXPECT_EQ(test, ctrl->state, KDP_STATE_RESETTING);
	KUNIT_EXPECT_EQ(test, runs(test, FAIL), 1);
	KUNIT_EXPECT_TRUE(test, kdp_ctrl_give_up(ctrl));
}

static void without_timeouts_there_are_no_timers(struct kunit *test)
{
	struct kdp_ctrl *ctrl = in_state(test, KDP_STATE_LIVE);

	ctrl->opts.ctrl_loss_tmo = -1;
	ctrl->opts.fast_io_fail_tmo = -1;
	KUNIT_EXPECT_TRUE(test, kdp_ctrl_break(ctrl));
	KUNIT_EXPECT_EQ(test, ctrl->state, KDP_STATE_RESETTING);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->loss_work));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->fast_fail_work));
}

/* A timer's work that comes late must not end what began in between. */
static void stale_timers_do_nothing(struct kunit *test)
{
	for (u32 state = 0; state < ALL_STATES; state++) {
		struct kdp_ctrl *ctrl = in_state(test, state);
		bool lost = state == KDP_STATE_RESETTING || state == KDP_STATE_CONNECTING;

		KUNIT_EXPECT_FALSE(test, kdp_ctrl_fail_fast(ctrl));
		KUNIT_EXPECT_FALSE(test, kdp_ctrl_give_up(ctrl));
		ctrl->lost_at = jiffies - 500 * HZ;
		KUNIT_EXPECT_EQ(test, kdp_ctrl_fail_fast(ctrl), lost);
		KUNIT_EXPECT_FALSE(test, kdp_ctrl_give_up(ctrl));
		KUNIT_EXPECT_EQ(test, ctrl->state, state);
		ctrl->lost_at = jiffies - 1000 * HZ;
		KUNIT_EXPECT_EQ(test, kdp_ctrl_give_up(ctrl), lost);
		KUNIT_EXPECT_EQ(test, ctrl->state, lost ? KDP_STATE_FAILED : state);
	}
}

static void reset_by_state(struct kunit *test)
{
	for (u32 state = 0; state < ALL_STATES; state++) {
		struct kdp_ctrl *ctrl = in_state(test, state);
		int fails = runs(test, FAIL), tries = runs(test, RECONNECT);
		bool stands = state == KDP_STATE_LIVE || state == KDP_STATE_FAILED;
		bool tried = state == KDP_STATE_RESETTING || state == KDP_STATE_CONNECTING;

		set_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags);
		KUNIT_EXPECT_EQ(test, kdp_ctrl_ask_reset(ctrl), stands || tried ? 0 : -ENODEV);
		KUNIT_EXPECT_EQ(test, ctrl->state, stands ? KDP_STATE_RESETTING : state);
		KUNIT_EXPECT_EQ(test, test_bit(KDP_CTRL_BROKEN, &ctrl->flags), stands);
		KUNIT_EXPECT_EQ(test, test_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags), !stands);
		KUNIT_EXPECT_EQ(test, runs(test, FAIL), fails + stands);
		KUNIT_EXPECT_EQ(test, runs(test, RECONNECT), tries + tried);
	}
}

static void nothing_is_queued_for_one_that_goes(struct kunit *test)
{
	enum kdp_ctrl_state before;

	for (u32 state = 0; state < ALL_STATES; state++) {
		struct kdp_ctrl *ctrl = in_state(test, state);
		int tries, scans;

		KUNIT_EXPECT_EQ(test, kdp_ctrl_begin_delete(ctrl, &before),
				state != KDP_STATE_DELETING);
		KUNIT_EXPECT_EQ(test, before, state);
		KUNIT_EXPECT_EQ(test, ctrl->state, KDP_STATE_DELETING);
		tries = runs(test, RECONNECT);
		scans = runs(test, SCAN);
		kdp_ctrl_queue_reconnect(ctrl, 0);
		kdp_ctrl_queue_scan(ctrl);
		KUNIT_EXPECT_TRUE(test, kdp_ctrl_break(ctrl));
		KUNIT_EXPECT_EQ(test, kdp_ctrl_ask_reset(ctrl), -ENODEV);
		KUNIT_EXPECT_FALSE(test, kdp_ctrl_begin(ctrl));
		KUNIT_EXPECT_EQ(test, runs(test, RECONNECT), tries);
		KUNIT_EXPECT_EQ(test, runs(test, SCAN), scans);
		KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ctrl->loss_work));
	}
}

static void work_is_queued_where_it_is_called_for(struct kunit *test)
{
	for (u32 state = 0; state < ALL_STATES; state++) {
		struct kdp_ctrl *ctrl = in_state(test, state);
		int tries = runs(test, RECONNECT), scans = runs(test, SCAN);
		bool lost = state == KDP_STATE_RESETTING || state == KDP_STATE_CONNECTING;

		kdp_ctrl_queue_reconnect(ctrl, 0);
		kdp_ctrl_queue_scan(ctrl);
		KUNIT_EXPECT_EQ(test, runs(test, RECONNECT), tries + lost);
		KUNIT_EXPECT_EQ(test, runs(test, SCAN), scans + (state == KDP_STATE_LIVE));
	}
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(begins_unless_it_stands_or_goes),
	KUNIT_CASE(goes_live_only_unbroken),
	KUNIT_CASE(breaks_once),
	KUNIT_CASE(break_leaves_other_states),
	KUNIT_CASE(without_recovery_it_fails_at_once),
	KUNIT_CASE(without_timeouts_there_are_no_timers),
	KUNIT_CASE(stale_timers_do_nothing),
	KUNIT_CASE(reset_by_state),
	KUNIT_CASE(nothing_is_queued_for_one_that_goes),
	KUNIT_CASE(work_is_queued_where_it_is_called_for),
	{}
};

static struct kunit_suite state_suite = {
	.name		= "kdp_state",
	.init		= state_world_init,
	.exit		= state_world_exit,
	.test_cases	= state_cases,
};

kunit_test_suite(state_suite);
