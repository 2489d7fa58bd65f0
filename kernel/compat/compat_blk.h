/* SPDX-License-Identifier: GPL-2.0-only */
/* The block layer's spellings, newest kernel's first. */
#ifndef KDP_COMPAT_BLK_H
#define KDP_COMPAT_BLK_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/uio.h>

#include "kdp_config.h"

/* Merging became the only behaviour, and the flag went away. */
#ifdef HAVE_BLK_MQ_F_SHOULD_MERGE
#define KDP_BLK_MQ_F_SHOULD_MERGE	BLK_MQ_F_SHOULD_MERGE
#else
#define KDP_BLK_MQ_F_SHOULD_MERGE	0
#endif

#ifdef HAVE_BLK_STS_RESV_CONFLICT
#define KDP_BLK_STS_RESV_CONFLICT	BLK_STS_RESV_CONFLICT
#else
#define KDP_BLK_STS_RESV_CONFLICT	BLK_STS_NEXUS
#endif

/* The head of a function for request.end_io. */
#ifdef HAVE_RQ_END_IO_BATCH
#define KDP_RQ_END_IO(name, rq, status)	\
	enum rq_end_io_ret name(struct request *rq, blk_status_t status, \
				const struct io_comp_batch *batch)
#else
#define KDP_RQ_END_IO(name, rq, status)	\
	enum rq_end_io_ret name(struct request *rq, blk_status_t status)
#endif

/* How a block device was opened. */
#ifdef HAVE_BLK_MODE
#define KDP_BLK_MODE_T		blk_mode_t
#define KDP_BLK_OPEN_WRITE	BLK_OPEN_WRITE
#else
#define KDP_BLK_MODE_T		fmode_t
#define KDP_BLK_OPEN_WRITE	FMODE_WRITE
#endif

static inline int kdp_rq_map_sg(struct request *rq, struct scatterlist *sgl)
{
#ifdef HAVE_BLK_RQ_MAP_SG_2
	return blk_rq_map_sg(rq, sgl);
#else
	return blk_rq_map_sg(rq->q, rq, sgl);
#endif
}

/*
 * Hold the next pages of user memory that @iter has, at most @max, in the way that
 * kdp_bio_holds_pages() tells @bio. Returns the bytes in them, from *@offset in the first, or a
 * negative errno; @iter has advanced by as many.
 */
static inline ssize_t kdp_iter_hold_pages(struct iov_iter *iter, struct page **pages,
					  unsigned int max, size_t *offset)
{
#ifdef HAVE_IOV_ITER_EXTRACT_PAGES
	return iov_iter_extract_pages(iter, &pages, iov_iter_count(iter), max, 0, offset);
#else
	return iov_iter_get_pages2(iter, pages, iov_iter_count(iter), max, offset);
#endif
}

/* Pages of kdp_iter_hold_pages() go along with @bio. */
static inline void kdp_bio_holds_pages(struct bio *bio)
{
#ifdef HAVE_IOV_ITER_EXTRACT_PAGES
	bio_set_flag(bio, BIO_PAGE_PINNED);
#endif
}

static inline int kdp_rq_map_kern(struct request *rq, void *buffer, unsigned int len)
{
#ifdef HAVE_BLK_RQ_MAP_KERN_NO_QUEUE
	return blk_rq_map_kern(rq, buffer, len, GFP_KERNEL);
#else
	return blk_rq_map_kern(rq->q, rq, buffer, len, GFP_KERNEL);
#endif
}

/* What the queues of this driver promise the block layer. */
struct kdp_disk_limits {
	u32	block_size;	/* bytes */
	u32	max_transfer;	/* bytes */
	u32	max_segments;
	u64	max_write_zeroes;	/* bytes in one command, 0: not at all */
	u64	max_discard;		/* bytes in one command, 0: not at all */
	bool	write_cache;		/* Flush and FUA matter */
};

static inline unsigned int kdp_sectors(u64 bytes)
{
	return min_t(u64, bytes >> SECTOR_SHIFT, UINT_MAX);
}

/* Data may start at any multiple of 4 bytes; only the first segment off a page. */
#define KDP_DMA_ALIGN_MASK	3
#define KDP_VIRT_BOUNDARY	(4096 - 1)

#ifdef HAVE_QUEUE_LIMITS

static inline struct queue_limits kdp_queue_limits(const struct kdp_disk_limits *l)
{
	return (struct queue_limits) {
		.features		= l->write_cache ? BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA : 0,
		.logical_block_size	= l->block_size,
		.physical_block_size	= l->block_size,
		.max_hw_sectors		= l->max_transfer >> SECTOR_SHIFT,
		.max_segments		= l->max_segments,
		.max_segment_size	= UINT_MAX,
		.max_write_zeroes_sectors = kdp_sectors(l->max_write_zeroes),
		.max_hw_discard_sectors	= kdp_sectors(l->max_discard),
		.max_discard_segments	= 1,
		.discard_granularity	= l->max_discard ? l->block_size : 0,
		.virt_boundary_mask	= KDP_VIRT_BOUNDARY,
		.dma_alignment		= KDP_DMA_ALIGN_MASK,
	};
}

static inline struct request_queue *kdp_alloc_queue(struct blk_mq_tag_set *set,
						    const struct kdp_disk_limits *l)
{
	struct queue_limits lim = kdp_queue_limits(l);

	return blk_mq_alloc_queue(set, &lim, NULL);
}

static inline struct gendisk *kdp_alloc_disk(struct blk_mq_tag_set *set,
					     const struct kdp_disk_limits *l, void *queuedata)
{
	struct queue_limits lim = kdp_queue_limits(l);

	return blk_mq_alloc_disk(set, &lim, queuedata);
}

#else /* setters, one a limit */

static inline void kdp_apply_limits(struct request_queue *q, const struct kdp_disk_limits *l)
{
	blk_queue_logical_block_size(q, l->block_size);
	blk_queue_physical_block_size(q, l->block_size);
	blk_queue_max_hw_sectors(q, l->max_transfer >> SECTOR_SHIFT);
	blk_queue_max_segments(q, l->max_segments);
	blk_queue_max_write_zeroes_sectors(q, kdp_sectors(l->max_write_zeroes));
	blk_queue_max_discard_sectors(q, kdp_sectors(l->max_discard));
	blk_queue_max_discard_segments(q, 1);
	q->limits.discard_granularity = l->max_discard ? l->block_size : 0;
	blk_queue_virt_boundary(q, KDP_VIRT_BOUNDARY);
	blk_queue_dma_alignment(q, KDP_DMA_ALIGN_MASK);
	blk_queue_write_cache(q, l->write_cache, l->write_cache);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
}

static inline struct request_queue *kdp_alloc_queue(struct blk_mq_tag_set *set,
						    const struct kdp_disk_limits *l)
{
	struct request_queue *q = blk_mq_init_queue(set);

	if (!IS_ERR(q))
		kdp_apply_limits(q, l);
	return q;
}

static inline struct gendisk *kdp_alloc_disk(struct blk_mq_tag_set *set,
					     const struct kdp_disk_limits *l, void *queuedata)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, queuedata);

	if (!IS_ERR(disk))
		kdp_apply_limits(disk->queue, l);
	return disk;
}

#endif /* HAVE_QUEUE_LIMITS */

#endif /* KDP_COMPAT_BLK_H */
