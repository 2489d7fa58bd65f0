// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing a controller up, step by step:
 *
 *   admin connection → Connect → enable → Identify → keep-alive
 *   → number of queues → I/O connections → Connect each → events → namespaces
 *
 * and again, when the connection broke: the tag sets and disks are there then, and the new
 * connection must hold what was promised to them.
 */
#include <linux/cpumask.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "host.h"

/*
 * What one command may move: the pages of an MR, the 24-bit keyed length, and MDTS
 * once it is known. 65536 blocks of 512 bytes are more than that.
 */
static void kdp_set_limits(struct kdp_ctrl *ctrl)
{
	u32 pages = kdp_mr_pages(ctrl->queues[0].conn.dev, KDP_MR_PAGES) - 1;
	u32 bytes = min_t(u32, pages * SZ_4K, NVMF_KEYED_LEN_MAX & ~(SZ_4K - 1));

	if (ctrl->info.mdts)
		bytes = min(bytes, ctrl->info.mdts);
	ctrl->max_transfer = bytes;
	ctrl->max_segments = pages;
	if (ctrl->info.capsule)
		ctrl->inline_size = nvmf_inline_max(&ctrl->info);
}

/* As many commands at a time as the tag set @set lets through. */
static int kdp_check_depth(struct kdp_ctrl *ctrl, const struct kdp_queue *queue,
			   const struct blk_mq_tag_set *set)
{
	if (queue->depth >= set->queue_depth)
		return 0;
	return kdp_ctrl_error(ctrl, -EBUSY, "the target offers smaller queues than before");
}

static int kdp_check_transfer(struct kdp_ctrl *ctrl)
{
	if (ctrl->max_transfer >= ctrl->set_transfer && ctrl->max_segments >= ctrl->set_segments)
		return 0;
	return kdp_ctrl_error(ctrl, -EBUSY, "one command may move less than before");
}

static int kdp_connect_admin(struct kdp_ctrl *ctrl)
{
	int err;

	err = kdp_queue_open(ctrl, 0, KDP_ADMIN_QUEUE_SIZE);
	if (err)
		return err;
	kdp_set_limits(ctrl);
	if (ctrl->admin_set_ready) {
		err = kdp_check_depth(ctrl, &ctrl->queues[0], &ctrl->admin_set);
		if (err)
			return err;
	} else {
		err = kdp_admin_set_create(ctrl);
		if (err)
			return kdp_ctrl_error(ctrl, err, "no memory for the admin queue");
	}
	err = kdp_connect_queue(ctrl, 0, ctrl->queues[0].conn_depth + 1);
	if (err)
		return err;
	return kdp_enable(ctrl);
}

static int kdp_identify_ctrl(struct kdp_ctrl *ctrl)
{
	void *data;
	int err;

	data = kmalloc(NVMF_IDENTIFY_SIZE, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	err = kdp_identify(ctrl, NVMF_CNS_CTRL, 0, data);
	if (err) {
		err = kdp_ctrl_error(ctrl, err > 0 ? kdp_status_to_errno(err) : err,
				     "Identify Controller failed");
		goto out;
	}
	err = nvmf_ctrl_info_parse(data, nvmf_cap_page_min(ctrl->cap), &ctrl->info);
	if (err == -EOPNOTSUPP)
		kdp_ctrl_error(ctrl, err, "the controller takes no keyed SGLs");
	else if (err)
		kdp_ctrl_error(ctrl, err, "Identify Controller contradicts itself");
	else if (ctrl->info.cntlid != ctrl->cntlid)
		err = kdp_ctrl_error(ctrl, -EPROTO,
				     "Connect and Identify name different controllers");
	else
		kdp_set_limits(ctrl);
out:
	kfree(data);
	return err;
}

/* Entries of an I/O queue: wanted, and what the controller says in CAP and MAXCMD. */
static u32 kdp_io_entries(const struct kdp_ctrl *ctrl)
{
	u32 entries = min(ctrl->opts.queue_size, nvmf_cap_queue_entries(ctrl->cap));

	if (ctrl->info.maxcmd)
		entries = min_t(u32, entries, ctrl->info.maxcmd + 1);
	return entries;
}

/*
 * Open as many I/O queues as the target, the device and memory give, at least one:
 * a failure after the first costs queues, not the connect.
 */
static int kdp_open_io_queues(struct kdp_ctrl *ctrl)
{
	const struct kdp_sets wanted = kdp_sets_wanted(&ctrl->opts);
	u32 nr = kdp_sets_total(&wanted), entries = kdp_io_entries(ctrl);
	unsigned int i;
	int err;

	if (entries < 3)
		return kdp_ctrl_error(ctrl, -EPROTO, "the controller offers too small a queue");
	err = kdp_set_num_queues(ctrl, &nr);
	if (err)
		return err;
	ctrl->sets = kdp_sets_divide(&wanted, nr);
	for (i = 1; i <= nr; i++) {
		err = kdp_queue_open(ctrl, i, entries);
		if (err)
			break;
		ctrl->nr_io_queues = i;
	}
	if (!ctrl->nr_io_queues)
		return err;
	ctrl->sets = kdp_sets_divide(&wanted, ctrl->nr_io_queues);
	kdp_sets_log(ctrl, &wanted, err ? ctrl->error_text : "the controller allots no more");
	ctrl->error_text = NULL;
	return 0;
}

/* As many as there were: requests may be waiting in each. */
static int kdp_reopen_io_queues(struct kdp_ctrl *ctrl)
{
	u32 wanted = ctrl->nr_io_queues, entries = kdp_io_entries(ctrl);
	unsigned int i;
	int err;

	err = kdp_check_transfer(ctrl);
	if (!err)
		err = kdp_set_num_queues(ctrl, &wanted);
	if (!err && wanted < ctrl->nr_io_queues)
		err = kdp_ctrl_error(ctrl, -EBUSY,
				     "the controller allots fewer I/O queues than before");
	for (i = 1; !err && i <= ctrl->nr_io_queues; i++) {
		err = kdp_queue_open(ctrl, i, entries);
		if (!err)
			err = kdp_check_depth(ctrl, &ctrl->queues[i], &ctrl->io_set);
	}
	return err;
}

static int kdp_connect_io(struct kdp_ctrl *ctrl)
{
	unsigned int i;
	int err;

	if (ctrl->io_set_ready) {
		err = kdp_reopen_io_queues(ctrl);
		if (err)
			return err;
	} else {
		err = kdp_open_io_queues(ctrl);
		if (err)
			return err;
		err = kdp_io_set_create(ctrl);
		if (err)
			return kdp_ctrl_error(ctrl, err, "no memory for the I/O queues");
		ctrl->set_transfer = ctrl->max_transfer;
		ctrl->set_segments = ctrl->max_segments;
	}
	for (i = 1; i <= ctrl->nr_io_queues; i++) {
		err = kdp_connect_queue(ctrl, i, ctrl->queues[i].conn_depth + 1);
		if (err)
			return err;
	}
	return 0;
}

static int kdp_bring_up(struct kdp_ctrl *ctrl)
{
	int err;

	ctrl->error_text = NULL;
	ctrl->cntlid = NVMF_CNTLID_DYNAMIC;
	err = kdp_connect_admin(ctrl);
	if (err)
		return err;
	err = kdp_identify_ctrl(ctrl);
	if (err)
		return err;
	kdp_keep_alive_start(ctrl);
	err = kdp_connect_io(ctrl);
	if (!err)
		kdp_aen_start(ctrl);
	return err;
}

static int kdp_bring_live(struct kdp_ctrl *ctrl)
{
	int err;

	if (!kdp_ctrl_begin(ctrl))
		return kdp_ctrl_error(ctrl, -ECONNABORTED, "disconnected while connecting");
	kdp_notify(ctrl, KDP_STATE_CONNECTING);
	err = kdp_bring_up(ctrl);
	if (err)
		return err;
	if (!kdp_ctrl_go_live(ctrl))
		return kdp_ctrl_error(ctrl, -ECONNRESET, "the connection broke while connecting");
	kdp_notify(ctrl, KDP_STATE_LIVE);
	err = kdp_ctrl_cdev_add(ctrl);
	if (err)
		return kdp_ctrl_error(ctrl, err, "the char device cannot be made");
	dev_info(&ctrl->dev, "connected to %s by %s: %u I/O queues of %u, %s\n",
		 ctrl->opts.subnqn, ctrl->queues[0].conn.dev->ib->name, ctrl->nr_io_queues,
		 ctrl->io_set.queue_depth, ctrl->info.model);
	return 0;
}

/*
 * Connect a new @ctrl and bring its namespaces up. On failure everything is taken down
 * again and the reason stands in ctrl->error_text. May sleep, bounded by the timeouts of
 * each step.
 */
int kdp_ctrl_connect(struct kdp_ctrl *ctrl)
{
	int err;

	mutex_lock(&ctrl->lock);
	err = kdp_bring_live(ctrl);
	mutex_unlock(&ctrl->lock);
	/* without the lock: what a disk reads may have to wait for a reconnect */
	if (!err) {
		err = kdp_ns_scan(ctrl);
		if (err)
			kdp_ctrl_error(ctrl, err, "the namespaces cannot be brought up");
	}
	if (err)
		kdp_ctrl_disconnect(ctrl);
	return err;
}

/*
 * Make the connection anew; ctrl->lock is held, and kdp_ctrl_begin() succeeded. On failure
 * the reason stands in ctrl->error_text, and what came up stays for the caller to drop.
 */
int kdp_ctrl_reconnect(struct kdp_ctrl *ctrl)
{
	/* what frees memory may be I/O that waits for this connection */
	unsigned int noio = memalloc_noio_save();
	int err;

	lockdep_assert_held(&ctrl->lock);
	err = kdp_bring_up(ctrl);
	if (err)
		goto restore;
	err = kdp_ns_revalidate(ctrl);
	if (err)
		kdp_ctrl_error(ctrl, err, "the namespaces could not be looked at");
	else
		kdp_regions_renew(ctrl);
restore:
	memalloc_noio_restore(noio);
	return err;
}
