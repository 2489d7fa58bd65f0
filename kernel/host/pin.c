// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command's data in its sender's own pages, held for this command alone.
 *
 * That is what blk_rq_map_user() is for, too. But some kernels' forgets an array for each
 * command of more than eight pages the first of which cannot be had: whoever may send a command
 * could use up the kernel's memory. What is made here ends by blk_rq_unmap_user() nonetheless.
 */
#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "passthru.h"

#include "compat_blk.h"

/* Pages that are taken at a time. */
#define KDP_PIN_PAGES	16

/* Can the device reach the data where they are? Else they have to be copied. */
bool kdp_can_pin(const struct request *rq, const struct iov_iter *iter)
{
	return !(iov_iter_alignment(iter) & queue_dma_alignment(rq->q)) &&
	       !(iov_iter_gap_alignment(iter) & queue_virt_boundary(rq->q));
}

static int kdp_bio_take_some(struct bio *bio, struct iov_iter *iter)
{
	struct page *pages[KDP_PIN_PAGES];
	size_t offset, len;
	ssize_t bytes;
	unsigned int i;

	bytes = kdp_iter_hold_pages(iter, pages, ARRAY_SIZE(pages), &offset);
	if (bytes <= 0)
		return bytes ?: -EFAULT;
	for (i = 0; bytes > 0; i++) {
		len = min_t(size_t, bytes, PAGE_SIZE - offset);
		__bio_add_page(bio, pages[i], len, offset);
		bytes -= len;
		offset = 0;
	}
	return 0;
}

/*
 * Give @rq, which has no data yet, all of the user memory at @iter, which kdp_can_pin().
 * May sleep. Returns 0, or with nothing held
 *   -EINVAL  more pages than a command can carry
 *   -EFAULT  not the caller's, or not for him to write to
 *   -EINTR   the sender is being killed
 *   -ENOMEM
 */
int kdp_pin_user(struct request *rq, const struct iov_iter *iter)
{
	unsigned int max = min_t(unsigned int, queue_max_segments(rq->q), BIO_MAX_VECS);
	unsigned int nr = iov_iter_npages(iter, max + 1);
	struct iov_iter rest = *iter;
	struct bio *bio;
	int err = 0;

	if (nr > max)
		return -EINVAL;
	bio = bio_kmalloc(nr, GFP_KERNEL);
	if (!bio)
		return -ENOMEM;
	bio_init(bio, NULL, bio->bi_inline_vecs, nr, req_op(rq));
	kdp_bio_holds_pages(bio);
	while (!err && iov_iter_count(&rest))
		err = kdp_bio_take_some(bio, &rest);
	if (!err)
		err = blk_rq_append_bio(rq, bio);
	if (err)
		blk_rq_unmap_user(bio);
	return err;
}
