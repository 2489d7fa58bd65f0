// SPDX-License-Identifier: GPL-2.0-only
/* Taking a controller down, from any state. */
#include "host.h"

/*
 * Take down whatever is up. The order: users of namespaces go first, their I/O being
 * finished; then keep-alive and the failure work, so that nothing of ours starts any
 * more; the controller is told; the queues hang up and drain, what is left of
 * commands is cancelled; and only then is memory given back.
 */
static void kdp_ctrl_teardown(struct kdp_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->lock);
	kdp_ctrl_cdev_del(ctrl);
	kdp_keep_alive_stop(ctrl);
	kdp_shutdown(ctrl);
	kdp_ctrl_drop_connection(ctrl);
	kdp_regions_end(ctrl);
	kdp_io_set_destroy(ctrl);
	kdp_admin_set_destroy(ctrl);
}

/* No recovery is under way when this returns, nor a first connect. None comes any more. */
static void kdp_ctrl_end_recovery(struct kdp_ctrl *ctrl)
{
	flush_work(&ctrl->fail_work);
	cancel_delayed_work_sync(&ctrl->fast_fail_work);
	cancel_delayed_work_sync(&ctrl->loss_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
	mutex_lock(&ctrl->lock);
	mutex_unlock(&ctrl->lock);
}

/*
 * Shut down in order and wait for the end; the caller has a reference. I/O in flight
 * finishes first where there is a connection, and fails where there is none. A connect or
 * reconnect that is under way is broken off. Returns false when somebody else did it,
 * who has finished then.
 */
bool kdp_ctrl_disconnect(struct kdp_ctrl *ctrl)
{
	enum kdp_ctrl_state before;

	if (!kdp_ctrl_begin_delete(ctrl, &before)) {
		wait_for_completion(&ctrl->gone);
		return false;
	}
	kdp_notify(ctrl, KDP_STATE_DELETING);
	if (before != KDP_STATE_LIVE)
		kdp_ctrl_break_off(ctrl);
	kdp_ctrl_end_recovery(ctrl);
	cancel_work_sync(&ctrl->scan_work);
	kdp_ctrl_stop_polling(ctrl);
	kdp_ns_remove_all(ctrl);

	mutex_lock(&ctrl->lock);
	kdp_ctrl_teardown(ctrl);
	mutex_unlock(&ctrl->lock);
	kdp_ctrl_unlist(ctrl);
	kdp_notify(ctrl, KDP_STATE_GONE);
	complete_all(&ctrl->gone);
	return true;
}

/*
 * Disconnect all controllers that use @ib, or all if it is NULL; returns when done. Which
 * device a connection uses that is just being made is known when that has ended.
 */
void kdp_ctrl_disconnect_all(const struct ib_device *ib)
{
	struct kdp_ctrl *ctrl;
	int next = 0;
	bool uses;

	while ((ctrl = kdp_ctrl_from(NULL, next))) {
		next = ctrl->instance + 1;
		uses = true;
		if (ib) {
			mutex_lock(&ctrl->lock);
			uses = kdp_ctrl_uses(ctrl, ib);
			mutex_unlock(&ctrl->lock);
		}
		if (uses)
			kdp_ctrl_disconnect(ctrl);
		kdp_ctrl_put(ctrl);
	}
}
