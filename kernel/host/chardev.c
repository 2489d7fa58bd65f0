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
#include <linux/slab.h>

#include "passthru.h"

#include "compat_device.h"
#include "compat_uring.h"

#define KDP_MINORS	(KDP_MAX_INSTANCE + 1 + 65536)

static struct class *kdp_class;
static dev_t kdp_devt;
static DEFINE_IDA(kdp_minors);

/* An open file of either kind. */
struct kdp_file {
	struct kdp_node		node;
	struct kdp_regions	regions;
};

static int kdp_file_open(struct inode *inode, struct file *file, struct kdp_ctrl *ctrl,
			 struct kdp_ns *ns)
{
	struct kdp_file *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	kdp_regions_init(&f->regions, ctrl);
	f->node = (struct kdp_node) {
		.ctrl		= ctrl,
		.ns		= ns,
		.regions	= &f->regions,
		.open		= file->f_mode & FMODE_WRITE ? KDP_OPEN_WRITE : 0,
	};
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static int kdp_ctrl_open(struct inode *inode, struct file *file)
{
	return kdp_file_open(inode, file, container_of(inode->i_cdev, struct kdp_ctrl, cdev), NULL);
}

static int kdp_ns_open(struct inode *inode, struct file *file)
{
	struct kdp_ns *ns = container_of(inode->i_cdev, struct kdp_ns, cdev);

	return kdp_file_open(inode, file, ns->ctrl, ns);
}

static int kdp_file_release(struct inode *inode, struct file *file)
{
	struct kdp_file *f = file->private_data;

	kdp_regions_release(&f->regions);
	kfree(f);
	return 0;
}

static const struct kdp_node *kdp_file_node(const struct file *file)
{
	const struct kdp_file *f = file->private_data;

	return &f->node;
}

static long kdp_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return kdp_node_ioctl(kdp_file_node(file), cmd, (void __user *)arg);
}

static int kdp_file_uring_cmd(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	return kdp_uring_cmd(kdp_file_node(ioucmd->file), ioucmd, issue_flags);
}

static int kdp_file_uring_poll(struct io_uring_cmd *ioucmd, struct io_comp_batch *batch,
			       unsigned int flags)
{
	return kdp_uring_poll(ioucmd);
}

static const struct file_operations kdp_ctrl_fops = {
	.owner			= THIS_MODULE,
	.open			= kdp_ctrl_open,
	.release		= kdp_file_release,
	.unlocked_ioctl		= kdp_file_ioctl,
	.compat_ioctl		= compat_ptr_ioctl,
	.uring_cmd		= kdp_file_uring_cmd,
	.uring_cmd_iopoll	= kdp_file_uring_poll,
};

static const struct file_operations kdp_ns_fops = {
	.owner			= THIS_MODULE,
	.open			= kdp_ns_open,
	.release		= kdp_file_release,
	.unlocked_ioctl		= kdp_file_ioctl,
	.compat_ioctl		= compat_ptr_ioctl,
	.uring_cmd		= kdp_file_uring_cmd,
	.uring_cmd_iopoll	= kdp_file_uring_poll,
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
