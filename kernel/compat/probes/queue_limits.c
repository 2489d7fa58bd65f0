// SPDX-License-Identifier: GPL-2.0-only
/* 6.9: queue limits are passed when a queue is made (27e32cd23fed). */
#include <linux/blk-mq.h>
struct request_queue *kdp_probe(struct blk_mq_tag_set *set, struct queue_limits *lim);
struct request_queue *kdp_probe(struct blk_mq_tag_set *set, struct queue_limits *lim)
{
	lim->features = BLK_FEAT_WRITE_CACHE;
	return blk_mq_alloc_queue(set, lim, NULL);
}
