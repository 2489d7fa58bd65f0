// SPDX-License-Identifier: GPL-2.0-only
/* Namespaces: their objects, adding and removing them. Who they are: ns_identity.c, ns_scan.c. */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "host.h"

static void kdp_ns_release(struct device *dev)
{
	struct kdp_ns *ns = container_of(dev, struct kdp_ns, dev);

	if (ns->queue)
		blk_put_queue(ns->queue);
	kdp_minor_free(dev);
	kdp_ctrl_put(ns->ctrl);
	kfree(ns);
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

/*
 * It is gone, or another one by now: what waits for it fails, and nothing is written back.
 * scan_lock is held. May sleep for what is in flight.
 */
void kdp_ns_kill(struct kdp_ns *ns)
{
	WRITE_ONCE(ns->dead, true);
	blk_mark_disk_dead(ns->disk);
	kdp_ns_remove(ns);
}

/*
 * Make the disk and the char device of @nsid, which was found to be @info while
 * ctrl->ns_epoch was @epoch. When the connection has been made anew since, another one may
 * stand there now, and kdp_ns_revalidate() has not seen this one: then -ECONNRESET.
 * scan_lock is held.
 */
int kdp_ns_add(struct kdp_ctrl *ctrl, u32 nsid, const struct nvmf_ns_info *info, u32 epoch)
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
	ns->epoch = epoch;
	err = kdp_ns_device_init(ns, kdp_ns_release);
	if (err)
		goto put;
	err = kdp_disk_create(ns);
	if (err)
		goto put;

	/* in the list before I/O can come, so that a failure finds its queue */
	err = kdp_ctrl_join_io(ctrl, ns);
	if (err)
		goto put_disk;
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
put_disk:
	put_disk(ns->disk);
put:
	put_device(&ns->dev);
	return err;
}

/*
 * I/O in flight finishes, or fails when the connection breaks meanwhile: ns_lock is
 * free while a disk goes, so that kdp_ctrl_fail_work() can do its part. A scan that is
 * under way ends first; the controller is not live any more, so that none begins.
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
