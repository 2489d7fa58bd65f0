// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing a controller up, step by step, and taking it down from any step:
 *
 *   admin connection → Connect → enable → Identify → keep-alive
 *   → number of queues → I/O connections → Connect each → namespaces
 */
#include <linux/cpumask.h>
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

static int kdp_connect_admin(struct kdp_ctrl *ctrl)
{
	int err;

	err = kdp_queue_open(ctrl, 0, KDP_ADMIN_QUEUE_SIZE);
	if (err)
		return err;
	kdp_set_limits(ctrl);
	err = kdp_admin_set_create(ctrl);
	if (err)
		return kdp_ctrl_error(ctrl, err, "no memory for the admin queue");
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
	u32 wanted = ctrl->opts.nr_io_queues, entries = kdp_io_entries(ctrl);
	unsigned int i;
	int err;

	if (entries < 3)
		return kdp_ctrl_error(ctrl, -EPROTO, "the controller offers too small a queue");
	err = kdp_set_num_queues(ctrl, &wanted);
	if (err)
		return err;
	for (i = 1; i <= wanted; i++) {
		err = kdp_queue_open(ctrl, i, entries);
		if (err)
			break;
		ctrl->nr_io_queues = i;
	}
	if (!ctrl->nr_io_queues)
		return err;
	if (ctrl->nr_io_queues < ctrl->opts.nr_io_queues)
		dev_info(&ctrl->dev, "%u of %u I/O queues: %s\n", ctrl->nr_io_queues,
			 ctrl->opts.nr_io_queues,
			 err ? ctrl->error_text : "the controller allots no more");
	ctrl->error_text = NULL;
	return 0;
}

static int kdp_connect_io(struct kdp_ctrl *ctrl)
{
	unsigned int i;
	int err;

	err = kdp_open_io_queues(ctrl);
	if (err)
		return err;
	err = kdp_io_set_create(ctrl);
	if (err)
		return kdp_ctrl_error(ctrl, err, "no memory for the I/O queues");
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

	err = kdp_connect_admin(ctrl);
	if (err)
		return err;
	err = kdp_identify_ctrl(ctrl);
	if (err)
		return err;
	kdp_keep_alive_start(ctrl);
	err = kdp_connect_io(ctrl);
	if (err)
		return err;
	if (!kdp_ctrl_set_state(ctrl, KDP_STATE_LIVE))
		return kdp_ctrl_error(ctrl, -ECONNRESET, "the connection broke while connecting");
	err = kdp_ctrl_cdev_add(ctrl);
	if (err)
		return kdp_ctrl_error(ctrl, err, "the char device cannot be made");
	return kdp_ns_scan(ctrl);
}

/*
 * Connect @ctrl (its lock is held) and bring its namespaces up. On failure everything is
 * taken down again and the reason stands in ctrl->error_text. May sleep, bounded by
 * the timeouts of each step.
 */
int kdp_ctrl_connect(struct kdp_ctrl *ctrl)
{
	int err;

	lockdep_assert_held(&ctrl->lock);
	kdp_ctrl_set_state(ctrl, KDP_STATE_CONNECTING);
	err = kdp_bring_up(ctrl);
	if (err) {
		kdp_ctrl_set_state(ctrl, KDP_STATE_DELETING);
		kdp_ctrl_teardown(ctrl);
		return err;
	}
	dev_info(&ctrl->dev, "connected to %s by %s: %u I/O queues of %u, %s\n",
		 ctrl->opts.subnqn, ctrl->queues[0].conn.dev->ib->name, ctrl->nr_io_queues,
		 ctrl->io_set.queue_depth, ctrl->info.model);
	return 0;
}

/*
 * Take down whatever is up. The order: users of namespaces go first, their I/O being
 * finished; then keep-alive and the failure work, so that nothing of ours starts any
 * more; the controller is told; the queues hang up and drain, what is left of
 * commands is cancelled; and only then is memory given back.
 */
void kdp_ctrl_teardown(struct kdp_ctrl *ctrl)
{
	unsigned int i;

	lockdep_assert_held(&ctrl->lock);
	kdp_ns_remove_all(ctrl);
	kdp_ctrl_cdev_del(ctrl);
	cancel_delayed_work_sync(&ctrl->ka_work);
	kdp_shutdown(ctrl);
	set_bit(KDP_CTRL_BROKEN, &ctrl->flags);
	flush_work(&ctrl->fail_work);
	kdp_ctrl_stop_queues(ctrl);
	kdp_io_set_destroy(ctrl);
	kdp_admin_set_destroy(ctrl);
	for (i = 0; i <= ctrl->opts.nr_io_queues; i++)
		kdp_queue_close(&ctrl->queues[i]);
	ctrl->nr_io_queues = 0;
}
