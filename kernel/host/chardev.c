// SPDX-License-Identifier: GPL-2.0-only
/*
 * The char devices: /dev/kdpN (a controller) and /dev/kdpgNnM (a namespace). Their
 * nodes are made by devtmpfs, without udev.
 *
 * An open file holds its device, by the cdev's parent reference; what is behind the
 * device may be gone, and the ioctls look at the controller's state for that.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>

#include "host.h"

#include "compat_device.h"

#define KDP_MINORS	(KDP_MAX_INSTANCE + 1 + 65536)

static struct class *kdp_class;
static dev_t kdp_devt;
static DEFINE_IDA(kdp_minors);

static unsigned int kdp_opened_for(const struct file *file)
{
	return file->f_mode & FMODE_WRITE ? KDP_OPEN_WRITE : 0;
}

static int kdp_ctrl_open(struct inode *inode, struct file *file)
{
	file->private_data = container_of(inode->i_cdev, struct kdp_ctrl, cdev);
	return nonseekable_open(inode, file);
}

static long kdp_ctrl_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return kdp_ctrl_ioctl(file->private_data, cmd, (void __user *)arg, kdp_opened_for(file));
}

static const struct file_operations kdp_ctrl_fops = {
	.owner		= THIS_MODULE,
	.open		= kdp_ctrl_open,
	.unlocked_ioctl	= kdp_ctrl_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static int kdp_ns_open(struct inode *inode, struct file *file)
{
	file->private_data = container_of(inode->i_cdev, struct kdp_ns, cdev);
	return nonseekable_open(inode, file);
}

static long kdp_ns_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return kdp_ns_ioctl(file->private_data, cmd, (void __user *)arg, kdp_opened_for(file));
}

static const struct file_operations kdp_ns_fops = {
	.owner		= THIS_MODULE,
	.open		= kdp_ns_open,
	.unlocked_ioctl	= kdp_ns_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

/* On failure too, the caller's next step is put_device(). */
static int kdp_device_init(struct device *dev, void (*release)(struct device *))
{
	int minor;

	device_initialize(dev);
	dev->class = kdp_class;
	dev->release = release;
	minor = ida_alloc_max(&kdp_minors, KDP_MINORS - 1, GFP_KERNEL);
	if (minor < 0)
		return minor;
	dev->devt = MKDEV(MAJOR(kdp_devt), MINOR(kdp_devt) + minor);
	return 0;
}

/* For the release functions. */
void kdp_minor_free(struct device *dev)
{
	if (dev->devt)
		ida_free(&kdp_minors, MINOR(dev->devt) - MINOR(kdp_devt));
}

int kdp_ctrl_device_init(struct kdp_ctrl *ctrl, void (*release)(struct device *))
{
	int err = kdp_device_init(&ctrl->dev, release);

	return err ?: dev_set_name(&ctrl->dev, "kdp%d", ctrl->instance);
}

int kdp_ctrl_cdev_add(struct kdp_ctrl *ctrl)
{
	int err;

	cdev_init(&ctrl->cdev, &kdp_ctrl_fops);
	ctrl->cdev.owner = THIS_MODULE;
	err = cdev_device_add(&ctrl->cdev, &ctrl->dev);
	ctrl->cdev_added = !err;
	return err;
}

void kdp_ctrl_cdev_del(struct kdp_ctrl *ctrl)
{
	if (ctrl->cdev_added)
		cdev_device_del(&ctrl->cdev, &ctrl->dev);
	ctrl->cdev_added = false;
}

int kdp_ns_device_init(struct kdp_ns *ns, void (*release)(struct device *))
{
	int err = kdp_device_init(&ns->dev, release);

	if (err)
		return err;
	ns->dev.parent = &ns->ctrl->dev;
	return dev_set_name(&ns->dev, "kdpg%dn%u", ns->ctrl->instance, ns->nsid);
}

int kdp_ns_cdev_add(struct kdp_ns *ns)
{
	cdev_init(&ns->cdev, &kdp_ns_fops);
	ns->cdev.owner = THIS_MODULE;
	return cdev_device_add(&ns->cdev, &ns->dev);
}

void kdp_ns_cdev_del(struct kdp_ns *ns)
{
	cdev_device_del(&ns->cdev, &ns->dev);
}

int kdp_chardev_init(void)
{
	int err;

	err = alloc_chrdev_region(&kdp_devt, 0, KDP_MINORS, "kdp");
	if (err)
		return err;
	kdp_class = kdp_class_create("kdp");
	if (IS_ERR(kdp_class)) {
		unregister_chrdev_region(kdp_devt, KDP_MINORS);
		return PTR_ERR(kdp_class);
	}
	return 0;
}

void kdp_chardev_exit(void)
{
	class_destroy(kdp_class);
	unregister_chrdev_region(kdp_devt, KDP_MINORS);
	ida_destroy(&kdp_minors);
}
