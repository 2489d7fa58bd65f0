// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passthrough by io_uring: NVME_URING_CMD_* of <linux/nvme_ioctl.h>.
 *
 * A command ends in the context of its completion, which is nobody's. From there it goes
 *
 *	to the submitter's task, by task work, where its ring does not poll;
 *	to its ring, at once, where that polls (IORING_SETUP_IOPOLL), and the data lay in a
 *	region or in a buffer that the ring has registered: such a ring is given the result
 *	and a word that says so, by whoever has it, which may be another ring that polls the
 *	same queue;
 *	to its ring, when that polls the next time, where pages are to be unmapped, which
 *	may sleep.
 *
 * Never by task work where the ring polls: a ring whose thread submits (SQPOLL) and whose
 * process is killed polls for its commands, and does nothing else, until they have ended. And
 * who polls for a ring may have other memory than who submitted to it: so data that the block layer
 * would have to copy are refused there.
 *
 * A ring that polls has its commands on the poll queues, where there are any. No command can be
 * cancelled: each has a time limit instead.
 */
#include <linux/blkdev.h>

#include "passthru.h"

#include "compat_blk.h"
#include "compat_uring.h"

/* Our part of struct io_uring_cmd: 32 bytes. */
struct kdp_uring_pdu {
	struct bio		*bio;		/* what is to be unmapped, or NULL */
	struct kdp_queue	*queue;		/* to be polled */
	u64			result;
	int			status;
	u8			polled;		/* its queue is */
	u8			how;		/* enum kdp_uring_ending */
	u8			ended;		/* KDP_URING_NEXT_POLL: it has, the ring need be told */
};

enum kdp_uring_ending {
	KDP_URING_IN_TASK,
	KDP_URING_AT_ONCE,
	KDP_URING_NEXT_POLL,
};

static struct kdp_uring_pdu *kdp_uring_pdu(struct io_uring_cmd *ioucmd)
{
	BUILD_BUG_ON(sizeof(struct kdp_uring_pdu) > sizeof(ioucmd->pdu));
	return (struct kdp_uring_pdu *)&ioucmd->pdu;
}

/* Each field once: the SQE may be written to meanwhile. */
static void kdp_uring_copy(struct nvme_passthru_cmd64 *c, const struct nvme_uring_cmd *u)
{
	c->opcode	= READ_ONCE(u->opcode);
	c->flags	= READ_ONCE(u->flags);
	c->rsvd1	= READ_ONCE(u->rsvd1);
	c->nsid		= READ_ONCE(u->nsid);
	c->cdw2		= READ_ONCE(u->cdw2);
	c->cdw3		= READ_ONCE(u->cdw3);
	c->metadata	= READ_ONCE(u->metadata);
	c->addr		= READ_ONCE(u->addr);
	c->metadata_len	= READ_ONCE(u->metadata_len);
	c->data_len	= READ_ONCE(u->data_len);
	c->cdw10	= READ_ONCE(u->cdw10);
	c->cdw11	= READ_ONCE(u->cdw11);
	c->cdw12	= READ_ONCE(u->cdw12);
	c->cdw13	= READ_ONCE(u->cdw13);
	c->cdw14	= READ_ONCE(u->cdw14);
	c->cdw15	= READ_ONCE(u->cdw15);
	c->timeout_ms	= READ_ONCE(u->timeout_ms);
	c->rsvd2	= READ_ONCE(u->rsvd2);
}

static void kdp_uring_in_task(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	struct kdp_uring_pdu *pdu = kdp_uring_pdu(ioucmd);

	if (pdu->bio && blk_rq_unmap_user(pdu->bio) && !pdu->status)
		pdu->status = -EFAULT;
	io_uring_cmd_done(ioucmd, pdu->status, pdu->result, issue_flags);
}

static KDP_RQ_END_IO(kdp_uring_end, rq, status)
{
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	struct io_uring_cmd *ioucmd = rq->end_io_data;
	struct kdp_uring_pdu *pdu = kdp_uring_pdu(ioucmd);

	pdu->status = kdp_passthru_status(rq, status);
	pdu->result = req->result;
	kdp_passthru_put(rq);
	switch (pdu->how) {
	case KDP_URING_IN_TASK:
		kdp_uring_do_in_task(ioucmd, kdp_uring_in_task);
		break;
	case KDP_URING_AT_ONCE:
		if (pdu->bio)
			blk_rq_unmap_user(pdu->bio);
		/* not locked: the ring may be another's than who completes */
		io_uring_cmd_done(ioucmd, pdu->status, pdu->result, IO_URING_F_UNLOCKED);
		break;
	case KDP_URING_NEXT_POLL:
		/* pairs with kdp_uring_poll(): status and result are written */
		smp_store_release(&pdu->ended, 1);
		break;
	}
	return RQ_END_IO_FREE;
}

/* How a command's end is to reach its ring; -EINVAL if there is no way. */
static int kdp_uring_ending(const struct kdp_command *cmd, struct request *rq, bool ring_polls)
{
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);

	if (!ring_polls)
		return KDP_URING_IN_TASK;
	if (req->copied)
		return -EINVAL;
	return rq->bio && !cmd->fixed ? KDP_URING_NEXT_POLL : KDP_URING_AT_ONCE;
}

/* Are there poll queues for it? */
static bool kdp_uring_polled(const struct kdp_node *node, const struct kdp_command *cmd)
{
	return !cmd->admin && node->ctrl->sets.nr[HCTX_TYPE_POLL];
}

static int kdp_uring_send(const struct kdp_node *node, struct io_uring_cmd *ioucmd,
			  struct kdp_command *cmd, unsigned int issue_flags)
{
	bool polls = issue_flags & IO_URING_F_IOPOLL;
	struct kdp_uring_pdu *pdu = kdp_uring_pdu(ioucmd);
	struct request *rq;
	int how;

	rq = kdp_passthru_prepare(node, cmd, polls && kdp_uring_polled(node, cmd) ? REQ_POLLED : 0,
				  issue_flags & IO_URING_F_NONBLOCK ? BLK_MQ_REQ_NOWAIT : 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	how = kdp_uring_ending(cmd, rq, polls);
	if (how < 0) {
		kdp_passthru_drop(rq);
		return how;
	}
	*pdu = (struct kdp_uring_pdu) {
		.bio	= rq->bio,
		.queue	= rq->mq_hctx->driver_data,
		.polled	= rq->mq_hctx->type == HCTX_TYPE_POLL,
		.how	= how,
	};
	rq->end_io = kdp_uring_end;
	rq->end_io_data = ioucmd;
	blk_execute_rq_nowait(rq, false);
	return -EIOCBQUEUED;
}

/* What the number of a command says about what is behind it. Returns 0 or -ENOTTY. */
static int kdp_uring_form(const struct kdp_node *node, u32 op, struct kdp_command *cmd)
{
	cmd->vectored = op == NVME_URING_CMD_IO_VEC || op == NVME_URING_CMD_ADMIN_VEC;
	cmd->admin = op == NVME_URING_CMD_ADMIN || op == NVME_URING_CMD_ADMIN_VEC;
	switch (op) {
	case NVME_URING_CMD_IO:
	case NVME_URING_CMD_IO_VEC:
		return node->ns ? 0 : -ENOTTY;
	case NVME_URING_CMD_ADMIN:
	case NVME_URING_CMD_ADMIN_VEC:
		return node->ns ? -ENOTTY : 0;
	default:
		return -ENOTTY;
	}
}

/*
 * ->uring_cmd: I/O commands on a namespace's node, admin commands on a controller's. Returns
 * -EIOCBQUEUED when it is on its way, -EAGAIN when it may not sleep and would have to, or
 * another negative errno. Context: io_uring's issue.
 */
int kdp_uring_cmd(const struct kdp_node *node, struct io_uring_cmd *ioucmd,
		  unsigned int issue_flags)
{
	const unsigned int big = IO_URING_F_SQE128 | IO_URING_F_CQE32;
	struct kdp_command cmd = {};
	int err;

	if ((issue_flags & big) != big)
		return -EOPNOTSUPP;
	err = kdp_uring_form(node, ioucmd->cmd_op, &cmd);
	if (err)
		return err;
	if (ioucmd->flags & IORING_URING_CMD_FIXED) {
		if (cmd.vectored)
			return -EINVAL;
		cmd.fixed = ioucmd;
	}
	cmd.compat = kdp_uring_is_compat(issue_flags);
	kdp_uring_copy(&cmd.c, kdp_uring_payload(ioucmd));
	err = kdp_command_admit(node, &cmd);
	/* to io_uring that would mean: again, at once */
	if (err == -EAGAIN)
		err = -ENOTCONN;
	if (!err)
		err = kdp_uring_send(node, ioucmd, &cmd, issue_flags);
	kdp_command_release(&cmd);
	return err;
}

/*
 * ->uring_cmd_iopoll: take completions where @ioucmd's is to come. It may have come already.
 * Context: the ring's own, with its lock held. May sleep.
 */
int kdp_uring_poll(struct io_uring_cmd *ioucmd)
{
	struct kdp_uring_pdu *pdu = kdp_uring_pdu(ioucmd);
	int n = 0;

	if (pdu->polled)
		n = max(kdp_conn_poll(&pdu->queue->conn), 0);
	/* pairs with kdp_uring_end() */
	if (pdu->how == KDP_URING_NEXT_POLL && smp_load_acquire(&pdu->ended)) {
		kdp_uring_in_task(ioucmd, 0);
		n++;
	}
	if (!n)
		kdp_give_way();
	return n;
}
