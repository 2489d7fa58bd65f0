// SPDX-License-Identifier: GPL-2.0-only
/* The ioctls of <linux/nvme_ioctl.h>, and those of <kdp/kdp_ioctl.h>, on any node. */
#include <linux/blkdev.h>
#include <linux/compat.h>
#include <linux/uaccess.h>

#include "passthru.h"

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

/* Send @cmd and wait. Returns as kdp_passthru_status(); *@result is dwords 0 and 1. */
static int kdp_command_run(const struct kdp_node *node, struct kdp_command *cmd, u64 *result)
{
	struct kdp_req *req;
	struct request *rq;
	struct bio *bio;
	int err;

	rq = kdp_passthru_prepare(node, cmd, 0, 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	req = blk_mq_rq_to_pdu(rq);
	bio = rq->bio;
	err = kdp_passthru_status(rq, kdp_execute(rq, true));
	*result = req->result;
	if (bio && blk_rq_unmap_user(bio) && !err)
		err = -EFAULT;
	kdp_passthru_put(rq);
	blk_mq_free_request(rq);
	return err;
}

/* What the number of an ioctl says about the command behind its argument. */
struct kdp_ioctl_form {
	bool	admin;
	bool	wide;		/* struct nvme_passthru_cmd64 */
	bool	vectored;
};

static long kdp_ioctl_command(const struct kdp_node *node, void __user *arg,
			      const struct kdp_ioctl_form *form)
{
	struct kdp_command cmd = {
		.admin = form->admin, .vectored = form->vectored, .compat = in_compat_syscall(),
	};
	u64 result = 0;
	int err, fault;

	if (form->wide)
		err = copy_from_user(&cmd.c, arg, sizeof(cmd.c)) ? -EFAULT : 0;
	else
		err = kdp_copy_cmd32(&cmd.c, arg);
	if (!err)
		err = kdp_command_admit(node, &cmd);
	if (!err)
		err = kdp_command_run(node, &cmd, &result);
	kdp_command_release(&cmd);
	if (err < 0)
		return err;
	if (form->wide)
		fault = put_user(result, &((struct nvme_passthru_cmd64 __user *)arg)->result);
	else
		fault = put_user((u32)result, &((struct nvme_passthru_cmd __user *)arg)->result);
	return fault ? -EFAULT : err;
}

/* Of the controller's node alone. */
static long kdp_ctrl_ioctl(const struct kdp_node *node, unsigned int cmd)
{
	switch (cmd) {
	case NVME_IOCTL_RESCAN:
		if (!capable(CAP_SYS_ADMIN))
			return -EACCES;
		return kdp_check_live(node->ctrl) ?: kdp_ns_scan(node->ctrl);
	case NVME_IOCTL_RESET:
		if (!capable(CAP_SYS_ADMIN))
			return -EACCES;
		return kdp_ctrl_reset_sync(node->ctrl);
	case NVME_IOCTL_SUBSYS_RESET:	/* it would end the other hosts' connections */
	default:
		return -ENOTTY;
	}
}

/* Of a namespace's node, and of the disk, alone. */
static long kdp_ns_ioctl(const struct kdp_node *node, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case NVME_IOCTL_ID:
		return node->ns->nsid;
	case NVME_IOCTL_IO_CMD:
		return kdp_ioctl_command(node, arg, &(struct kdp_ioctl_form) {});
	case NVME_IOCTL_IO64_CMD:
		return kdp_ioctl_command(node, arg, &(struct kdp_ioctl_form) { .wide = true });
	case NVME_IOCTL_IO64_CMD_VEC:
		return kdp_ioctl_command(node, arg, &(struct kdp_ioctl_form) {
						.wide = true, .vectored = true });
	default:
		return -ENOTTY;
	}
}

/*
 * Any ioctl on @node; admin commands on a namespace's go to its controller. Returns 0 or what
 * the ioctl gives, the NVMe status (positive) or a negative errno. May sleep.
 */
long kdp_node_ioctl(const struct kdp_node *node, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case NVME_IOCTL_ADMIN_CMD:
		return kdp_ioctl_command(node, arg, &(struct kdp_ioctl_form) { .admin = true });
	case NVME_IOCTL_ADMIN64_CMD:
		return kdp_ioctl_command(node, arg, &(struct kdp_ioctl_form) {
						.admin = true, .wide = true });
	default:
		break;
	}
	if (_IOC_TYPE(cmd) == KDP_IOC_MAGIC)
		return node->regions ? kdp_regions_ioctl(node->regions, cmd, arg) : -ENOTTY;
	return node->ns ? kdp_ns_ioctl(node, cmd, arg) : kdp_ctrl_ioctl(node, cmd);
}
