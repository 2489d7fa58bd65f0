// SPDX-License-Identifier: GPL-2.0-only
/* Commands of our own: Connect, the registers, Identify, features, keep-alive. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "host.h"

#include "compat_blk.h"

/* A controller that gives no CAP.TO, or an absurd one, is waited for this long. */
#define KDP_READY_MIN_MS	1000
#define KDP_READY_MAX_MS	20000
#define KDP_SHUTDOWN_MS		5000
#define KDP_POLL_MS		10

/*
 * Run a command and wait for its end. May sleep. Returns 0, an NVMe status
 * (positive) or a negative errno; -ECONNRESET when the connection broke.
 */
int kdp_exec(struct kdp_ctrl *ctrl, struct kdp_exec *exec)
{
	blk_opf_t op = exec->cmd->opcode == NVMF_OPC_FABRICS && exec->len ?
		       REQ_OP_DRV_OUT : REQ_OP_DRV_IN;
	blk_mq_req_flags_t flags = exec->cmd->opcode == NVMF_OPC_FABRICS ||
				   exec->cmd->opcode == NVMF_ADM_KEEP_ALIVE ?
				   BLK_MQ_REQ_RESERVED : 0;
	struct request *rq;
	struct kdp_req *req;
	blk_status_t status;
	int err;

	if (exec->hctx < 0)
		rq = blk_mq_alloc_request(exec->q, op, flags);
	else
		rq = blk_mq_alloc_request_hctx(exec->q, op, flags | BLK_MQ_REQ_NOWAIT, exec->hctx);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	req = blk_mq_rq_to_pdu(rq);
	req->cmd = *exec->cmd;
	req->internal = true;
	req->status = 0;
	req->result = 0;
	rq->timeout = KDP_SETUP_TIMEOUT;

	if (exec->len) {
		err = kdp_rq_map_kern(rq, exec->buffer, exec->len);
		if (err)
			goto free;
	}
	status = kdp_execute(rq, false);
	exec->result = req->result;
	if (req->status & NVMF_SC_MASK)
		err = (req->status & NVMF_SC_MASK) == NVMF_SC_HOST_PATH_ERROR ?
		      -ECONNRESET : req->status;
	else
		err = blk_status_to_errno(status);
free:
	blk_mq_free_request(rq);
	return err;
}

/* A positive NVMe status of a command of ours as an errno, with @text. */
static int kdp_exec_error(struct kdp_ctrl *ctrl, int err, const char *text)
{
	if (err > 0) {
		dev_warn(&ctrl->dev, "%s: NVMe status 0x%x\n", text, err);
		err = kdp_status_to_errno(err);
	}
	return kdp_ctrl_error(ctrl, err, text);
}

static int kdp_connect_error(struct kdp_ctrl *ctrl, u16 qid, int err, u64 result)
{
	const char *text = "the target refused Connect";

	if (err < 0)
		return kdp_ctrl_error(ctrl, err, "the connection broke during Connect");
	dev_warn(&ctrl->dev, "queue %u: Connect: NVMe status 0x%x, result 0x%llx\n", qid, err,
		 result);
	switch (err & NVMF_SC_MASK) {
	case NVMF_SC_CONNECT_INVALID_PARAM:
		if (nvmf_connect_bad_is_data(result) &&
		    nvmf_connect_bad_offset(result) == NVMF_CONNECT_BAD_SUBSYSNQN)
			return kdp_ctrl_error(ctrl, -ENOENT,
					      "the target has no subsystem of that name");
		if (nvmf_connect_bad_is_data(result) &&
		    nvmf_connect_bad_offset(result) == NVMF_CONNECT_BAD_HOSTNQN)
			return kdp_ctrl_error(ctrl, -EACCES,
					      "the subsystem does not admit this host");
		return kdp_ctrl_error(ctrl, -EPROTO, "the target calls Connect's fields invalid");
	case NVMF_SC_CONNECT_INVALID_HOST:
		text = "the subsystem does not admit this host";
		break;
	case NVMF_SC_CONNECT_CTRL_BUSY:
		text = "the target's controller is busy";
		break;
	case NVMF_SC_CONNECT_FORMAT:
		text = "the target knows another format of Connect";
		break;
	default:
		break;
	}
	return kdp_ctrl_error(ctrl, kdp_status_to_errno(err), text);
}

/*
 * The admin queue's Connect gives the controller, the others must join that one: queues
 * of two controllers would be one disk otherwise.
 */
static int kdp_check_cntlid(struct kdp_ctrl *ctrl, u16 qid, u16 cntlid)
{
	if (qid && cntlid != ctrl->cntlid)
		return kdp_ctrl_error(ctrl, -EPROTO, "an I/O queue joined another controller");
	if (cntlid == NVMF_CNTLID_DYNAMIC)
		return kdp_ctrl_error(ctrl, -EPROTO, "the target gives no controller ID");
	ctrl->cntlid = cntlid;
	return 0;
}

/* Fabrics Connect on queue @qid of @entries. The admin queue's gives the controller's ID. */
int kdp_connect_queue(struct kdp_ctrl *ctrl, u16 qid, u16 entries)
{
	struct nvmf_connect_data *data;
	struct nvmf_sqe cmd;
	struct kdp_exec exec = {
		.q	= qid ? ctrl->connect_q : ctrl->admin_q,
		.cmd	= &cmd,
		.len	= sizeof(*data),
		.hctx	= qid ? qid - 1 : -1,
	};
	int err;

	data = kmalloc(sizeof(*data), GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	err = nvmf_connect_data_fill(data, ctrl->opts.hostid, ctrl->cntlid, ctrl->opts.subnqn,
				     ctrl->opts.hostnqn);
	if (err)
		goto out;
	nvmf_build_connect(&cmd, qid, entries, qid ? 0 : ctrl->opts.kato_ms);
	exec.buffer = data;
	err = kdp_exec(ctrl, &exec);
	if (err)
		err = kdp_connect_error(ctrl, qid, err, exec.result);
	else
		err = kdp_check_cntlid(ctrl, qid, nvmf_connect_cntlid(exec.result));
out:
	kfree(data);
	return err;
}

static int kdp_property_get(struct kdp_ctrl *ctrl, u32 offset, bool eight, u64 *value)
{
	struct nvmf_sqe cmd;
	struct kdp_exec exec = { .q = ctrl->admin_q, .cmd = &cmd, .hctx = -1 };
	int err;

	nvmf_build_property_get(&cmd, offset, eight);
	err = kdp_exec(ctrl, &exec);
	*value = eight ? exec.result : (u32)exec.result;
	return err;
}

static int kdp_property_set(struct kdp_ctrl *ctrl, u32 offset, u32 value)
{
	struct nvmf_sqe cmd;
	struct kdp_exec exec = { .q = ctrl->admin_q, .cmd = &cmd, .hctx = -1 };

	nvmf_build_property_set(&cmd, offset, value);
	return kdp_exec(ctrl, &exec);
}

/* Wait until (CSTS & @mask) == @want. -ETIMEDOUT after @ms, -EPROTO on a fatal status. */
static int kdp_wait_csts(struct kdp_ctrl *ctrl, u32 mask, u32 want, unsigned int ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(ms);
	u64 csts;
	int err;

	for (;;) {
		err = kdp_property_get(ctrl, NVMF_PROP_CSTS, false, &csts);
		if (err)
			return err;
		if (csts & NVMF_CSTS_CFS)
			return -EPROTO;
		if ((csts & mask) == want)
			return 0;
		if (time_after(jiffies, deadline))
			return -ETIMEDOUT;
		msleep(KDP_POLL_MS);
	}
}

/* Read CAP, enable the controller, wait until it is ready. */
int kdp_enable(struct kdp_ctrl *ctrl)
{
	unsigned int ms;
	int err;

	err = kdp_property_get(ctrl, NVMF_PROP_CAP, true, &ctrl->cap);
	if (err)
		return kdp_exec_error(ctrl, err, "the controller's capabilities cannot be read");
	if (nvmf_cap_page_min(ctrl->cap) > SZ_4K)
		return kdp_ctrl_error(ctrl, -EOPNOTSUPP,
				      "the controller wants pages larger than 4 KiB");
	err = kdp_property_set(ctrl, NVMF_PROP_CC, NVMF_CC_NVM | NVMF_CC_ENABLE);
	if (err)
		return kdp_exec_error(ctrl, err, "the controller cannot be enabled");
	ms = clamp_t(unsigned int, nvmf_cap_timeout_ms(ctrl->cap), KDP_READY_MIN_MS,
		     KDP_READY_MAX_MS);
	err = kdp_wait_csts(ctrl, NVMF_CSTS_RDY, NVMF_CSTS_RDY, ms);
	if (err)
		return kdp_exec_error(ctrl, err, "the controller does not become ready");
	return 0;
}

/*
 * Tell the controller that we go and wait a little. Nothing to do where there is no
 * controller (Connect failed), or none to be told (the connection is broken).
 */
void kdp_shutdown(struct kdp_ctrl *ctrl)
{
	int err;

	if (ctrl->cntlid == NVMF_CNTLID_DYNAMIC || test_bit(KDP_CTRL_BROKEN, &ctrl->flags))
		return;
	err = kdp_property_set(ctrl, NVMF_PROP_CC,
			       NVMF_CC_NVM | NVMF_CC_ENABLE | NVMF_CC_SHN_NORMAL);
	if (!err)
		err = kdp_wait_csts(ctrl, NVMF_CSTS_SHST_MASK, NVMF_CSTS_SHST_DONE,
				    KDP_SHUTDOWN_MS);
	if (err)
		dev_warn(&ctrl->dev, "the controller did not shut down in order: %d\n", err);
}

/* @buffer has NVMF_IDENTIFY_SIZE bytes. Returns like kdp_exec(). */
int kdp_identify(struct kdp_ctrl *ctrl, u8 cns, u32 nsid, void *buffer)
{
	struct nvmf_sqe cmd;
	struct kdp_exec exec = {
		.q	= ctrl->admin_q,
		.cmd	= &cmd,
		.buffer	= buffer,
		.len	= NVMF_IDENTIFY_SIZE,
		.hctx	= -1,
	};

	memset(buffer, 0, NVMF_IDENTIFY_SIZE);
	nvmf_build_identify(&cmd, cns, nsid);
	return kdp_exec(ctrl, &exec);
}

/* Ask for @nr I/O queues; *@nr becomes what the controller allots, at most that. */
int kdp_set_num_queues(struct kdp_ctrl *ctrl, u32 *nr)
{
	struct nvmf_sqe cmd;
	struct kdp_exec exec = { .q = ctrl->admin_q, .cmd = &cmd, .hctx = -1 };
	int err;

	nvmf_build_set_num_queues(&cmd, *nr);
	err = kdp_exec(ctrl, &exec);
	if (err)
		return kdp_exec_error(ctrl, err, "the controller allots no I/O queues");
	*nr = min(*nr, nvmf_num_queues(exec.result));
	return 0;
}

/* Be told of @events from now on. Returns like kdp_exec(). */
int kdp_set_events(struct kdp_ctrl *ctrl, u32 events)
{
	struct nvmf_sqe cmd;
	struct kdp_exec exec = { .q = ctrl->admin_q, .cmd = &cmd, .hctx = -1 };

	nvmf_build_set_events(&cmd, events);
	return kdp_exec(ctrl, &exec);
}

/* Of the whole controller, not of one namespace. Returns like kdp_exec(). */
int kdp_get_log_page(struct kdp_ctrl *ctrl, u8 lid, void *buffer, u32 bytes)
{
	struct nvmf_sqe cmd;
	struct kdp_exec exec = {
		.q	= ctrl->admin_q,
		.cmd	= &cmd,
		.buffer	= buffer,
		.len	= bytes,
		.hctx	= -1,
	};

	nvmf_build_get_log_page(&cmd, lid, NVMF_NSID_ALL, bytes);
	return kdp_exec(ctrl, &exec);
}

static unsigned long kdp_keep_alive_period(const struct kdp_ctrl *ctrl)
{
	return msecs_to_jiffies(ctrl->opts.kato_ms / 2);
}

void kdp_keep_alive_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(to_delayed_work(work), struct kdp_ctrl, ka_work);
	struct nvmf_sqe cmd;
	struct kdp_exec exec = { .q = ctrl->admin_q, .cmd = &cmd, .hctx = -1 };
	int err;

	nvmf_build_keep_alive(&cmd);
	err = kdp_exec(ctrl, &exec);
	if (err) {
		/* stale commands would run at a target that gave us up */
		kdp_ctrl_fail(ctrl, "keep-alive failed");
		return;
	}
	kdp_keep_alive_start(ctrl);
}

void kdp_keep_alive_start(struct kdp_ctrl *ctrl)
{
	queue_delayed_work(kdp_connect_wq, &ctrl->ka_work, kdp_keep_alive_period(ctrl));
}

/* None is sent any more when this returns. May sleep, until one that is under way has ended. */
void kdp_keep_alive_stop(struct kdp_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->ka_work);
}
