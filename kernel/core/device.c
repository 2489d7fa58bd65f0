// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA devices in use and their protection domains; telling the upper layers when
 * a device goes.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"

static LIST_HEAD(kdp_devices);
static DEFINE_MUTEX(kdp_devices_lock);	/* kdp_devices */

static LIST_HEAD(kdp_uppers);
static DEFINE_MUTEX(kdp_uppers_lock);	/* kdp_uppers; held while ->device_gone() runs */

static void kdp_device_release(struct kref *ref)
{
	struct kdp_device *dev = container_of(ref, struct kdp_device, ref);

	list_del(&dev->entry);
	mutex_unlock(&kdp_devices_lock);
	WARN(atomic_read(&dev->dma_mappings), "kdp: %d DMA mappings left on %s\n",
	     atomic_read(&dev->dma_mappings), dev->ib->name);
	ib_dealloc_pd(dev->pd);
	kfree(dev);
}

void kdp_device_put(struct kdp_device *dev)
{
	/* the lock goes with the last reference, see kdp_device_release() */
	kref_put_mutex(&dev->ref, kdp_device_release, &kdp_devices_lock);
}

/*
 * The caller holds @ib alive, by a cm_id that is bound to it. Returns an ERR_PTR on
 * failure.
 */
struct kdp_device *kdp_device_get(struct ib_device *ib)
{
	struct kdp_device *dev;
	int err;

	mutex_lock(&kdp_devices_lock);
	list_for_each_entry(dev, &kdp_devices, entry) {
		if (dev->ib == ib) {
			kref_get(&dev->ref);
			goto out;
		}
	}

	if (!(ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		dev = ERR_PTR(-EOPNOTSUPP);
		goto out;
	}
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev) {
		dev = ERR_PTR(-ENOMEM);
		goto out;
	}
	dev->ib = ib;
	kref_init(&dev->ref);
	dev->pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(dev->pd)) {
		err = PTR_ERR(dev->pd);
		kfree(dev);
		dev = ERR_PTR(err);
		goto out;
	}
	list_add(&dev->entry, &kdp_devices);
out:
	mutex_unlock(&kdp_devices_lock);
	return dev;
}

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

static void kdp_client_remove(struct ib_device *ib, void *data)
{
	struct kdp_upper *upper;

	mutex_lock(&kdp_uppers_lock);
	list_for_each_entry(upper, &kdp_uppers, entry)
		upper->device_gone(ib);
	mutex_unlock(&kdp_uppers_lock);
}

static struct ib_client kdp_client = {
	.name	= "kdp",
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
