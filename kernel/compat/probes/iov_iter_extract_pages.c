// SPDX-License-Identifier: GPL-2.0-only
/* 6.5: user pages of an iterator are pinned, and bios know it (7d58fe731028, fd363244e883). */
#include <linux/bio.h>
#include <linux/uio.h>
ssize_t kdp_probe(struct iov_iter *iter, struct page **pages, struct bio *bio, size_t *offset);
ssize_t kdp_probe(struct iov_iter *iter, struct page **pages, struct bio *bio, size_t *offset)
{
	bio_set_flag(bio, BIO_PAGE_PINNED);
	return iov_iter_extract_pages(iter, &pages, 1, 1, 0, offset);
}
