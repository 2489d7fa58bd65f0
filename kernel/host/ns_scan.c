// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding namespaces: those that came, those that went, those that changed. A scan can be
 * done at any time and any number of times; after one, the disks are what the
 * controller lists. It is done at the connect, after each reconnect, when the controller
 * tells of a change (aen.c), and when somebody asks for it.
 *
 * scan_lock is held all the while, and ctrl->lock never: adding and removing a disk does
 * I/O, which may wait for a reconnect.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "host.h"

/* More than that on one controller are left out, with a line in the log. */
#define KDP_MAX_NAMESPACES	1024

/* It is the caller's under scan_lock: nobody else removes one. */
static struct kdp_ns *kdp_ns_find(struct kdp_ctrl *ctrl, u32 nsid)
{
	struct kdp_ns *ns, *found = NULL;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		if (ns->nsid == nsid)
			found = ns;
	mutex_unlock(&ctrl->ns_lock);
	return found;
}

/* What may change in the life of a namespace. */
static void kdp_ns_update(struct kdp_ns *ns, const struct nvmf_ns_info *info)
{
	bool read_only = ns->info.read_only;

	mutex_lock(&ns->ctrl->ns_lock);
	ns->info.blocks = info->blocks;
	ns->info.read_only = info->read_only;
	mutex_unlock(&ns->ctrl->ns_lock);
	set_capacity_and_notify(ns->disk, kdp_ns_sectors(info));
	/* only when the target changes it: it may have been set here, too */
	if (info->read_only != read_only)
		set_disk_ro(ns->disk, info->read_only);
}

static void kdp_ns_left_out(struct kdp_ctrl *ctrl, u32 nsid, int err)
{
	if (err == -EOPNOTSUPP)
		dev_warn_ratelimited(&ctrl->dev,
				     "namespace %u: its metadata, block size or command set is not supported\n",
				     nsid);
	else if (err > 0)
		dev_warn_ratelimited(&ctrl->dev, "namespace %u is left out: NVMe status 0x%x\n",
				     nsid, err);
	else
		dev_warn_ratelimited(&ctrl->dev, "namespace %u is left out: error %d\n", nsid, err);
}

/* One that is not known yet. That it cannot be used does not keep the others from coming up. */
static int kdp_ns_scan_new(struct kdp_ctrl *ctrl, u32 nsid)
{
	struct nvmf_ns_info info;
	u32 epoch = READ_ONCE(ctrl->ns_epoch);
	struct kdp_ns *ns;
	int err;

	err = kdp_ns_identify(ctrl, nsid, &info);
	if (!err)
		err = kdp_ns_add(ctrl, nsid, &info, epoch);
	if (err == -ECONNRESET || err == -ENOMEM)
		return err;
	if (err) {
		kdp_ns_left_out(ctrl, nsid, err);
		return 0;
	}
	ns = kdp_ns_find(ctrl, nsid);
	if (ns)
		ns->listed = true;
	return 0;
}

/* Returns 0, or a negative errno when the scan can go no further. */
static int kdp_ns_scan_one(struct kdp_ctrl *ctrl, u32 nsid)
{
	struct kdp_ns *ns = kdp_ns_find(ctrl, nsid);
	struct nvmf_ns_info info;
	int err;

	if (!ns)
		return kdp_ns_scan_new(ctrl, nsid);
	err = kdp_ns_identify(ctrl, nsid, &info);
	if (err == -ECONNRESET || err == -ENOMEM)
		return err;
	ns->listed = true;
	if (err > 0) {
		dev_warn_ratelimited(&ctrl->dev,
				     "namespace %u cannot be looked at: NVMe status 0x%x\n", nsid,
				     err);
		return 0;
	}
	if (!err && !ns->dead && nvmf_ns_same(&ns->info, &info)) {
		kdp_ns_update(ns, &info);
		return 0;
	}
	kdp_ns_declare_dead(ns, err ? "is not there any more" : "is another one now");
	kdp_ns_kill(ns);
	return err ? 0 : kdp_ns_scan_new(ctrl, nsid);
}

/*
 * All that the controller lists. *@told becomes the highest number up to which the list
 * told of all that there are: it may break off, be out of order or have no end.
 */
static int kdp_ns_scan_list(struct kdp_ctrl *ctrl, void *list, u32 *told)
{
	unsigned int total = 0, i;
	u32 nsid;
	int err;

	*told = 0;
	do {
		err = kdp_identify(ctrl, NVMF_CNS_ACTIVE_NS, *told, list);
		if (err)
			return err > 0 ? kdp_status_to_errno(err) : err;
		for (i = 0; i < NVMF_ACTIVE_NS_PER_LIST; i++) {
			nsid = nvmf_get32(list, i * sizeof(u32));
			if (nsid <= *told || nsid == NVMF_NSID_ALL)
				break;
			if (total++ >= KDP_MAX_NAMESPACES) {
				dev_warn_ratelimited(&ctrl->dev,
						     "more than %u namespaces: the rest is left out\n",
						     KDP_MAX_NAMESPACES);
				return 0;
			}
			if (kdp_ctrl_state(ctrl) != KDP_STATE_LIVE)
				return -ECONNRESET;
			err = kdp_ns_scan_one(ctrl, nsid);
			if (err)
				return err;
			*told = nsid;
		}
	} while (i == NVMF_ACTIVE_NS_PER_LIST);
	if (nsid)
		dev_warn_ratelimited(&ctrl->dev, "the list of namespaces is out of order\n");
	else
		*told = U32_MAX;
	return 0;
}

/* The dead, and those up to @told that were not listed. */
static struct kdp_ns *kdp_ns_next_to_go(struct kdp_ctrl *ctrl, u32 told)
{
	struct kdp_ns *ns, *found = NULL;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		if (ns->dead || (!ns->listed && ns->nsid <= told))
			found = ns;
	mutex_unlock(&ctrl->ns_lock);
	return found;
}

static void kdp_ns_remove_gone(struct kdp_ctrl *ctrl, u32 told)
{
	struct kdp_ns *ns;

	while ((ns = kdp_ns_next_to_go(ctrl, told))) {
		kdp_ns_declare_dead(ns, "is not there any more");
		kdp_ns_kill(ns);
	}
}

static void kdp_ns_forget_list(struct kdp_ctrl *ctrl)
{
	struct kdp_ns *ns;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		ns->listed = false;
	mutex_unlock(&ctrl->ns_lock);
}

static int kdp_ns_scan_locked(struct kdp_ctrl *ctrl)
{
	void *list;
	u32 told;
	int err;

	lockdep_assert_held(&ctrl->scan_lock);
	if (kdp_ctrl_state(ctrl) != KDP_STATE_LIVE)
		return -ECONNRESET;
	list = kmalloc(NVMF_IDENTIFY_SIZE, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	kdp_ns_forget_list(ctrl);
	kdp_ns_remove_gone(ctrl, 0);
	err = kdp_ns_scan_list(ctrl, list, &told);
	kfree(list);
	kdp_ns_remove_gone(ctrl, err ? 0 : told);
	return err;
}

/*
 * Make the disks what the controller lists. Returns 0, or a negative errno when the controller
 * is not live, the list could not be had, the connection broke or memory ran out: what
 * was found by then is taken over, and what is not known to be gone stays. May sleep,
 * also for a reconnect: not under ctrl->lock.
 */
int kdp_ns_scan(struct kdp_ctrl *ctrl)
{
	int err;

	mutex_lock(&ctrl->scan_lock);
	err = kdp_ns_scan_locked(ctrl);
	mutex_unlock(&ctrl->scan_lock);
	return err;
}

/* After a reconnect, or when the controller told of a change. */
void kdp_scan_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(work, struct kdp_ctrl, scan_work);
	int err = kdp_ns_scan(ctrl);

	/* without a connection: the reconnect is followed by a scan */
	if (err && err != -ECONNRESET)
		dev_warn_ratelimited(&ctrl->dev, "the namespaces could not be looked at: error %d\n",
				     err);
}
