// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passthrough: from a user's command to a request with its data.
 *
 * Data that lie in a registered region are there already. Others are the caller's own
 * pages, pinned for this command alone, wherever their alignment allows; else the block
 * layer copies them, and that is counted.
 */
#include <linux/blkdev.h>
#include <linux/compat.h>

#include "passthru.h"

#include "compat_uring.h"

static void kdp_fill_command(struct nvmf_sqe *sqe, const struct nvme_passthru_cmd64 *c)
{
	nvmf_sqe_init(sqe, c->opcode, c->nsid);
	sqe->cdw2 = nvmf_htole32(c->cdw2);
	sqe->cdw3 = nvmf_htole32(c->cdw3);
	sqe->cdw10 = nvmf_htole32(c->cdw10);
	sqe->cdw11 = nvmf_htole32(c->cdw11);
	sqe->cdw12 = nvmf_htole32(c->cdw12);
	sqe->cdw13 = nvmf_htole32(c->cdw13);
	sqe->cdw14 = nvmf_htole32(c->cdw14);
	sqe->cdw15 = nvmf_htole32(c->cdw15);
}

/*
 * A timeout ends the whole connection, so that a short one is for the administrator
 * to ask for; others may only wait longer than usual, and not for ever: until then, who
 * sent it cannot end.
 */
static unsigned int kdp_passthru_timeout(const struct request_queue *q, u32 ms)
{
	unsigned long wanted = msecs_to_jiffies(ms);

	if (!ms)
		return q->rq_timeout;
	if (!capable(CAP_SYS_ADMIN))
		wanted = clamp(wanted, (unsigned long)q->rq_timeout, 4UL * q->rq_timeout);
	return clamp(wanted, 1UL, (unsigned long)INT_MAX);
}

static void __user *kdp_user_ptr(const struct kdp_command *cmd, u64 addr)
{
	return cmd->compat ? compat_ptr(addr) : u64_to_user_ptr(addr);
}

static int kdp_copy_vecs(struct kdp_command *cmd, u32 nr)
{
	const void __user *from = kdp_user_ptr(cmd, cmd->c.addr);
	struct compat_iovec vec;
	u32 i;

	if (!cmd->compat)
		return copy_from_user(cmd->vecs, from, nr * sizeof(*cmd->vecs)) ? -EFAULT : 0;
	for (i = 0; i < nr; i++) {
		if (copy_from_user(&vec, from + i * sizeof(vec), sizeof(vec)))
			return -EFAULT;
		cmd->vecs[i].iov_base = compat_ptr(vec.iov_base);
		cmd->vecs[i].iov_len = (ssize_t)(compat_ssize_t)vec.iov_len;
	}
	return 0;
}

/*
 * The array of buffers, of which c.data_len gives the number until now. Not by import_iovec():
 * that asks in_compat_syscall(), see kdp_uring_is_compat().
 */
static int kdp_import_vecs(struct kdp_command *cmd)
{
	struct nvme_passthru_cmd64 *c = &cmd->c;
	u32 nr = c->vec_cnt, i;
	size_t bytes = 0;
	int err;

	if (nr > UIO_MAXIOV)
		return -EINVAL;
	if (nr > UIO_FASTIOV)
		cmd->vecs = kmalloc_array(nr, sizeof(*cmd->vecs), GFP_KERNEL);
	else
		cmd->vecs = cmd->few_vecs;
	if (!cmd->vecs)
		return -ENOMEM;
	err = kdp_copy_vecs(cmd, nr);
	for (i = 0; !err && i < nr; i++) {
		const struct iovec *vec = &cmd->vecs[i];

		if ((ssize_t)vec->iov_len < 0)
			err = -EINVAL;
		else if (!access_ok(vec->iov_base, vec->iov_len))
			err = -EFAULT;
		else if (vec->iov_len > MAX_RW_COUNT - bytes)
			err = -EINVAL;
		bytes += vec->iov_len;
	}
	if (err)
		return err;
	iov_iter_init(&cmd->iter, c->opcode & NVMF_OPC_TO_CTRL ? WRITE : READ, cmd->vecs, nr, bytes);
	c->data_len = bytes;
	return 0;
}

/*
 * Judge @cmd, which is copied already. Returns 0, or a negative errno; in either case
 * kdp_command_release() follows.
 */
int kdp_command_admit(const struct kdp_node *node, struct kdp_command *cmd)
{
	int err = kdp_permit(node, cmd);

	if (!err && cmd->vectored)
		err = kdp_import_vecs(cmd);
	if (!err)
		err = kdp_check_data(node, cmd);
	if (err)
		return err;
	if (node->ns && READ_ONCE(node->ns->dead))
		return -ENODEV;
	return kdp_check_live(node->ctrl);
}

void kdp_command_release(struct kdp_command *cmd)
{
	if (cmd->vecs != cmd->few_vecs)
		kfree(cmd->vecs);
}

/* Buffers that a ring has registered, or what the block layer copies: count that. */
static int kdp_map_blk(struct request *rq, struct kdp_command *cmd)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	const struct nvme_passthru_cmd64 *c = &cmd->c;
	int err;

	if (cmd->fixed || cmd->vectored)
		err = blk_rq_map_user_iov(rq->q, rq, NULL, &cmd->iter, GFP_KERNEL);
	else	/* not every kernel copies to an ITER_UBUF */
		err = blk_rq_map_user(rq->q, rq, NULL, kdp_user_ptr(cmd, c->addr), c->data_len,
				      GFP_KERNEL);
	if (!err && rq->bio->bi_private)
		req->copied = c->data_len;
	return err;
}

static int kdp_map_user(struct request *rq, struct kdp_command *cmd)
{
	const struct nvme_passthru_cmd64 *c = &cmd->c;
	void __user *ubuf = kdp_user_ptr(cmd, c->addr);
	int err;

	if (cmd->fixed) {
		err = io_uring_cmd_import_fixed(c->addr, c->data_len, rq_data_dir(rq), &cmd->iter,
						cmd->fixed);
		return err < 0 ? err : kdp_map_blk(rq, cmd);
	}
	if (!cmd->vectored) {
		if (!access_ok(ubuf, c->data_len))
			return -EFAULT;
		iov_iter_ubuf(&cmd->iter, rq_data_dir(rq), ubuf, c->data_len);
	}
	return kdp_can_pin(rq, &cmd->iter) ? kdp_pin_user(rq, &cmd->iter) : kdp_map_blk(rq, cmd);
}

/* An address that leads nowhere but into a region is nobody's: -EFAULT. */
static int kdp_attach_data(const struct kdp_node *node, struct request *rq, struct kdp_command *cmd)
{
	const struct nvme_passthru_cmd64 *c = &cmd->c;
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (!c->data_len)
		return 0;
	if (node->regions && !cmd->vectored &&
	    kdp_region_take(node->regions, c->addr, c->data_len, rq_data_dir(rq) == WRITE,
			    &req->region))
		return 0;
	return kdp_map_user(rq, cmd);
}

/*
 * A request that sends @cmd, which was admitted. @flags: REQ_POLLED. May sleep, for
 * a tag only without BLK_MQ_REQ_NOWAIT in @blk_flags. Returns an ERR_PTR: -EAGAIN when it
 * would have to, -ENODEV, and what mapping the data gives.
 */
struct request *kdp_passthru_prepare(const struct kdp_node *node, struct kdp_command *cmd,
				     blk_opf_t flags, blk_mq_req_flags_t blk_flags)
{
	struct request_queue *q = cmd->admin ? node->ctrl->admin_q : node->ns->queue;
	blk_opf_t op = cmd->c.opcode & NVMF_OPC_TO_CTRL && cmd->c.data_len ? REQ_OP_DRV_OUT :
									REQ_OP_DRV_IN;
	struct kdp_req *req;
	struct request *rq;
	int err;

	rq = blk_mq_alloc_request(q, op | flags, blk_flags);
	if (IS_ERR(rq))
		return rq;
	req = blk_mq_rq_to_pdu(rq);
	kdp_fill_command(&req->cmd, &cmd->c);
	req->internal = false;
	req->status = 0;
	req->result = 0;
	rq->timeout = kdp_passthru_timeout(q, cmd->c.timeout_ms);
	err = kdp_attach_data(node, rq, cmd);
	if (err) {
		blk_mq_free_request(rq);
		return ERR_PTR(err);
	}
	return rq;
}

/* How @rq, which ended with @status, ended: 0, the NVMe status (positive) or a negative errno. */
int kdp_passthru_status(struct request *rq, blk_status_t status)
{
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	return req->status ?: blk_status_to_errno(status);
}

/* @rq has ended: give back what it holds of its sender, but for what is mapped (its bio). */
void kdp_passthru_put(struct request *rq)
{
	struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	kdp_region_put(&req->region);
	req->copied = 0;
}

/* @rq is not sent after all. */
void kdp_passthru_drop(struct request *rq)
{
	if (rq->bio)
		blk_rq_unmap_user(rq->bio);
	kdp_passthru_put(rq);
	blk_mq_free_request(rq);
}
