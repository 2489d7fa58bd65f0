// SPDX-License-Identifier: GPL-2.0-only
/* A namespace as a disk: /dev/kdpNnM. */
#include <linux/blkdev.h>
#include <linux/module.h>

#include "passthru.h"

#include "compat_blk.h"

/* The last opener of a removed disk may close it long after the namespace went. */
static void kdp_free_disk(struct gendisk *disk)
{
	struct kdp_ns *ns = disk->private_data;

	put_device(&ns->dev);
}

/* The namespace's ioctls, as on its char device, but for regions: there is no file of ours. */
static int kdp_disk_ioctl(struct block_device *bdev, KDP_BLK_MODE_T mode, unsigned int cmd,
			  unsigned long arg)
{
	struct kdp_ns *ns = bdev->bd_disk->private_data;
	const struct kdp_node node = {
		.ctrl	= ns->ctrl,
		.ns	= ns,
		.open	= (mode & KDP_BLK_OPEN_WRITE ? KDP_OPEN_WRITE : 0) |
			  (bdev_is_partition(bdev) ? KDP_OPEN_PARTITION : 0),
	};

	return kdp_node_ioctl(&node, cmd, (void __user *)arg);
}

static const struct block_device_operations kdp_disk_ops = {
	.owner		= THIS_MODULE,
	.free_disk	= kdp_free_disk,
	.ioctl		= kdp_disk_ioctl,
	.compat_ioctl	= blkdev_compat_ptr_ioctl,
};

int kdp_disk_create(struct kdp_ns *ns)
{
	struct kdp_ctrl *ctrl = ns->ctrl;
	const struct kdp_disk_limits limits = {
		.block_size	= 1U << ns->info.lba_shift,
		.max_transfer	= ctrl->max_transfer,
		.max_segments	= ctrl->max_segments,
		.max_write_zeroes = ctrl->info.oncs & NVMF_ONCS_WRITE_ZEROES ?
				    (u64)NVMF_RW_NLB_MAX << ns->info.lba_shift : 0,
		.max_discard	= ctrl->info.oncs & NVMF_ONCS_DSM ?
				  (u64)U32_MAX << ns->info.lba_shift : 0,
		.write_cache	= ctrl->info.vwc,
	};
	struct gendisk *disk;

	disk = kdp_alloc_disk(&ctrl->io_set, &limits, ns);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	snprintf(disk->disk_name, sizeof(disk->disk_name), "kdp%dn%u", ctrl->instance, ns->nsid);
	disk->fops = &kdp_disk_ops;
	disk->private_data = ns;
	set_capacity(disk, kdp_ns_sectors(&ns->info));
	if (ns->info.read_only)
		set_disk_ro(disk, true);

	ns->disk = disk;
	ns->queue = disk->queue;
	WARN_ON(!blk_get_queue(ns->queue));
	return 0;
}

int kdp_disk_add(struct kdp_ns *ns)
{
	int err;

	get_device(&ns->dev);	/* given back by kdp_free_disk() */
	err = device_add_disk(&ns->ctrl->dev, ns->disk, kdp_disk_groups);
	if (err)
		put_device(&ns->dev);
	return err;
}
