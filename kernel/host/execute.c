// SPDX-License-Identifier: GPL-2.0-only
/* Running a passthrough request and waiting for its end. */
#include <linux/blkdev.h>
#include <linux/completion.h>

#include "host.h"

#include "compat_blk.h"

/* A task that sleeps for minutes is reported as hung; one that wakes up now and then is not. */
#define KDP_EXECUTE_NAP		(10 * HZ)

struct kdp_execution {
	struct completion	done;
	blk_status_t		status;
};

static KDP_RQ_END_IO(kdp_execution_end, rq, status)
{
	struct kdp_execution *execution = rq->end_io_data;

	execution->status = status;
	complete(&execution->done);
	return RQ_END_IO_NONE;	/* who waits frees it */
}

/*
 * With @spin, take completions meanwhile, as the queue's mode has it. On a polled queue that
 * is always done: nobody else does. May sleep.
 */
blk_status_t kdp_execute(struct request *rq, bool spin)
{
	struct kdp_queue *queue = rq->mq_hctx->driver_data;
	struct kdp_execution execution = {
		.done = COMPLETION_INITIALIZER_ONSTACK(execution.done),
	};

	spin |= rq->mq_hctx->type == HCTX_TYPE_POLL;
	rq->end_io = kdp_execution_end;
	rq->end_io_data = &execution;
	blk_execute_rq_nowait(rq, false);
	if (spin)
		kdp_conn_spin(&queue->conn, &execution.done);
	while (!wait_for_completion_io_timeout(&execution.done, KDP_EXECUTE_NAP))
		;
	return execution.status;
}
