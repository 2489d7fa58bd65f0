// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA devices, the protection domain of those in use, and telling the upper layers when
 * a device goes.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"

static LIST_HEAD(kdp_devices);
static DEFINE_MUTEX(kdp_devices_lock);	/* kdp_devices */

static LIST_HEAD(kdp_uppers);
static DEFINE_MUTEX(kdp_uppers_lock);	/* kdp_uppers; held while ->device_gone() runs */

static struct kdp_device *kdp_device_find(const struct ib_device *ib)
{
	struct kdp_device *dev;

	lockdep_assert_held(&kdp_devices_lock);
	list_for_each_entry(dev, &kdp_devices, entry)
		if (dev->ib == ib)
			return dev;
	return NULL;
}

static int kdp_device_use(struct kdp_device *dev)
{
	struct ib_pd *pd;

	if (dev->users++)
		return 0;
	pd = ib_alloc_pd(dev->ib, 0);
	if (IS_ERR(pd)) {
		dev->users--;
		return PTR_ERR(pd);
	}
	dev->pd = pd;
	return 0;
}

/*
 * The caller holds @ib alive, by a cm_id that is bound to it. Returns an ERR_PTR on
 * failure; -ENODEV when @ib is about to go: the upper layers have been told already.
 */
struct kdp_device *kdp_device_get(struct ib_device *ib)
{
	struct kdp_device *dev;
	int err = -ENODEV;

	mutex_lock(&kdp_devices_lock);
	dev = kdp_device_find(ib);
	if (dev)
		err = ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS ?
		      kdp_device_use(dev) : -EOPNOTSUPP;
	mutex_unlock(&kdp_devices_lock);
	return err ? ERR_PTR(err) : dev;
}

void kdp_device_hold(struct kdp_device *dev)
{
	mutex_lock(&kdp_devices_lock);
	WARN_ON(!dev->users++);
	mutex_unlock(&kdp_devices_lock);
}
EXPORT_SYMBOL_GPL(kdp_device_hold);

void kdp_device_put(struct kdp_device *dev)
{
	mutex_lock(&kdp_devices_lock);
	if (--dev->users == 0) {
		WARN(atomic_read(&dev->dma_mappings), "kdp: %d DMA mappings left on %s\n",
		     atomic_read(&dev->dma_mappings), dev->ib->name);
		ib_dealloc_pd(dev->pd);
		dev->pd = NULL;
		if (list_empty(&dev->entry))
			kfree(dev);
	}
	mutex_unlock(&kdp_devices_lock);
}
EXPORT_SYMBOL_GPL(kdp_device_put);

void kdp_upper_register(struct kdp_upper *upper)
{
	mutex_lock(&kdp_uppers_lock);
	list_add_tail(&upper->entry, &kdp_uppers);
	mutex_unlock(&kdp_uppers_lock);
}
EXPORT_SYMBOL_GPL(kdp_upper_register);

void kdp_upper_unregister(struct kdp_upper *upper)
{
	mutex_lock(&kdp_uppers_lock);
	list_del(&upper->entry);
	mutex_unlock(&kdp_uppers_lock);
}
EXPORT_SYMBOL_GPL(kdp_upper_unregister);

static int kdp_client_add(struct ib_device *ib)
{
	struct kdp_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	/* an error would take the device from all others, too */
	if (!dev) {
		pr_warn("kdp: no memory to know %s: it cannot be used\n", ib->name);
		return 0;
	}
	dev->ib = ib;
	mutex_lock(&kdp_devices_lock);
	list_add(&dev->entry, &kdp_devices);
	mutex_unlock(&kdp_devices_lock);
	return 0;
}

static void kdp_client_remove(struct ib_device *ib, void *data)
{
	struct kdp_device *dev;
	struct kdp_upper *upper;

	/* nobody gets it from now on; who has it is told, and gives it back */
	mutex_lock(&kdp_devices_lock);
	dev = kdp_device_find(ib);
	if (dev) {
		list_del_init(&dev->entry);
		if (!dev->users)
			kfree(dev);
	}
	mutex_unlock(&kdp_devices_lock);

	mutex_lock(&kdp_uppers_lock);
	list_for_each_entry(upper, &kdp_uppers, entry)
		upper->device_gone(ib);
	mutex_unlock(&kdp_uppers_lock);
}

static struct ib_client kdp_client = {
	.name	= "kdp",
	.add	= kdp_client_add,
	.remove	= kdp_client_remove,
};

int kdp_device_init(void)
{
	return ib_register_client(&kdp_client);
}

void kdp_device_exit(void)
{
	ib_unregister_client(&kdp_client);
	WARN_ON(!list_empty(&kdp_devices));
}
