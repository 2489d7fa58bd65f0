/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registered regions: memory that is pinned once and stands registered for all I/O to come.
 * See <kdp/kdp_ioctl.h> for what users are promised.
 *
 *	region.c	the regions of an open file, finding one by address, the ioctls
 *	region_pages.c	a region's pages: pinned memory, or pages of a page cache
 *	region_mrs.c	their registration with the RDMA device, over reconnects, to the end
 *
 * Lifetimes. A region belongs to an open file and is freed by it, or by the ioctl. Commands
 * that use it hold it (->users, a counter a CPU). Pages and registration may end before,
 * with the controller: they belong to ctrl->regions_lock, and commands look at them in
 * ->queue_rq alone, which no connection lets through by then.
 */
#ifndef KDP_REGION_H
#define KDP_REGION_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/scatterlist.h>

#include <kdp/kdp_ioctl.h>

struct ib_device;
struct ib_mr;
struct ib_sge;
struct kdp_ctrl;
struct kdp_device;
struct kdp_region;
struct kdp_region_table;

/* What a request knows of the region that its data lie in. */
struct kdp_region_use {
	struct kdp_region	*region;	/* NULL: they do not */
	u64			offset;		/* bytes, of the first */
	u32			length;		/* bytes */
};

/* Pages that are held in memory; paid for by ->payer. */
struct kdp_pages {
	struct page		**page;
	unsigned long		nr;
	unsigned int		offset;		/* of the first byte in the first page */
	bool			writable;	/* by the wire: dirty when they are given back */
	bool			pinned;		/* FOLL_PIN; else references */
	struct mm_struct	*payer;		/* whose pinned_vm has them */
	struct file		*file;		/* whose mapping counts as writable, or NULL */
};

/*
 * The registration. The pages are seen as entries of 1 << shift bytes, in device
 * addresses. MR i holds entries from i << step_shift on: the next one begins before it ends, so
 * that a command of any place lies in one of them.
 */
struct kdp_region_mrs {
	struct kdp_device	*dev;		/* NULL: not registered */
	struct sg_table		sgt;
	dma_addr_t		*entries;
	unsigned long		nr_entries;
	unsigned int		shift;
	unsigned int		head;		/* of the first byte in the first entry */
	unsigned int		step_shift;
	unsigned int		mr_entries;	/* of one MR at most */
	unsigned int		nr;
	struct ib_mr		**mr;
};

struct kdp_region {
	/* hot, and fixed */
	u64			base;		/* what commands call its first byte */
	u64			length;		/* bytes */
	u32			flags;		/* KDP_REGION_* */
	bool			ready;		/* registered */
	struct mm_struct	*mm;		/* whose addresses they are; NULL: nobody's */
	struct percpu_ref	users;
	u64 __percpu		*uses;		/* commands so far */
	/* of ctrl->regions_lock */
	struct kdp_region_mrs	mrs;
	struct kdp_pages	pages;
	struct kdp_ctrl		*ctrl;
	struct list_head	entry;		/* ctrl->regions */
	struct completion	unused;		/* users are gone */
};

/* The regions of an open file. */
struct kdp_regions {
	struct kdp_ctrl			*ctrl;
	struct mutex			lock;	/* changes of the table */
	struct kdp_region_table __rcu	*table;	/* NULL: there are none */
};

/* region.c */
void kdp_regions_init(struct kdp_regions *regions, struct kdp_ctrl *ctrl);
void kdp_regions_release(struct kdp_regions *regions);
long kdp_regions_ioctl(struct kdp_regions *regions, unsigned int cmd, void __user *arg);
bool kdp_region_take(const struct kdp_regions *regions, u64 addr, u32 length, bool write,
		     struct kdp_region_use *use);

static inline void kdp_region_put(struct kdp_region_use *use)
{
	if (use->region)
		percpu_ref_put(&use->region->users);
	use->region = NULL;
}

/* region_pages.c */
int kdp_pages_of_memory(struct kdp_pages *pages, u64 addr, u64 length, bool writable);
int kdp_pages_of_file(struct kdp_pages *pages, int fd, u64 offset, u64 length, u32 flags);
void kdp_pages_release(struct kdp_pages *pages);

/* region_mrs.c */
int kdp_region_join(struct kdp_region *region);
void kdp_region_leave(struct kdp_region *region);
void kdp_regions_renew(struct kdp_ctrl *ctrl);
void kdp_regions_end(struct kdp_ctrl *ctrl);
bool kdp_regions_use(struct kdp_ctrl *ctrl, const struct ib_device *ib);
u64 kdp_region_dma(const struct kdp_region_mrs *mrs, u64 offset);
unsigned int kdp_region_pieces(const struct kdp_region_mrs *mrs, u64 offset, u32 length,
			       struct ib_sge *sge, unsigned int max);
const struct ib_mr *kdp_region_mr(const struct kdp_region_mrs *mrs, u64 offset, u32 length,
				  u64 *iova);

#endif /* KDP_REGION_H */
