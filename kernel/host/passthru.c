// SPDX-License-Identifier: GPL-2.0-only
/*
 * NVMe passthrough: the ioctls of <linux/nvme_ioctl.h>.
 *
 * A command is copied from user space once and judged by the copy: what may not be
 * asked for is refused before anything is mapped. The data are the caller's own
 * pages wherever their alignment allows.
 */
#include <linux/blkdev.h>
#include <linux/compat.h>
#include <linux/nvme_ioctl.h>

#include "host.h"

/* Opcodes, beyond those that the driver uses itself, with rules of their own. */
#define KDP_IO_COMPARE		0x05
#define KDP_OPC_VENDOR		0x80	/* I/O: this and above */

static bool kdp_known_identify(u8 cns)
{
	switch (cns) {
	case 0x00:	/* namespace */
	case 0x01:	/* controller */
	case 0x02:	/* active namespaces */
	case 0x03:	/* namespace identification descriptors */
	case 0x05:	/* namespace, by command set */
	case 0x06:	/* controller, by command set */
	case 0x08:	/* namespace, independent of command sets */
		return true;
	default:
		return false;
	}
}

/*
 * Who may send this admin command? Everybody the harmless Identify; the rest needs
 * CAP_SYS_ADMIN; and what would work against this driver's own use of the queue
 * nobody: the Fabrics commands but Property Get, and Asynchronous Event Request,
 * whose answer may never come.
 */
static int kdp_check_admin(const struct nvme_passthru_cmd64 *c)
{
	if (c->opcode == NVMF_ADM_IDENTIFY && kdp_known_identify(c->cdw10 & 0xff))
		return 0;
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (c->opcode == NVMF_OPC_FABRICS)
		return (c->nsid & 0xff) == NVMF_FCTYPE_PROPERTY_GET ? 0 : -EOPNOTSUPP;
	if (c->opcode == NVMF_ADM_ASYNC_EVENT)
		return -EOPNOTSUPP;
	return 0;
}

/* Data bytes that an I/O command must have, or -1 where only the sender knows. */
static s64 kdp_expected_length(const struct kdp_ns *ns, const struct nvme_passthru_cmd64 *c)
{
	switch (c->opcode) {
	case NVMF_IO_READ:
	case NVMF_IO_WRITE:
	case KDP_IO_COMPARE:
		return ((s64)(c->cdw12 & 0xffff) + 1) << ns->info.lba_shift;
	default:
		return c->opcode & (NVMF_OPC_TO_CTRL | NVMF_OPC_TO_HOST) ? -1 : 0;
	}
}

/*
 * Writing needs a file that is open for writing, or CAP_SYS_ADMIN (nvme-cli opens for
 * reading whatever it does). What is not known to leave the namespace as it is counts
 * as writing.
 */
static bool kdp_may_write(const struct nvme_passthru_cmd64 *c, unsigned int open)
{
	switch (c->opcode) {
	case NVMF_IO_READ:
	case NVMF_IO_FLUSH:
	case KDP_IO_COMPARE:
		return true;
	default:
		return (open & KDP_OPEN_WRITE) || capable(CAP_SYS_ADMIN);
	}
}

static int kdp_check_io(const struct kdp_ns *ns, const struct nvme_passthru_cmd64 *c,
			unsigned int open)
{
	s64 expected = kdp_expected_length(ns, c);

	if (c->nsid != ns->nsid)
		return -EINVAL;
	if (c->opcode == NVMF_OPC_FABRICS)
		return -EOPNOTSUPP;
	if (c->opcode >= KDP_OPC_VENDOR && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (!kdp_may_write(c, open))
		return -EACCES;
	if (expected >= 0 && expected != c->data_len)
		return -EINVAL;
	return 0;
}

/* What holds for all commands. */
static int kdp_check_common(const struct kdp_ctrl *ctrl, const struct nvme_passthru_cmd64 *c)
{
	u8 dir = c->opcode & (NVMF_OPC_TO_CTRL | NVMF_OPC_TO_HOST);

	if (c->opcode == NVMF_OPC_FABRICS)	/* its direction stands in the type */
		dir = 0;
	if (c->flags || c->rsvd1 || c->rsvd2)
		return -EINVAL;
	if (c->metadata || c->metadata_len)	/* no namespace here has any */
		return -EINVAL;
	if (c->data_len > ctrl->max_transfer)
		return -EINVAL;
	if (c->data_len && (!dir || dir == (NVMF_OPC_TO_CTRL | NVMF_OPC_TO_HOST)))
		return -EINVAL;
	/* the transport moves whole dwords */
	if (c->data_len & 3)
		return -EINVAL;
	return 0;
}

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
 * to ask for; others may only wait longer than usual.
 */
static unsigned int kdp_passthru_timeout(const struct request_queue *q, u32 ms)
{
	unsigned int wanted = msecs_to_jiffies(ms);

	if (!ms || (wanted < q->rq_timeout && !capable(CAP_SYS_ADMIN)))
		return q->rq_timeout;
	return max(wanted, 1U);
}

static void __user *kdp_user_ptr(u64 addr)
{
	return in_compat_syscall() ? compat_ptr(addr) : u64_to_user_ptr(addr);
}

/* A buffer off the queue's alignment is bounced by the block layer: count it. */
static int kdp_map_user(struct kdp_req *req, struct request *rq, u64 addr, u32 len)
{
	void __user *user = kdp_user_ptr(addr);

	if (!blk_rq_aligned(rq->q, (unsigned long)user, len))
		req->copied = len;
	return blk_rq_map_user(rq->q, rq, NULL, user, len, GFP_KERNEL);
}

/* Returns 0, the NVMe status (positive) or a negative errno; *@result is dwords 0 and 1. */
static int kdp_passthru(struct request_queue *q, const struct nvme_passthru_cmd64 *c, u64 *result)
{
	blk_opf_t op = c->opcode & NVMF_OPC_TO_CTRL && c->data_len ? REQ_OP_DRV_OUT :
								   REQ_OP_DRV_IN;
	struct bio *bio = NULL;
	struct kdp_req *req;
	struct request *rq;
	blk_status_t status;
	int err;

	rq = blk_mq_alloc_request(q, op, 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	req = blk_mq_rq_to_pdu(rq);
	kdp_fill_command(&req->cmd, c);
	req->internal = false;
	req->status = 0;
	req->result = 0;
	rq->timeout = kdp_passthru_timeout(q, c->timeout_ms);

	if (c->data_len) {
		err = kdp_map_user(req, rq, c->addr, c->data_len);
		if (err)
			goto free;
		bio = rq->bio;
	}
	status = kdp_execute(rq, true);
	*result = req->result;
	err = req->status ?: blk_status_to_errno(status);
	if (bio && blk_rq_unmap_user(bio) && !err)
		err = -EFAULT;
free:
	req->copied = 0;
	blk_mq_free_request(rq);
	return err;
}

static int kdp_copy_cmd32(struct nvme_passthru_cmd64 *c, const void __user *arg)
{
	struct nvme_passthru_cmd c32;

	if (copy_from_user(&c32, arg, sizeof(c32)))
		return -EFAULT;
	*c = (struct nvme_passthru_cmd64) {
		.opcode		= c32.opcode,
		.flags		= c32.flags,
		.rsvd1		= c32.rsvd1,
		.nsid		= c32.nsid,
		.cdw2		= c32.cdw2,
		.cdw3		= c32.cdw3,
		.metadata	= c32.metadata,
		.addr		= c32.addr,
		.metadata_len	= c32.metadata_len,
		.data_len	= c32.data_len,
		.cdw10		= c32.cdw10,
		.cdw11		= c32.cdw11,
		.cdw12		= c32.cdw12,
		.cdw13		= c32.cdw13,
		.cdw14		= c32.cdw14,
		.cdw15		= c32.cdw15,
		.timeout_ms	= c32.timeout_ms,
	};
	return 0;
}

/*
 * A command of a user is sent at most once, and only he knows whether it may be sent
 * again: it does not wait for a connection.
 */
int kdp_check_live(const struct kdp_ctrl *ctrl)
{
	switch (kdp_ctrl_state(ctrl)) {
	case KDP_STATE_LIVE:
		return 0;
	case KDP_STATE_RESETTING:
	case KDP_STATE_CONNECTING:
		return -EAGAIN;
	default:
		return -ENODEV;
	}
}

/* @ns is NULL for the controller's admin commands; @wide for the 64-bit result's ABI. */
static long kdp_user_cmd(struct kdp_ctrl *ctrl, struct kdp_ns *ns, void __user *arg, bool wide,
			 unsigned int open)
{
	struct nvme_passthru_cmd64 c;
	u64 result = 0;
	int err, fault;

	/* a command can name any block: a partition would not confine who has only that */
	if (open & KDP_OPEN_PARTITION && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (wide)
		err = copy_from_user(&c, arg, sizeof(c)) ? -EFAULT : 0;
	else
		err = kdp_copy_cmd32(&c, arg);
	if (!err)
		err = kdp_check_common(ctrl, &c);
	if (!err)
		err = ns ? kdp_check_io(ns, &c, open) : kdp_check_admin(&c);
	if (err)
		return err;
	err = ns && READ_ONCE(ns->dead) ? -ENODEV : kdp_check_live(ctrl);
	if (err)
		return err;

	err = kdp_passthru(ns ? ns->queue : ctrl->admin_q, &c, &result);
	if (err < 0)
		return err;
	if (wide)
		fault = put_user(result, &((struct nvme_passthru_cmd64 __user *)arg)->result);
	else
		fault = put_user((u32)result, &((struct nvme_passthru_cmd __user *)arg)->result);
	return fault ? -EFAULT : err;
}

/* Returns 0, the NVMe status (positive) or a negative errno. May sleep. */
long kdp_ctrl_ioctl(struct kdp_ctrl *ctrl, unsigned int cmd, void __user *arg, unsigned int open)
{
	switch (cmd) {
	case NVME_IOCTL_ADMIN_CMD:
		return kdp_user_cmd(ctrl, NULL, arg, false, open);
	case NVME_IOCTL_ADMIN64_CMD:
		return kdp_user_cmd(ctrl, NULL, arg, true, open);
	case NVME_IOCTL_RESCAN:
		if (!capable(CAP_SYS_ADMIN))
			return -EACCES;
		return kdp_check_live(ctrl) ?: kdp_ns_scan(ctrl);
	case NVME_IOCTL_RESET:
		if (!capable(CAP_SYS_ADMIN))
			return -EACCES;
		return kdp_ctrl_reset_sync(ctrl);
	case NVME_IOCTL_SUBSYS_RESET:	/* it would end the other hosts' connections */
	default:
		return -ENOTTY;
	}
}

/* The same; admin commands go to the namespace's controller. */
long kdp_ns_ioctl(struct kdp_ns *ns, unsigned int cmd, void __user *arg, unsigned int open)
{
	switch (cmd) {
	case NVME_IOCTL_ID:
		return ns->nsid;
	case NVME_IOCTL_IO_CMD:
		return kdp_user_cmd(ns->ctrl, ns, arg, false, open);
	case NVME_IOCTL_IO64_CMD:
		return kdp_user_cmd(ns->ctrl, ns, arg, true, open);
	case NVME_IOCTL_RESCAN:	/* of the controller's device alone */
	case NVME_IOCTL_RESET:
		return -ENOTTY;
	default:
		return kdp_ctrl_ioctl(ns->ctrl, cmd, arg, open);
	}
}
