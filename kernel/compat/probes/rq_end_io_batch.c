// SPDX-License-Identifier: GPL-2.0-only
/* 7.0: who is told of a request's end is told the batch, too (5e2fde1a9433). */
#include <linux/blk-mq.h>
rq_end_io_fn kdp_probe;
enum rq_end_io_ret kdp_probe(struct request *rq, blk_status_t status,
			     const struct io_comp_batch *batch)
{
	return RQ_END_IO_NONE;
}
