// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who a namespace is. Its number says little: behind it may stand another one tomorrow, at
 * a target that was set up anew while we were not connected. So each namespace is asked
 * again after every connect and before any I/O goes out, and only one with the same
 * identifiers and block size lives on. One that has no identifier at all can be told from
 * another by its capacity alone (nvmf_ns_same()).
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "host.h"

/* A controller that cannot say now is asked so often, with a pause between. */
#define KDP_IDENTIFY_TRIES	3
#define KDP_IDENTIFY_PAUSE_MS	100

/* Would it give that status again? Not all controllers say so by DNR. */
static bool kdp_status_is_final(int status)
{
	switch (status & NVMF_SC_MASK) {
	case NVMF_SC_INVALID_OPCODE:
	case NVMF_SC_INVALID_FIELD:
	case NVMF_SC_INVALID_NS:
		return true;
	default:
		return status & NVMF_SC_DNR;
	}
}

/*
 * Like kdp_identify(), but what is negative is -ENOMEM or else the connection's fault, and
 * says nothing of the namespace.
 */
static int kdp_ask(struct kdp_ctrl *ctrl, u8 cns, u32 nsid, void *data)
{
	int err = kdp_identify(ctrl, cns, nsid, data);

	return err >= 0 || err == -ENOMEM ? err : -ECONNRESET;
}

/* The list is optional: without it, or with one that makes no sense, it tells nothing. */
static int kdp_ns_ask_descriptors(struct kdp_ctrl *ctrl, u32 nsid, struct nvmf_ns_info *info,
				  void *data)
{
	int err = kdp_ask(ctrl, NVMF_CNS_NS_DESCRIPTORS, nsid, data);

	if (err)
		return err > 0 && kdp_status_is_final(err) ? 0 : err;
	err = nvmf_ns_descriptors_parse(data, info);
	if (err != -EPROTO)
		return err;
	dev_warn_ratelimited(&ctrl->dev, "namespace %u: its identifiers make no sense\n", nsid);
	return 0;
}

/*
 * What stands behind @nsid now. Returns 0; an NVMe status (positive) when the controller
 * cannot say now; -ECONNRESET or -ENOMEM, which say nothing of the namespace either;
 * -ENODEV where there is none; another errno for one that cannot be used. May sleep.
 */
int kdp_ns_identify(struct kdp_ctrl *ctrl, u32 nsid, struct nvmf_ns_info *info)
{
	void *data;
	int err;

	data = kmalloc(NVMF_IDENTIFY_SIZE, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	err = kdp_ask(ctrl, NVMF_CNS_NS, nsid, data);
	if (err > 0 && kdp_status_is_final(err))
		err = (err & NVMF_SC_MASK) == NVMF_SC_INVALID_NS ? -ENODEV : -EIO;
	else if (!err)
		err = nvmf_ns_info_parse(data, info);
	if (!err && info->lba_shift > PAGE_SHIFT)
		err = -EOPNOTSUPP;
	if (!err)
		err = kdp_ns_ask_descriptors(ctrl, nsid, info, data);
	kfree(data);
	return err;
}

/* Nothing reaches it any more; its disk is removed by the next scan. Any context. */
void kdp_ns_declare_dead(struct kdp_ns *ns, const char *why)
{
	if (ns->dead)
		return;
	WRITE_ONCE(ns->dead, true);
	dev_warn(&ns->ctrl->dev, "namespace %u %s: its disk goes\n", ns->nsid, why);
}

/* A namespace above @after that has not said who it is since the connect, with a reference. */
static struct kdp_ns *kdp_ns_next_unproven(struct kdp_ctrl *ctrl, u32 after)
{
	struct kdp_ns *ns, *next = NULL;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry) {
		if (ns->dead || ns->epoch == ctrl->ns_epoch || ns->nsid <= after)
			continue;
		if (!next || ns->nsid < next->nsid)
			next = ns;
	}
	if (next)
		get_device(&next->dev);
	mutex_unlock(&ctrl->ns_lock);
	return next;
}

/* Returns like kdp_ns_identify(), but 0 also for one that is dead by now. */
static int kdp_ns_prove(struct kdp_ns *ns)
{
	struct kdp_ctrl *ctrl = ns->ctrl;
	struct nvmf_ns_info info;
	int err;

	err = kdp_ns_identify(ctrl, ns->nsid, &info);
	if (err > 0 || err == -ECONNRESET || err == -ENOMEM)
		return err;
	mutex_lock(&ctrl->ns_lock);
	if (err)
		kdp_ns_declare_dead(ns, "is not there any more");
	else if (!nvmf_ns_same(&ns->info, &info))
		kdp_ns_declare_dead(ns, "is another one now");
	else
		ns->epoch = ctrl->ns_epoch;
	mutex_unlock(&ctrl->ns_lock);
	return 0;
}

/* Returns 0, a negative errno, or the status of those that could not say. */
static int kdp_ns_prove_all(struct kdp_ctrl *ctrl)
{
	int err = 0, status = 0;
	struct kdp_ns *ns;
	u32 prev = 0;

	while (err >= 0 && (ns = kdp_ns_next_unproven(ctrl, prev))) {
		prev = ns->nsid;
		err = kdp_ns_prove(ns);
		if (err > 0)
			status = err;
		put_device(&ns->dev);
	}
	return err < 0 ? err : status;
}

/*
 * The connection was made anew: is each namespace still the one that it was? One that is
 * not, or that the controller cannot tell of, is dead from now on: kdp_ns_accepts(). The
 * caller lets block I/O through only afterwards, and then queues scan_work, which takes
 * away what is dead and takes over new capacities. Returns 0, or a negative errno when the
 * connection broke meanwhile or memory ran out.
 *
 * Called under ctrl->lock, with the namespaces' queues quiesced. It does not take
 * scan_lock: whoever holds that may be waiting for I/O. A namespace that is just being
 * added is in the list by now, or will not get there: see kdp_ns_add().
 */
int kdp_ns_revalidate(struct kdp_ctrl *ctrl)
{
	struct kdp_ns *ns;
	unsigned int try;
	int err;

	mutex_lock(&ctrl->ns_lock);
	ctrl->ns_epoch++;
	mutex_unlock(&ctrl->ns_lock);
	for (try = 1; (err = kdp_ns_prove_all(ctrl)) > 0 && try < KDP_IDENTIFY_TRIES; try++)
		msleep(KDP_IDENTIFY_PAUSE_MS);
	if (err <= 0)
		return err;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		if (ns->epoch != ctrl->ns_epoch)
			kdp_ns_declare_dead(ns, "does not say who it is");
	mutex_unlock(&ctrl->ns_lock);
	return 0;
}
