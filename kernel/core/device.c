// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA devices, the protection domains of their users, and telling the upper layers when
 * a device goes.
 *
 * Each owner of connections has a protection domain of its own: what its peers were given
 * access to, by a key that others might guess, no other owner's peers can reach.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "internal.h"

/* A device that is there, and who uses it. */
struct kdp_present {
	struct ib_device	*ib;
	struct list_head	entry;		/* kdp_presents */
	struct list_head	users;		/* kdp_device.entry */
};

static LIST_HEAD(kdp_presents);
static DEFINE_MUTEX(kdp_devices_lock);	/* kdp_presents, and all that hangs on it */

static LIST_HEAD(kdp_uppers);
static DEFINE_MUTEX(kdp_uppers_lock);	/* kdp_uppers; held while ->device_gone() runs */

static struct kdp_present *kdp_present_find(const struct ib_device *ib)
{
	struct kdp_present *present;

	lockdep_assert_held(&kdp_devices_lock);
	list_for_each_entry(present, &kdp_presents, entry)
		if (present->ib == ib)
			return present;
	return NULL;
}

static struct kdp_device *kdp_device_create(struct kdp_present *present, const void *owner)
{
	struct kdp_device *dev;
	struct ib_pd *pd;

	if (!(present->ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return ERR_PTR(-EOPNOTSUPP);
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	pd = ib_alloc_pd(present->ib, 0);
	if (IS_ERR(pd)) {
		kfree(dev);
		return ERR_CAST(pd);
	}
	dev->ib = present->ib;
	dev->owner = owner;
	dev->pd = pd;
	list_add(&dev->entry, &present->users);
	return dev;
}

static struct kdp_device *kdp_device_of(struct kdp_present *present, const void *owner)
{
	struct kdp_device *dev;

	list_for_each_entry(dev, &present->users, entry)
		if (dev->owner == owner)
			return dev;
	return kdp_device_create(present, owner);
}

/*
 * The caller holds @ib alive, by a cm_id that is bound to it. Returns an ERR_PTR on
 * failure; -ENODEV when @ib is about to go: the upper layers have been told already.
 */
struct kdp_device *kdp_device_get(struct ib_device *ib, const void *owner)
{
	struct kdp_device *dev = ERR_PTR(-ENODEV);
	struct kdp_present *present;
	unsigned int noio;

	/* what frees memory may be I/O that waits for another's reconnect, and that for the lock */
	noio = memalloc_noio_save();
	mutex_lock(&kdp_devices_lock);
	present = kdp_present_find(ib);
	if (present)
		dev = kdp_device_of(present, owner);
	if (!IS_ERR(dev))
		dev->users++;
	mutex_unlock(&kdp_devices_lock);
	memalloc_noio_restore(noio);
	return dev;
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
		list_del(&dev->entry);
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
	struct kdp_present *present = kzalloc(sizeof(*present), GFP_KERNEL);

	/* an error would take the device from all others, too */
	if (!present) {
		pr_warn("kdp: no memory to know %s: it cannot be used\n", ib->name);
		return 0;
	}
	present->ib = ib;
	INIT_LIST_HEAD(&present->users);
	mutex_lock(&kdp_devices_lock);
	list_add(&present->entry, &kdp_presents);
	mutex_unlock(&kdp_devices_lock);
	return 0;
}

/* Nobody gets @ib from now on; who has it keeps what he has of it until he gives it back. */
static void kdp_present_end(const struct ib_device *ib)
{
	struct kdp_device *dev, *next;
	struct kdp_present *present;

	mutex_lock(&kdp_devices_lock);
	present = kdp_present_find(ib);
	if (present) {
		list_for_each_entry_safe(dev, next, &present->users, entry)
			list_del_init(&dev->entry);
		list_del(&present->entry);
		kfree(present);
	}
	mutex_unlock(&kdp_devices_lock);
}

static void kdp_client_remove(struct ib_device *ib, void *data)
{
	struct kdp_upper *upper;

	kdp_present_end(ib);
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
	WARN_ON(!list_empty(&kdp_presents));
}
