// SPDX-License-Identifier: GPL-2.0-only
/* Controllers: their list, names, states and references. */
#include <linux/blkdev.h>
#include <linux/idr.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "host.h"

static LIST_HEAD(kdp_ctrls);
static DEFINE_MUTEX(kdp_ctrls_lock);	/* kdp_ctrls; taken inside a controller's lock */
static DEFINE_IDA(kdp_instances);

/* Which states may follow which, as a bit mask by the state that is left. */
static const u8 kdp_next_states[] = {
	[KDP_STATE_NEW]		= BIT(KDP_STATE_CONNECTING),
	[KDP_STATE_CONNECTING]	= BIT(KDP_STATE_LIVE) | BIT(KDP_STATE_FAILED) |
				  BIT(KDP_STATE_DELETING),
	[KDP_STATE_LIVE]	= BIT(KDP_STATE_FAILED) | BIT(KDP_STATE_DELETING),
	[KDP_STATE_FAILED]	= BIT(KDP_STATE_DELETING),
	[KDP_STATE_DELETING]	= 0,
};

/* Returns false, and changes nothing, when @state may not follow. Any context. */
bool kdp_ctrl_set_state(struct kdp_ctrl *ctrl, enum kdp_ctrl_state state)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	ok = kdp_next_states[ctrl->state] & BIT(state);
	if (ok)
		WRITE_ONCE(ctrl->state, state);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	return ok;
}

/* Note the first reason why a connect fails. Returns @error. */
int kdp_ctrl_error(struct kdp_ctrl *ctrl, int error, const char *text)
{
	if (!ctrl->error_text)
		ctrl->error_text = text;
	return error;
}

static void kdp_ctrl_release(struct device *dev)
{
	struct kdp_ctrl *ctrl = container_of(dev, struct kdp_ctrl, dev);

	if (ctrl->admin_q)
		blk_put_queue(ctrl->admin_q);
	ida_free(&kdp_instances, ctrl->instance);
	kdp_minor_free(dev);
	put_net(ctrl->opts.net);
	kfree(ctrl->queues);
	kfree(ctrl);
}

/* The initial network namespace sees all, the others their own. */
bool kdp_ctrl_visible(const struct kdp_ctrl *ctrl, const struct net *net)
{
	return net_eq(net, &init_net) || net_eq(net, ctrl->opts.net);
}

static bool kdp_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr && a4->sin_port == b4->sin_port;
	return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
	       a6->sin6_port == b6->sin6_port && a6->sin6_scope_id == b6->sin6_scope_id;
}

static bool kdp_is_duplicate(const struct kdp_options *opts)
{
	const struct kdp_ctrl *ctrl;

	lockdep_assert_held(&kdp_ctrls_lock);
	list_for_each_entry(ctrl, &kdp_ctrls, entry) {
		if (net_eq(ctrl->opts.net, opts->net) &&
		    !strcmp(ctrl->opts.subnqn, opts->subnqn) &&
		    !strcmp(ctrl->opts.hostnqn, opts->hostnqn) &&
		    kdp_same_address(&ctrl->opts.traddr, &opts->traddr))
			return true;
	}
	return false;
}

static int kdp_instance_get(int wanted)
{
	int id;

	if (wanted < 0)
		return ida_alloc_max(&kdp_instances, KDP_MAX_INSTANCE, GFP_KERNEL);
	id = ida_alloc_range(&kdp_instances, wanted, wanted, GFP_KERNEL);
	return id == -ENOSPC ? -EEXIST : id;
}

/*
 * A new controller with its name, in the list, its lock held: the caller connects
 * it, then unlocks. Returns an ERR_PTR with *@text set where there is something to
 * say: -EALREADY, -EEXIST, -ENOMEM.
 */
struct kdp_ctrl *kdp_ctrl_create(const struct kdp_options *opts, const char **text)
{
	struct kdp_ctrl *ctrl;
	int err;

	ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	ctrl->queues = kcalloc(opts->nr_io_queues + 1, sizeof(*ctrl->queues), GFP_KERNEL);
	if (!ctrl->queues) {
		err = -ENOMEM;
		goto free;
	}
	ctrl->opts = *opts;
	ctrl->cntlid = NVMF_CNTLID_DYNAMIC;
	mutex_init(&ctrl->lock);
	mutex_init(&ctrl->stop_lock);
	mutex_init(&ctrl->ns_lock);
	spin_lock_init(&ctrl->state_lock);
	INIT_LIST_HEAD(&ctrl->namespaces);
	INIT_WORK(&ctrl->fail_work, kdp_ctrl_fail_work);
	INIT_DELAYED_WORK(&ctrl->ka_work, kdp_keep_alive_work);

	mutex_lock(&ctrl->lock);
	mutex_lock(&kdp_ctrls_lock);
	if (!opts->duplicate && kdp_is_duplicate(opts)) {
		*text = "this host is connected to that subsystem at that address already";
		err = -EALREADY;
		goto unlock;
	}
	err = kdp_instance_get(opts->instance);
	if (err < 0) {
		if (err == -EEXIST)
			*text = "the name is taken by another controller";
		goto unlock;
	}
	ctrl->instance = err;
	get_net(ctrl->opts.net);
	err = kdp_ctrl_device_init(ctrl, kdp_ctrl_release);
	if (err) {
		mutex_unlock(&kdp_ctrls_lock);
		mutex_unlock(&ctrl->lock);
		kdp_ctrl_put(ctrl);
		return ERR_PTR(err);
	}
	list_add_tail(&ctrl->entry, &kdp_ctrls);
	mutex_unlock(&kdp_ctrls_lock);
	return ctrl;

unlock:
	mutex_unlock(&kdp_ctrls_lock);
	mutex_unlock(&ctrl->lock);
	kfree(ctrl->queues);
free:
	kfree(ctrl);
	return ERR_PTR(err);
}

/* Out of the list; drops the list's reference. Does nothing the second time. */
void kdp_ctrl_unlist(struct kdp_ctrl *ctrl)
{
	bool listed;

	mutex_lock(&kdp_ctrls_lock);
	listed = !list_empty(&ctrl->entry);
	list_del_init(&ctrl->entry);
	mutex_unlock(&kdp_ctrls_lock);
	if (listed)
		kdp_ctrl_put(ctrl);
}

/*
 * Shut down in order and wait for the end; the caller has a reference. A connect in
 * progress is waited for. Returns false when somebody else did it first.
 */
bool kdp_ctrl_disconnect(struct kdp_ctrl *ctrl)
{
	bool mine;

	mutex_lock(&ctrl->lock);
	mine = kdp_ctrl_set_state(ctrl, KDP_STATE_DELETING);
	if (mine)
		kdp_ctrl_teardown(ctrl);
	mutex_unlock(&ctrl->lock);
	if (mine)
		kdp_ctrl_unlist(ctrl);
	return mine;
}

static bool kdp_ctrl_uses(const struct kdp_ctrl *ctrl, const struct ib_device *ib)
{
	unsigned int i;

	for (i = 0; i <= ctrl->opts.nr_io_queues; i++) {
		const struct kdp_device *dev = ctrl->queues[i].conn.dev;

		if (dev && dev->ib == ib)
			return true;
	}
	return false;
}

/*
 * The controller of the lowest number from @instance on that @net sees (NULL: any net),
 * with a reference; NULL at the end.
 */
struct kdp_ctrl *kdp_ctrl_from(struct net *net, int instance)
{
	struct kdp_ctrl *ctrl, *found = NULL;

	mutex_lock(&kdp_ctrls_lock);
	list_for_each_entry(ctrl, &kdp_ctrls, entry) {
		if (ctrl->instance < instance || (net && !kdp_ctrl_visible(ctrl, net)))
			continue;
		if (!found || ctrl->instance < found->instance)
			found = ctrl;
	}
	if (found)
		get_device(&found->dev);
	mutex_unlock(&kdp_ctrls_lock);
	return found;
}

/* Returns a reference, or NULL. */
struct kdp_ctrl *kdp_ctrl_find(struct net *net, int instance)
{
	struct kdp_ctrl *ctrl = kdp_ctrl_from(net, instance);

	if (ctrl && ctrl->instance != instance) {
		kdp_ctrl_put(ctrl);
		ctrl = NULL;
	}
	return ctrl;
}

/* Disconnect all controllers that use @ib, or all if it is NULL; returns when done. */
void kdp_ctrl_disconnect_all(const struct ib_device *ib)
{
	struct kdp_ctrl *ctrl;
	int next = 0;
	bool uses;

	while ((ctrl = kdp_ctrl_from(NULL, next))) {
		next = ctrl->instance + 1;
		mutex_lock(&ctrl->lock);	/* a connect in progress ends first */
		uses = !ib || kdp_ctrl_uses(ctrl, ib);
		mutex_unlock(&ctrl->lock);
		if (uses)
			kdp_ctrl_disconnect(ctrl);
		kdp_ctrl_put(ctrl);
	}
}
