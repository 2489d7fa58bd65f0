// SPDX-License-Identifier: GPL-2.0-only
/* 6.16: blk_rq_map_sg() takes no queue. */
#include <linux/blk-mq.h>
int kdp_probe(struct request *rq, struct scatterlist *sgl);
int kdp_probe(struct request *rq, struct scatterlist *sgl) { return blk_rq_map_sg(rq, sgl); }
