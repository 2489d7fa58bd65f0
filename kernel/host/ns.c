// SPDX-License-Identifier: GPL-2.0-only
/* Namespaces: finding them, their objects, removing them. */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "host.h"

/* More than that on one controller are left out, with a line in the log. */
#define KDP_MAX_NAMESPACES	1024

static void kdp_ns_release(struct device *dev)
{
	struct kdp_ns *ns = container_of(dev, struct kdp_ns, dev);

	if (ns->queue)
		blk_put_queue(ns->queue);
	kdp_minor_free(dev);
	kdp_ctrl_put(ns->ctrl);
	kfree(ns);
}

static int kdp_ns_identify(struct kdp_ctrl *ctrl, u32 nsid, struct nvmf_ns_info *info)
{
	void *data;
	int err;

	data = kmalloc(NVMF_IDENTIFY_SIZE, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	err = kdp_identify(ctrl, NVMF_CNS_NS, nsid, data);
	if (err > 0)
		err = kdp_status_to_errno(err);
	else if (!err)
		err = nvmf_ns_info_parse(data, info);
	kfree(data);
	if (!err && info->lba_shift > PAGE_SHIFT)
		err = -EOPNOTSUPP;
	return err;
}

static void kdp_ns_remove(struct kdp_ns *ns)
{
	kdp_ns_cdev_del(ns);
	del_gendisk(ns->disk);	/* writes back, waits for I/O */
	mutex_lock(&ns->ctrl->ns_lock);
	list_del(&ns->entry);
	mutex_unlock(&ns->ctrl->ns_lock);
	put_disk(ns->disk);
	put_device(&ns->dev);
}

static int kdp_ns_add(struct kdp_ctrl *ctrl, u32 nsid, const struct nvmf_ns_info *info)
{
	struct kdp_ns *ns;
	int err;

	ns = kzalloc(sizeof(*ns), GFP_KERNEL);
	if (!ns)
		return -ENOMEM;
	ns->ctrl = ctrl;
	get_device(&ctrl->dev);
	ns->nsid = nsid;
	ns->info = *info;
	err = kdp_ns_device_init(ns, kdp_ns_release);
	if (err)
		goto put;
	err = kdp_disk_create(ns);
	if (err)
		goto put;

	/* in the list before I/O can come, so that a failure finds its queue */
	kdp_ctrl_join_io(ctrl, ns);
	err = kdp_disk_add(ns);
	if (err)
		goto unlist;
	err = kdp_ns_cdev_add(ns);
	if (err) {
		del_gendisk(ns->disk);
		goto unlist;
	}
	return 0;

unlist:
	mutex_lock(&ctrl->ns_lock);
	list_del(&ns->entry);
	mutex_unlock(&ctrl->ns_lock);
	put_disk(ns->disk);
put:
	put_device(&ns->dev);
	return err;
}

static bool kdp_ns_known(struct kdp_ctrl *ctrl, u32 nsid)
{
	struct kdp_ns *ns;
	bool known = false;

	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry)
		known |= ns->nsid == nsid;
	mutex_unlock(&ctrl->ns_lock);
	return known;
}

/* One namespace that cannot be used does not keep the others from coming up. */
static int kdp_ns_scan_one(struct kdp_ctrl *ctrl, u32 nsid)
{
	struct nvmf_ns_info info;
	int err;

	if (kdp_ns_known(ctrl, nsid))
		return 0;
	err = kdp_ns_identify(ctrl, nsid, &info);
	if (!err)
		err = kdp_ns_add(ctrl, nsid, &info);
	switch (err) {
	case 0:
		return 0;
	case -ECONNRESET:
	case -ENOMEM:
		return kdp_ctrl_error(ctrl, err, "the namespaces cannot be brought up");
	case -EOPNOTSUPP:
		dev_warn_ratelimited(&ctrl->dev,
				     "namespace %u: its metadata or block size is not supported\n",
				     nsid);
		return 0;
	default:
		dev_warn_ratelimited(&ctrl->dev, "namespace %u is left out: error %d\n", nsid, err);
		return 0;
	}
}

static int kdp_ns_scan_all(struct kdp_ctrl *ctrl)
{
	u32 prev = 0, nsid;
	unsigned int total = 0, i;
	void *list;
	int err;

	list = kmalloc(NVMF_IDENTIFY_SIZE, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	do {
		err = kdp_identify(ctrl, NVMF_CNS_ACTIVE_NS, prev, list);
		if (err) {
			err = kdp_ctrl_error(ctrl, err > 0 ? kdp_status_to_errno(err) : err,
					     "the namespaces cannot be listed");
			break;
		}
		for (i = 0; i < NVMF_ACTIVE_NS_PER_LIST; i++) {
			nsid = nvmf_get32(list, i * sizeof(u32));
			if (nsid <= prev)	/* the end, or a list out of order */
				break;
			if (total++ >= KDP_MAX_NAMESPACES) {
				dev_warn(&ctrl->dev, "more than %u namespaces: the rest is left out\n",
					 KDP_MAX_NAMESPACES);
				goto out;
			}
			err = kdp_ns_scan_one(ctrl, nsid);
			if (err)
				goto out;
			prev = nsid;
		}
	} while (i == NVMF_ACTIVE_NS_PER_LIST);
out:
	kfree(list);
	return err;
}

/*
 * Bring up every active namespace. Returns 0, or a negative errno when the connection
 * broke or memory ran out; the namespaces that came up are then still there. May sleep,
 * also for a reconnect: not under ctrl->lock.
 */
int kdp_ns_scan(struct kdp_ctrl *ctrl)
{
	int err = -ECONNRESET;

	mutex_lock(&ctrl->scan_lock);
	/* one that goes has had its namespaces removed, or will */
	if (kdp_ctrl_state(ctrl) != KDP_STATE_DELETING)
		err = kdp_ns_scan_all(ctrl);
	mutex_unlock(&ctrl->scan_lock);
	return err;
}

void kdp_scan_work(struct work_struct *work)
{
	kdp_ns_scan(container_of(work, struct kdp_ctrl, scan_work));
}

/*
 * I/O in flight finishes, or fails when the connection breaks meanwhile: ns_lock is
 * free while a disk goes, so that kdp_ctrl_fail_work() can do its part.
 */
void kdp_ns_remove_all(struct kdp_ctrl *ctrl)
{
	struct kdp_ns *ns;

	mutex_lock(&ctrl->scan_lock);
	for (;;) {
		mutex_lock(&ctrl->ns_lock);
		ns = list_first_entry_or_null(&ctrl->namespaces, struct kdp_ns, entry);
		mutex_unlock(&ctrl->ns_lock);
		if (!ns)
			break;
		kdp_ns_remove(ns);
	}
	mutex_unlock(&ctrl->scan_lock);
}
