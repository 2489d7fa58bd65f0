// SPDX-License-Identifier: GPL-2.0-only
/* What a disk tells in sysfs: /sys/block/kdpNnM/. */
#include <linux/blkdev.h>
#include <linux/sysfs.h>

#include "host.h"

static const struct kdp_ns *kdp_ns_of(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

/* Spelled as the in-tree driver does: the same namespace has the same name by either. */
static ssize_t wwid_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct nvmf_ns_info *info = &kdp_ns_of(dev)->info;

	if (!nvmf_all_zero(info->uuid, sizeof(info->uuid)))
		return sysfs_emit(buf, "uuid.%pU\n", info->uuid);
	if (!nvmf_all_zero(info->nguid, sizeof(info->nguid)))
		return sysfs_emit(buf, "eui.%16phN\n", info->nguid);
	return sysfs_emit(buf, "eui.%8phN\n", info->eui64);
}
static DEVICE_ATTR_RO(wwid);

static struct attribute *kdp_disk_attrs[] = {
	&dev_attr_wwid.attr,
	NULL
};

static umode_t kdp_disk_attr_mode(struct kobject *kobj, struct attribute *attr, int n)
{
	return nvmf_ns_has_id(&kdp_ns_of(kobj_to_dev(kobj))->info) ? attr->mode : 0;
}

static const struct attribute_group kdp_disk_group = {
	.attrs		= kdp_disk_attrs,
	.is_visible	= kdp_disk_attr_mode,
};

const struct attribute_group *kdp_disk_groups[] = {
	&kdp_disk_group,
	NULL
};
