// SPDX-License-Identifier: GPL-2.0-only
/* Controllers: their list, names and references. */
#include <linux/blkdev.h>
#include <linux/idr.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "host.h"

static LIST_HEAD(kdp_ctrls);
static DEFINE_MUTEX(kdp_ctrls_lock);	/* kdp_ctrls */
static DEFINE_IDA(kdp_instances);

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
	kfree(ctrl->past);
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

static struct kdp_ctrl *kdp_ctrl_alloc(const struct kdp_options *opts)
{
	unsigned int nr = kdp_max_queues(opts), i;
	struct kdp_ctrl *ctrl;

	ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return NULL;
	ctrl->queues = kcalloc(nr, sizeof(*ctrl->queues), GFP_KERNEL);
	ctrl->past = kcalloc(nr, sizeof(*ctrl->past), GFP_KERNEL);
	if (!ctrl->queues || !ctrl->past) {
		kfree(ctrl->past);
		kfree(ctrl->queues);
		kfree(ctrl);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		ctrl->queues[i].ctrl = ctrl;
		ctrl->queues[i].qid = i;
	}
	ctrl->opts = *opts;
	ctrl->cntlid = NVMF_CNTLID_DYNAMIC;
	mutex_init(&ctrl->lock);
	mutex_init(&ctrl->stop_lock);
	mutex_init(&ctrl->regions_lock);
	mutex_init(&ctrl->scan_lock);
	mutex_init(&ctrl->ns_lock);
	spin_lock_init(&ctrl->state_lock);
	init_completion(&ctrl->gone);
	INIT_LIST_HEAD(&ctrl->namespaces);
	INIT_LIST_HEAD(&ctrl->regions);
	INIT_WORK(&ctrl->scan_work, kdp_scan_work);
	INIT_DELAYED_WORK(&ctrl->ka_work, kdp_keep_alive_work);
	INIT_DELAYED_WORK(&ctrl->aen_work, kdp_aen_work);
	kdp_recover_init(ctrl);
	return ctrl;
}

/*
 * A new controller with its name, in the list, with a reference for the caller, who
 * connects it. Returns an ERR_PTR with *@text set where there is something to say:
 * -EALREADY, -EEXIST, -ENOMEM.
 */
struct kdp_ctrl *kdp_ctrl_create(const struct kdp_options *opts, const char **text)
{
	struct kdp_ctrl *ctrl;
	int err;

	ctrl = kdp_ctrl_alloc(opts);
	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&kdp_ctrls_lock);
	if (!opts->duplicate && kdp_is_duplicate(opts)) {
		*text = "this host is connected to that subsystem at that address already";
		err = -EALREADY;
		goto free;
	}
	err = kdp_instance_get(opts->instance);
	if (err < 0) {
		if (err == -EEXIST)
			*text = "the name is taken by another controller";
		goto free;
	}
	ctrl->instance = err;
	get_net(ctrl->opts.net);
	err = kdp_ctrl_device_init(ctrl, kdp_ctrl_release);
	if (err) {
		mutex_unlock(&kdp_ctrls_lock);
		kdp_ctrl_put(ctrl);
		return ERR_PTR(err);
	}
	get_device(&ctrl->dev);		/* the list's */
	list_add_tail(&ctrl->entry, &kdp_ctrls);
	mutex_unlock(&kdp_ctrls_lock);
	return ctrl;

free:
	mutex_unlock(&kdp_ctrls_lock);
	kfree(ctrl->past);
	kfree(ctrl->queues);
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

/* @ctrl's lock is held. */
bool kdp_ctrl_uses(struct kdp_ctrl *ctrl, const struct ib_device *ib)
{
	unsigned int i;

	for (i = 0; i < kdp_max_queues(&ctrl->opts); i++) {
		const struct kdp_device *dev = ctrl->queues[i].conn.dev;

		if (dev && dev->ib == ib)
			return true;
	}
	return kdp_regions_use(ctrl, ib);
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
