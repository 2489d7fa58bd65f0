// SPDX-License-Identifier: GPL-2.0-only
/* The tag sets, whose tags are the command slots, and the queues without a disk. */
#include "host.h"

#include "compat_blk.h"

/*
 * Connect or the registers, keep-alive, and the event request that waits, while user
 * commands take all the rest; a Connect an I/O queue.
 */
#define KDP_ADMIN_RESERVED	3
#define KDP_IO_RESERVED		1

static int kdp_set_alloc(struct kdp_ctrl *ctrl, struct blk_mq_tag_set *set,
			 const struct blk_mq_ops *ops, unsigned int nr_queues, unsigned int nr_maps,
			 unsigned int depth, unsigned int reserved, unsigned int timeout)
{
	if (depth <= reserved)
		return kdp_ctrl_error(ctrl, -EPROTO, "the target offers too small a queue");
	memset(set, 0, sizeof(*set));
	set->ops = ops;
	set->nr_hw_queues = nr_queues;
	set->nr_maps = nr_maps;
	set->queue_depth = depth;
	set->reserved_tags = reserved;
	set->numa_node = NUMA_NO_NODE;
	set->cmd_size = kdp_request_pdu_size();
	set->flags = KDP_BLK_MQ_F_SHOULD_MERGE;
	set->timeout = timeout;
	set->driver_data = ctrl;
	return blk_mq_alloc_tag_set(set);
}

/*
 * A broken connection may be hanging up right now, which begins and ends by quiescing the
 * queues that are there: none may come or go in between.
 */
static void kdp_publish_queue(struct kdp_ctrl *ctrl, struct request_queue **where,
			      struct request_queue *q)
{
	mutex_lock(&ctrl->ns_lock);
	*where = q;
	mutex_unlock(&ctrl->ns_lock);
}

/* The transfers that passthrough may map are limited like the disks'. */
static struct request_queue *kdp_bare_queue(struct kdp_ctrl *ctrl, struct blk_mq_tag_set *set)
{
	const struct kdp_disk_limits limits = {
		.block_size	= SECTOR_SIZE,
		.max_transfer	= ctrl->max_transfer,
		.max_segments	= ctrl->max_segments,
	};

	return kdp_alloc_queue(set, &limits);
}

int kdp_admin_set_create(struct kdp_ctrl *ctrl)
{
	struct request_queue *q;
	int err;

	err = kdp_set_alloc(ctrl, &ctrl->admin_set, &kdp_admin_mq_ops, 1, 1, ctrl->queues[0].depth,
			    KDP_ADMIN_RESERVED, KDP_ADMIN_TIMEOUT);
	if (err)
		return err;
	ctrl->admin_set_ready = true;
	q = kdp_bare_queue(ctrl, &ctrl->admin_set);
	if (IS_ERR(q))
		return PTR_ERR(q);
	kdp_publish_queue(ctrl, &ctrl->admin_q, q);
	return 0;
}

/* The queues 1 … nr_io_queues are open: the smallest sets the depth. */
int kdp_io_set_create(struct kdp_ctrl *ctrl)
{
	unsigned int depth = KDP_MAX_QUEUE_SIZE, i;
	struct request_queue *q;
	int err;

	for (i = 1; i <= ctrl->nr_io_queues; i++)
		depth = min_t(unsigned int, depth, ctrl->queues[i].depth);
	err = kdp_set_alloc(ctrl, &ctrl->io_set, &kdp_mq_ops, ctrl->nr_io_queues,
			    kdp_sets_maps(&ctrl->sets), depth, KDP_IO_RESERVED, KDP_IO_TIMEOUT);
	if (err)
		return err;
	ctrl->io_set_ready = true;
	q = kdp_bare_queue(ctrl, &ctrl->io_set);
	if (IS_ERR(q))
		return PTR_ERR(q);
	kdp_publish_queue(ctrl, &ctrl->connect_q, q);
	return 0;
}

/*
 * Whoever is in the queue comes out first; nobody gets in any more. Openers of
 * /dev/kdpN may still look at the admin queue: it stays, dead, as long as the
 * controller (kdp_ctrl_release()).
 */
void kdp_admin_set_destroy(struct kdp_ctrl *ctrl)
{
	if (ctrl->admin_q)
		blk_mq_destroy_queue(ctrl->admin_q);
	if (ctrl->admin_set_ready)
		blk_mq_free_tag_set(&ctrl->admin_set);
	ctrl->admin_set_ready = false;
}

void kdp_io_set_destroy(struct kdp_ctrl *ctrl)
{
	struct request_queue *q = ctrl->connect_q;

	if (q) {
		blk_mq_destroy_queue(q);
		ctrl->connect_q = NULL;
		blk_put_queue(q);
	}
	if (ctrl->io_set_ready)
		blk_mq_free_tag_set(&ctrl->io_set);
	ctrl->io_set_ready = false;
}
