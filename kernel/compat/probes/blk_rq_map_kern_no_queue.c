// SPDX-License-Identifier: GPL-2.0-only
/* 6.16: blk_rq_map_kern() takes no queue. */
#include <linux/blk-mq.h>
int kdp_probe(struct request *rq, void *buffer);
int kdp_probe(struct request *rq, void *buffer)
{
	return blk_rq_map_kern(rq, buffer, 1, GFP_KERNEL);
}
