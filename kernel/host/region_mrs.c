// SPDX-License-Identifier: GPL-2.0-only
/*
 * A region's registration with the RDMA device.
 *
 * MRs belong to a protection domain, not to a connection: so they outlive reconnects. They
 * are registered by work requests of the admin queue, a batch at a time, and waited for.
 * They are made anew (kdp_regions_renew()) when a reconnect comes by another device, or
 * when the target has invalidated a key that it should not have.
 *
 * Locks: ctrl->lock (there is a connection, and it stays, though it may break), then
 * ctrl->regions_lock. Where something only goes, the latter.
 */
#include <linux/blk-mq.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "../core/dma.h"
#include "host.h"
#include "region.h"

/* Entries of one MR at most: what the device has for them is not for us alone. */
#define KDP_REGION_MR_ENTRIES	65536

#define KDP_REGION_NAP		(10 * HZ)

/* A batch of registrations. */
struct kdp_registering {
	struct completion	done;
	struct ib_cqe		last_cqe;	/* signalled: all before it are through */
	struct ib_cqe		cqe;		/* of the others, when they fail */
	bool			failed;
	unsigned int		nr;
	struct ib_reg_wr	wr[KDP_REGION_WRS];
};

static void kdp_registering_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_registering *batch = container_of(wc->wr_cqe, struct kdp_registering, cqe);

	if (wc->status == IB_WC_SUCCESS)
		return;
	batch->failed = true;
	kdp_wc_error(kdp_wc_queue(wc), wc, "REG_MR of a region");
}

static void kdp_registering_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kdp_registering *batch = container_of(wc->wr_cqe, struct kdp_registering, last_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		batch->failed = true;
		kdp_wc_error(kdp_wc_queue(wc), wc, "REG_MR of a region");
	}
	complete(&batch->done);
}

/*
 * Under stop_lock a queue that is established is not drained yet: what is posted now
 * completes. When posting fails, some may have been: hang up, and they have.
 */
static int kdp_registering_post(struct kdp_ctrl *ctrl, struct kdp_registering *batch)
{
	struct kdp_queue *queue = &ctrl->queues[0];
	bool connected;
	int err = 0;

	mutex_lock(&ctrl->stop_lock);
	connected = test_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags);
	if (connected)
		err = kdp_conn_post_send(&queue->conn, &batch->wr[0].wr);
	mutex_unlock(&ctrl->stop_lock);
	if (!connected)
		return -EAGAIN;
	if (err) {
		kdp_ctrl_fail(ctrl, "a region could not be registered");
		kdp_queue_stop(ctrl, queue);
		return -EIO;
	}
	while (!wait_for_completion_io_timeout(&batch->done, KDP_REGION_NAP))
		;
	return batch->failed ? -EAGAIN : 0;
}

/* The batch goes out, if there is anything in it. */
static int kdp_registering_flush(struct kdp_ctrl *ctrl, struct kdp_registering *batch)
{
	unsigned int i;
	int err;

	if (!batch->nr)
		return 0;
	reinit_completion(&batch->done);
	batch->failed = false;
	for (i = 0; i < batch->nr; i++)
		batch->wr[i].wr.next = i + 1 < batch->nr ? &batch->wr[i + 1].wr : NULL;
	batch->wr[i - 1].wr.wr_cqe = &batch->last_cqe;
	batch->wr[i - 1].wr.send_flags = IB_SEND_SIGNALED;
	err = kdp_registering_post(ctrl, batch);
	batch->nr = 0;
	return err;
}

/* --- one registration ------------------------------------------------------------- */

static u64 kdp_mrs_entry_size(const struct kdp_region_mrs *mrs)
{
	return 1ULL << mrs->shift;
}

/* Where in the region MR @i begins. */
static u64 kdp_mrs_start(const struct kdp_region_mrs *mrs, unsigned int i)
{
	return i ? ((u64)i << (mrs->step_shift + mrs->shift)) - mrs->head : 0;
}

/* The MR that holds the byte at @offset with most of what follows. */
static unsigned int kdp_mrs_index(const struct kdp_region_mrs *mrs, u64 offset)
{
	u64 i = (mrs->head + offset) >> (mrs->shift + mrs->step_shift);

	return min_t(u64, i, mrs->nr - 1);
}

static bool kdp_mrs_fits(const struct kdp_region_mrs *mrs, unsigned int i, u64 offset, u32 length)
{
	u64 last = (mrs->head + offset + length - 1) >> mrs->shift;

	return last < ((u64)i << mrs->step_shift) + mrs->mr_entries;
}

/*
 * The MR of the data at @offset of a region, and their address in it; NULL when none
 * holds them all. Context: ->queue_rq, with the connection up.
 */
const struct ib_mr *kdp_region_mr(const struct kdp_region_mrs *mrs, u64 offset, u32 length,
				  u64 *iova)
{
	unsigned int i;

	if (unlikely(!mrs->nr))
		return NULL;
	i = kdp_mrs_index(mrs, offset);
	if (unlikely(!kdp_mrs_fits(mrs, i, offset, length)))
		return NULL;
	*iova = mrs->mr[i]->iova + offset - kdp_mrs_start(mrs, i);
	return mrs->mr[i];
}

/* What the device calls the byte at @offset, without an MR. Context as above. */
u64 kdp_region_dma(const struct kdp_region_mrs *mrs, u64 offset)
{
	offset += mrs->head;
	return mrs->entries[offset >> mrs->shift] + (offset & (kdp_mrs_entry_size(mrs) - 1));
}

/*
 * The data at @offset as at most @max pieces in device addresses, in @sge, without their key. Returns how
 * many, or 0 when there are more. Context as above.
 */
unsigned int kdp_region_pieces(const struct kdp_region_mrs *mrs, u64 offset, u32 length,
			       struct ib_sge *sge, unsigned int max)
{
	u64 size = kdp_mrs_entry_size(mrs), dma;
	unsigned int n = 0;
	u32 len;

	for (; length; offset += len, length -= len) {
		dma = kdp_region_dma(mrs, offset);
		len = min_t(u64, length, size - (dma & (size - 1)));
		if (n && sge[n - 1].addr + sge[n - 1].length == dma) {
			sge[n - 1].length += len;
			continue;
		}
		if (n == max)
			return 0;
		sge[n].addr = dma;
		sge[n++].length = len;
	}
	return n;
}

/* The largest size of entries that the addresses allow; only the ends may be off it. */
static unsigned int kdp_mrs_best_shift(const struct kdp_region_mrs *mrs, u64 length)
{
	u64 sizes = mrs->dev->ib->attrs.page_size_cap, bits = SZ_2M;
	struct scatterlist *sg;
	unsigned int i, shift;

	if (length < SZ_2M)
		bits |= rounddown_pow_of_two(length);
	for_each_sgtable_dma_sg(&mrs->sgt, sg, i) {
		if (i)
			bits |= sg_dma_address(sg);
		if (i + 1 < mrs->sgt.nents)
			bits |= sg_dma_address(sg) + sg_dma_len(sg);
	}
	for (shift = __ffs64(bits); shift > PAGE_SHIFT && !(sizes & BIT_ULL(shift)); shift--)
		;
	return max_t(unsigned int, shift, PAGE_SHIFT);
}

/* Data that begin in one entry reach so many entries further at most. */
static unsigned int kdp_mrs_overlap(const struct kdp_region_mrs *mrs, u32 max_transfer)
{
	return DIV_ROUND_UP_ULL(max_transfer, kdp_mrs_entry_size(mrs));
}

/* How the entries are divided among MRs, so that a command of @max_transfer bytes fits one. */
static void kdp_mrs_divide(struct kdp_region_mrs *mrs, u32 max_transfer)
{
	unsigned int most = kdp_mr_pages(mrs->dev, KDP_REGION_MR_ENTRIES);
	unsigned int overlap = kdp_mrs_overlap(mrs, max_transfer);
	unsigned int step = max(most / 2, most > overlap ? most - overlap : 1);

	if (mrs->nr_entries <= most) {
		mrs->nr = 1;
		mrs->mr_entries = mrs->nr_entries;
		mrs->step_shift = fls(mrs->nr_entries);
		return;
	}
	mrs->mr_entries = most;
	mrs->step_shift = ilog2(step);
	mrs->nr = DIV_ROUND_UP(mrs->nr_entries - most, 1UL << mrs->step_shift) + 1;
}

/* The device addresses of all entries. Returns 0 or -ENOMEM. */
static int kdp_mrs_list(struct kdp_region_mrs *mrs, u64 length)
{
	u64 size = kdp_mrs_entry_size(mrs), addr, end;
	struct scatterlist *sg;
	unsigned long n = 0;
	unsigned int i;

	mrs->head = sg_dma_address(mrs->sgt.sgl) & (size - 1);
	mrs->nr_entries = (mrs->head + length + size - 1) >> mrs->shift;
	mrs->entries = kvmalloc_array(mrs->nr_entries, sizeof(*mrs->entries),
				      GFP_KERNEL | __GFP_NOWARN);
	if (!mrs->entries)
		return -ENOMEM;
	for_each_sgtable_dma_sg(&mrs->sgt, sg, i) {
		end = sg_dma_address(sg) + sg_dma_len(sg);
		for (addr = ALIGN_DOWN(sg_dma_address(sg), size); addr < end; addr += size)
			mrs->entries[n++] = addr;
	}
	return WARN_ON(n != mrs->nr_entries) ? -EIO : 0;
}

/* The segments of MR @i, in @sg; returns how many. */
static unsigned int kdp_mrs_segments(const struct kdp_region_mrs *mrs, unsigned int i, u64 length,
				     struct scatterlist *sg)
{
	unsigned long first = (unsigned long)i << mrs->step_shift, n;
	u64 size = kdp_mrs_entry_size(mrs), left = length - kdp_mrs_start(mrs, i), skip, len;

	for (n = 0; n < mrs->mr_entries && left; n++) {
		skip = first || n ? 0 : mrs->head;
		len = min(size - skip, left);
		sg_dma_address(&sg[n]) = mrs->entries[first + n] + skip;
		sg_dma_len(&sg[n]) = len;
		left -= len;
	}
	return n;
}

static void kdp_mrs_free(struct kdp_region_mrs *mrs)
{
	unsigned int i;

	for (i = 0; mrs->mr && i < mrs->nr && mrs->mr[i]; i++)
		ib_dereg_mr(mrs->mr[i]);
	kvfree(mrs->mr);
	kvfree(mrs->entries);
	mrs->mr = NULL;
	mrs->entries = NULL;
	mrs->nr = 0;
}

static int kdp_mrs_register_all(struct kdp_region *region, struct kdp_registering *batch,
				struct scatterlist *sg)
{
	struct kdp_region_mrs *mrs = &region->mrs;
	int access = (region->flags & KDP_REGION_SEND ? IB_ACCESS_REMOTE_READ : 0) |
		     (region->flags & KDP_REGION_RECEIVE ?
		      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE : 0);
	struct ib_mr *mr;
	unsigned int i, n;
	int err = 0;

	for (i = 0; i < mrs->nr && !err; i++) {
		mr = kdp_mr_alloc(mrs->dev, mrs->mr_entries);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		mrs->mr[i] = mr;
		n = kdp_mrs_segments(mrs, i, region->length, sg);
		err = kdp_mr_map(mr, sg, n, kdp_mrs_entry_size(mrs), access, &batch->cqe,
				 &batch->wr[batch->nr]);
		if (err)
			return err;
		if (++batch->nr == KDP_REGION_WRS)
			err = kdp_registering_flush(region->ctrl, batch);
	}
	return err ?: kdp_registering_flush(region->ctrl, batch);
}

/* With entries of 1 << @shift bytes. On failure nothing is left. */
static int kdp_mrs_try(struct kdp_region *region, struct kdp_registering *batch,
		       unsigned int shift)
{
	struct kdp_region_mrs *mrs = &region->mrs;
	struct scatterlist *sg = NULL;
	int err;

	mrs->shift = shift;
	err = kdp_mrs_list(mrs, region->length);
	if (err)
		goto free;
	kdp_mrs_divide(mrs, region->ctrl->max_transfer);
	err = -ENOMEM;
	mrs->mr = kvcalloc(mrs->nr, sizeof(*mrs->mr), GFP_KERNEL);
	sg = kvmalloc_array(mrs->mr_entries, sizeof(*sg), GFP_KERNEL);
	if (!mrs->mr || !sg)
		goto free;
	sg_init_table(sg, mrs->mr_entries);
	batch->nr = 0;
	err = kdp_mrs_register_all(region, batch, sg);
free:
	kvfree(sg);
	if (err)
		kdp_mrs_free(mrs);
	return err;
}

/* A provider may take only some sizes of entries, whatever it says: the smallest always. */
static int kdp_mrs_register(struct kdp_region *region)
{
	unsigned int shift = kdp_mrs_best_shift(&region->mrs, region->length);
	struct kdp_registering *batch;
	int err;

	batch = kzalloc(sizeof(*batch), GFP_KERNEL);
	if (!batch)
		return -ENOMEM;
	init_completion(&batch->done);
	batch->cqe.done = kdp_registering_failed;
	batch->last_cqe.done = kdp_registering_done;
	err = kdp_mrs_try(region, batch, shift);
	if (err && err != -EAGAIN && err != -EIO && shift > PAGE_SHIFT)
		err = kdp_mrs_try(region, batch, PAGE_SHIFT);
	kfree(batch);
	/* whatever a provider calls it: the caller's arguments were right */
	return err && err != -EAGAIN && err != -ENOMEM ? -EIO : err;
}

static enum dma_data_direction kdp_region_dir(const struct kdp_region *region)
{
	switch (region->flags & (KDP_REGION_SEND | KDP_REGION_RECEIVE)) {
	case KDP_REGION_SEND:
		return DMA_TO_DEVICE;
	case KDP_REGION_RECEIVE:
		return DMA_FROM_DEVICE;
	default:
		return DMA_BIDIRECTIONAL;
	}
}

static int kdp_mrs_map(struct kdp_region *region)
{
	struct kdp_region_mrs *mrs = &region->mrs;
	const struct kdp_pages *pages = &region->pages;
	int err;

	err = sg_alloc_table_from_pages_segment(&mrs->sgt, pages->page, pages->nr, pages->offset,
						region->length, ib_dma_max_seg_size(mrs->dev->ib),
						GFP_KERNEL);
	if (err)
		return err;
	err = kdp_dma_map_sgtable(mrs->dev, &mrs->sgt, kdp_region_dir(region));
	if (err)
		sg_free_table(&mrs->sgt);
	return err;
}

/* The peers have no access to the region any more. Nothing may be under way. */
static void kdp_region_unregister(struct kdp_region *region)
{
	struct kdp_region_mrs *mrs = &region->mrs;

	lockdep_assert_held(&region->ctrl->regions_lock);
	WRITE_ONCE(region->ready, false);
	if (!mrs->dev)
		return;
	kdp_mrs_free(mrs);
	kdp_dma_unmap_sgtable(mrs->dev, &mrs->sgt, kdp_region_dir(region));
	sg_free_table(&mrs->sgt);
	kdp_device_put(mrs->dev);
	mrs->dev = NULL;
}

/* Data at any place must lie in one MR, where commands have no other way than the region. */
static int kdp_mrs_check_file(const struct kdp_region *region)
{
	const struct kdp_region_mrs *mrs = &region->mrs;
	unsigned int overlap = kdp_mrs_overlap(mrs, region->ctrl->max_transfer);

	if (region->flags & KDP_REGION_FILE && mrs->nr > 1 &&
	    (1U << mrs->step_shift) + overlap > mrs->mr_entries)
		return -EOPNOTSUPP;
	return 0;
}

static int kdp_region_register(struct kdp_region *region)
{
	struct kdp_region_mrs *mrs = &region->mrs;
	int err;

	lockdep_assert_held(&region->ctrl->lock);
	lockdep_assert_held(&region->ctrl->regions_lock);
	mrs->dev = region->ctrl->queues[0].conn.dev;
	kdp_device_hold(mrs->dev);
	err = kdp_mrs_map(region);
	if (err) {
		kdp_device_put(mrs->dev);
		mrs->dev = NULL;
		return err;
	}
	err = kdp_mrs_register(region) ?: kdp_mrs_check_file(region);
	if (err)
		kdp_region_unregister(region);
	else
		WRITE_ONCE(region->ready, true);
	return err;
}

/* --- a controller's regions ------------------------------------------------------- */

/*
 * Register @region, whose pages are there, and join its controller's. May sleep. Returns 0 or
 *   -EAGAIN, -ENODEV  there is no connection
 *   -ENOMEM, -EIO, -EINTR, -EOPNOTSUPP
 */
int kdp_region_join(struct kdp_region *region)
{
	struct kdp_ctrl *ctrl = region->ctrl;
	unsigned int noio;
	int err;

	if (mutex_lock_killable(&ctrl->lock))
		return -EINTR;
	/* what frees memory may be I/O that waits for a reconnect, which waits for the locks */
	noio = memalloc_noio_save();
	mutex_lock(&ctrl->regions_lock);
	err = kdp_check_live(ctrl);
	if (!err)
		err = kdp_region_register(region);
	if (!err)
		list_add_tail(&region->entry, &ctrl->regions);
	mutex_unlock(&ctrl->regions_lock);
	memalloc_noio_restore(noio);
	mutex_unlock(&ctrl->lock);
	return err;
}

/* It gives up its registration, and its pages to the caller. */
static struct kdp_pages kdp_region_end(struct kdp_region *region)
{
	struct kdp_pages pages = region->pages;

	kdp_region_unregister(region);
	region->pages = (struct kdp_pages) {};
	list_del_init(&region->entry);
	return pages;
}

/* It gives up its registration and its pages, if it has them still. May sleep. */
void kdp_region_leave(struct kdp_region *region)
{
	struct kdp_pages pages;

	mutex_lock(&region->ctrl->regions_lock);
	pages = kdp_region_end(region);
	mutex_unlock(&region->ctrl->regions_lock);
	/* that may wait for whoever has a page locked: not inside */
	kdp_pages_release(&pages);
}

/*
 * A new connection is up, and nothing goes over it yet: regions that cannot be reached by it
 * are registered anew. One that cannot be is left unregistered: its commands are sent as
 * ever, where they have another way. ctrl->lock is held; may sleep.
 */
void kdp_regions_renew(struct kdp_ctrl *ctrl)
{
	const struct kdp_device *dev = ctrl->queues[0].conn.dev;
	bool all = test_and_clear_bit(KDP_CTRL_KEYS_SPOILED, &ctrl->flags);
	struct kdp_region *region;
	int err;

	mutex_lock(&ctrl->regions_lock);
	list_for_each_entry(region, &ctrl->regions, entry) {
		if (region->ready && region->mrs.dev == dev && !all)
			continue;
		kdp_region_unregister(region);
		err = kdp_region_register(region);
		if (err)
			dev_warn_ratelimited(&ctrl->dev,
					     "a region could not be registered anew: error %d\n",
					     err);
	}
	mutex_unlock(&ctrl->regions_lock);
}

/* The controller goes; its connection is gone. What files still have are empty. May sleep. */
void kdp_regions_end(struct kdp_ctrl *ctrl)
{
	struct kdp_region *region, *next;
	struct kdp_pages pages;

	mutex_lock(&ctrl->regions_lock);
	list_for_each_entry_safe(region, next, &ctrl->regions, entry) {
		pages = kdp_region_end(region);
		kdp_pages_release(&pages);
	}
	mutex_unlock(&ctrl->regions_lock);
}

bool kdp_regions_use(struct kdp_ctrl *ctrl, const struct ib_device *ib)
{
	struct kdp_region *region;
	bool use = false;

	mutex_lock(&ctrl->regions_lock);
	list_for_each_entry(region, &ctrl->regions, entry)
		use |= region->mrs.dev && region->mrs.dev->ib == ib;
	mutex_unlock(&ctrl->regions_lock);
	return use;
}
