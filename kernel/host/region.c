// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions of an open file: a table by address, which commands search without a lock.
 *
 * The table is replaced when it changes, and freed when nobody searches it any more. A region
 * that was found is held by a counter of the CPU's own. So a command of one CPU writes
 * nothing that another one reads.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "host.h"
#include "region.h"

#define KDP_MAX_REGIONS		1024

/* Addresses of files' regions begin here: no user has memory there. */
#define KDP_FILE_BASE		BIT_ULL(63)

/* One that waits for minutes is reported as hung; one that wakes up now and then is not. */
#define KDP_REGION_NAP		(10 * HZ)

/* Sorted by address space (none first), then address. */
struct kdp_region_table {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct kdp_region	*region[];
};

static struct kdp_region_table *kdp_table(const struct kdp_regions *regions)
{
	return rcu_dereference_protected(regions->table, lockdep_is_held(&regions->lock));
}

/* How many regions begin at or before @base of @mm. */
static unsigned int kdp_table_search(const struct kdp_region_table *table,
				     const struct mm_struct *mm, u64 base)
{
	unsigned int low = 0, high = table ? table->nr : 0;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		const struct kdp_region *region = table->region[middle];

		if (region->mm < mm || (region->mm == mm && region->base <= base))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The one at or before @base, or NULL. */
static struct kdp_region *kdp_table_find(const struct kdp_region_table *table,
					 const struct mm_struct *mm, u64 base)
{
	unsigned int i = kdp_table_search(table, mm, base);

	return i && table->region[i - 1]->mm == mm ? table->region[i - 1] : NULL;
}

static const struct mm_struct *kdp_owner_of(u64 addr)
{
	return addr >= KDP_FILE_BASE ? NULL : current->mm;
}

/*
 * Do the data at @addr lie in a region, which gives them the right to be @write (sent)
 * or not (received)? Then it is held until kdp_region_put(). Any context with the sender's
 * address space; does not sleep.
 */
bool kdp_region_take(const struct kdp_regions *regions, u64 addr, u32 length, bool write,
		     struct kdp_region_use *use)
{
	const u32 right = write ? KDP_REGION_SEND : KDP_REGION_RECEIVE;
	struct kdp_region *region;
	bool taken = false;
	u64 offset;

	rcu_read_lock();
	region = kdp_table_find(rcu_dereference(regions->table), kdp_owner_of(addr), addr);
	if (region && region->flags & right && READ_ONCE(region->ready)) {
		offset = addr - region->base;
		taken = offset < region->length && length <= region->length - offset &&
			percpu_ref_tryget_live(&region->users);
	}
	rcu_read_unlock();
	if (!taken)
		return false;
	*use = (struct kdp_region_use) {
		.region = region, .offset = offset, .length = length,
	};
	return true;
}

/* --- the table's changes --------------------------------------------------- */

/* Returns -ENOMEM, or 0 with @region in its place, or without it. */
static int kdp_table_change(struct kdp_regions *regions, struct kdp_region *add,
			    struct kdp_region *del)
{
	struct kdp_region_table *old = kdp_table(regions), *table = NULL;
	unsigned int nr = (old ? old->nr : 0) + (add ? 1 : 0) - (del ? 1 : 0);
	unsigned int from = 0, to = 0, place;

	if (nr) {
		table = kmalloc(struct_size(table, region, nr), GFP_KERNEL);
		if (!table)
			return -ENOMEM;
		table->nr = nr;
		place = add ? kdp_table_search(old, add->mm, add->base) : nr;
		while (to < nr) {
			if (to == place)
				table->region[to++] = add;
			else if (old->region[from] == del)
				from++;
			else
				table->region[to++] = old->region[from++];
		}
	}
	rcu_assign_pointer(regions->table, table);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/* Without memory for a new table: take @del out of the one that is there. */
static void kdp_table_remove(struct kdp_regions *regions, struct kdp_region *del)
{
	struct kdp_region_table *table = kdp_table(regions);
	unsigned int i;

	if (!kdp_table_change(regions, NULL, del))
		return;
	/* who searches meanwhile may miss a region, and sends as ever */
	for (i = kdp_table_search(table, del->mm, del->base); i < table->nr; i++)
		WRITE_ONCE(table->region[i - 1], table->region[i]);
	WRITE_ONCE(table->nr, table->nr - 1);
	synchronize_rcu();
}

static bool kdp_overlaps(const struct kdp_regions *regions, const struct kdp_region *region)
{
	const struct kdp_region_table *table = kdp_table(regions);
	const struct kdp_region *before;

	before = kdp_table_find(table, region->mm, region->base + region->length - 1);
	return before && before->base + before->length > region->base;
}

/* Behind the last of the files' regions, a page between them. Returns 0 or -ENOSPC. */
static int kdp_file_base(const struct kdp_regions *regions, u64 length, unsigned int offset,
			 u64 *base)
{
	const struct kdp_region *last = kdp_table_find(kdp_table(regions), NULL, U64_MAX);
	u64 first = last ? PAGE_ALIGN(last->base + last->length) + PAGE_SIZE : KDP_FILE_BASE;

	if (first < KDP_FILE_BASE || length >= U64_MAX - first - 2 * PAGE_SIZE)
		return -ENOSPC;
	*base = first + offset;
	return 0;
}

/* --- a region's life --------------------------------------------------------- */

static void kdp_region_unused(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct kdp_region, users)->unused);
}

static struct kdp_region *kdp_region_alloc(struct kdp_ctrl *ctrl, const struct kdp_region_add *add)
{
	struct kdp_region *region = kzalloc(sizeof(*region), GFP_KERNEL);

	if (!region)
		return NULL;
	region->uses = alloc_percpu(u64);
	if (!region->uses || percpu_ref_init(&region->users, kdp_region_unused, 0, GFP_KERNEL)) {
		free_percpu(region->uses);
		kfree(region);
		return NULL;
	}
	init_completion(&region->unused);
	INIT_LIST_HEAD(&region->entry);
	region->ctrl = ctrl;
	region->base = add->addr;
	region->length = add->length;
	region->flags = add->flags;
	if (!(add->flags & KDP_REGION_FILE)) {
		region->mm = current->mm;
		mmgrab(region->mm);
	}
	return region;
}

/* Nobody finds it any more: when its commands have ended, it goes. */
static void kdp_region_free(struct kdp_region *region)
{
	percpu_ref_kill(&region->users);
	while (!wait_for_completion_io_timeout(&region->unused, KDP_REGION_NAP))
		;
	kdp_region_leave(region);
	percpu_ref_exit(&region->users);
	free_percpu(region->uses);
	if (region->mm)
		mmdrop(region->mm);
	kfree(region);
}

static int kdp_region_get_pages(struct kdp_region *region, const struct kdp_region_add *add)
{
	if (add->flags & KDP_REGION_FILE)
		return kdp_pages_of_file(&region->pages, add->fd, add->addr, add->length,
					 add->flags);
	return kdp_pages_of_memory(&region->pages, add->addr, add->length,
				   add->flags & KDP_REGION_RECEIVE);
}

static int kdp_check_add(const struct kdp_region_add *add)
{
	const u32 rights = KDP_REGION_SEND | KDP_REGION_RECEIVE;

	if (add->flags & ~(rights | KDP_REGION_FILE) || !(add->flags & rights) || !add->length)
		return -EINVAL;
	if (add->base || add->mrs || add->page_size ||
	    memchr_inv(add->reserved, 0, sizeof(add->reserved)))
		return -EINVAL;
	if (add->fd && !(add->flags & KDP_REGION_FILE))
		return -EINVAL;
	if (add->addr + add->length < add->addr ||
	    PAGE_ALIGN(add->addr + add->length) < add->addr + add->length)
		return -EOVERFLOW;
	return 0;
}

/* @region, whose pages are there, gets its place. regions->lock is held. */
static int kdp_region_insert(struct kdp_regions *regions, struct kdp_region *region)
{
	int err = kdp_region_join(region);

	return err ?: kdp_table_change(regions, region, NULL);
}

static u64 kdp_region_uses(const struct kdp_region *region)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(region->uses, cpu));
	return sum;
}

static struct kdp_region_info kdp_region_describe(struct kdp_region *region)
{
	struct kdp_region_info info = {
		.base	= region->base,
		.length	= region->length,
		.flags	= region->flags,
		.uses	= kdp_region_uses(region),
	};

	mutex_lock(&region->ctrl->regions_lock);
	info.mrs = region->mrs.nr;
	info.page_size = region->mrs.nr ? 1U << region->mrs.shift : 0;
	mutex_unlock(&region->ctrl->regions_lock);
	return info;
}

static int kdp_region_add_locked(struct kdp_regions *regions, struct kdp_region_add *add)
{
	const struct kdp_region_table *table = kdp_table(regions);
	struct kdp_region_info info;
	struct kdp_region *region;
	int err = 0;

	if (table && table->nr >= KDP_MAX_REGIONS)
		return -ENOSPC;
	region = kdp_region_alloc(regions->ctrl, add);
	if (!region)
		return -ENOMEM;
	if (add->flags & KDP_REGION_FILE)
		err = kdp_file_base(regions, add->length, offset_in_page(add->addr),
				    &region->base);
	else if (kdp_overlaps(regions, region))
		err = -EEXIST;
	if (!err)
		err = kdp_region_get_pages(region, add);
	if (!err)
		err = kdp_region_insert(regions, region);
	if (err) {
		kdp_region_free(region);
		return err;
	}
	info = kdp_region_describe(region);
	add->base = info.base;
	add->mrs = info.mrs;
	add->page_size = info.page_size;
	return 0;
}

static void kdp_region_remove(struct kdp_regions *regions, struct kdp_region *region)
{
	kdp_table_remove(regions, region);
	kdp_region_free(region);
}

/* --- the ioctls ---------------------------------------------------------------- */

static int kdp_region_add(struct kdp_regions *regions, struct kdp_region_add __user *arg)
{
	struct kdp_region_add add;
	struct kdp_region *region;
	int err;

	if (copy_from_user(&add, arg, sizeof(add)))
		return -EFAULT;
	err = kdp_check_add(&add) ?: kdp_check_live(regions->ctrl);
	if (err)
		return err;
	if (mutex_lock_killable(&regions->lock))
		return -EINTR;
	err = kdp_region_add_locked(regions, &add);
	if (!err && copy_to_user(arg, &add, sizeof(add))) {
		region = kdp_table_find(kdp_table(regions), kdp_owner_of(add.base), add.base);
		kdp_region_remove(regions, region);
		err = -EFAULT;
	}
	mutex_unlock(&regions->lock);
	return err;
}

static int kdp_region_del(struct kdp_regions *regions, const void __user *arg)
{
	struct kdp_region_del del;
	struct kdp_region *region;
	int err = 0;

	if (copy_from_user(&del, arg, sizeof(del)))
		return -EFAULT;
	if (memchr_inv(del.reserved, 0, sizeof(del.reserved)))
		return -EINVAL;
	if (mutex_lock_killable(&regions->lock))
		return -EINTR;
	region = kdp_table_find(kdp_table(regions), kdp_owner_of(del.base), del.base);
	if (region && region->base == del.base)
		kdp_region_remove(regions, region);
	else
		err = -ENOENT;
	mutex_unlock(&regions->lock);
	return err;
}

/* Those of files come last: their addresses are higher than anybody's. */
static int kdp_put_infos(const struct kdp_region_table *table, const struct mm_struct *mm,
			 struct kdp_region_list *list, u32 room)
{
	struct kdp_region_info __user *infos = u64_to_user_ptr(list->infos);
	struct kdp_region_info info;
	unsigned int i;

	for (i = 0; table && i < table->nr; i++) {
		if (table->region[i]->mm != mm)
			continue;
		if (list->nr < room) {
			info = kdp_region_describe(table->region[i]);
			if (copy_to_user(infos + list->nr, &info, sizeof(info)))
				return -EFAULT;
		}
		list->nr++;
	}
	return 0;
}

static int kdp_region_list(struct kdp_regions *regions, struct kdp_region_list __user *arg)
{
	struct kdp_region_list list;
	u32 room;
	int err;

	if (copy_from_user(&list, arg, sizeof(list)))
		return -EFAULT;
	if (list.reserved0 || memchr_inv(list.reserved, 0, sizeof(list.reserved)))
		return -EINVAL;
	room = list.nr;
	list.nr = 0;
	if (mutex_lock_killable(&regions->lock))
		return -EINTR;
	err = kdp_put_infos(kdp_table(regions), current->mm, &list, room);
	if (!err)
		err = kdp_put_infos(kdp_table(regions), NULL, &list, room);
	mutex_unlock(&regions->lock);
	if (!err && copy_to_user(arg, &list, sizeof(list)))
		err = -EFAULT;
	return err;
}

static int kdp_get_features(const struct kdp_regions *regions, void __user *arg)
{
	const struct kdp_features features = {
		.features	= KDP_FEATURE_REGION | KDP_FEATURE_REGION_FILE |
				  KDP_FEATURE_URING | KDP_FEATURE_URING_POLL,
		.max_transfer	= regions->ctrl->max_transfer,
		.max_regions	= KDP_MAX_REGIONS,
	};

	return copy_to_user(arg, &features, sizeof(features)) ? -EFAULT : 0;
}

/* Returns 0 or a negative errno, -ENOTTY for an unknown one. May sleep. */
long kdp_regions_ioctl(struct kdp_regions *regions, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case KDP_IOC_FEATURES:
		return kdp_get_features(regions, arg);
	case KDP_IOC_REGION_ADD:
		return kdp_region_add(regions, arg);
	case KDP_IOC_REGION_DEL:
		return kdp_region_del(regions, arg);
	case KDP_IOC_REGION_LIST:
		return kdp_region_list(regions, arg);
	default:
		return -ENOTTY;
	}
}

/* A file was opened. */
void kdp_regions_init(struct kdp_regions *regions, struct kdp_ctrl *ctrl)
{
	regions->ctrl = ctrl;
	mutex_init(&regions->lock);
	RCU_INIT_POINTER(regions->table, NULL);
}

/* It is closed, by all. Waits for commands that are under way. */
void kdp_regions_release(struct kdp_regions *regions)
{
	struct kdp_region_table *table;

	mutex_lock(&regions->lock);
	while ((table = kdp_table(regions)))
		kdp_region_remove(regions, table->region[table->nr - 1]);
	mutex_unlock(&regions->lock);
}
