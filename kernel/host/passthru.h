/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands of users: ioctl.c and uring.c take them in, permit.c judges them, passthru.c makes
 * requests of them.
 */
#ifndef KDP_PASSTHRU_H
#define KDP_PASSTHRU_H

#include <linux/nvme_ioctl.h>
#include <linux/uio.h>

#include "host.h"

struct io_uring_cmd;

/* bits of kdp_node.open */
#define KDP_OPEN_WRITE		BIT(0)
#define KDP_OPEN_PARTITION	BIT(1)	/* of the disk, not the whole */

/* An open node: whose commands go where, and what they may. */
struct kdp_node {
	struct kdp_ctrl		*ctrl;
	struct kdp_ns		*ns;		/* NULL on the controller's node */
	struct kdp_regions	*regions;	/* NULL: it can have none */
	unsigned int		open;		/* KDP_OPEN_* */
};

/* A command, copied from its sender once. */
struct kdp_command {
	struct nvme_passthru_cmd64 c;		/* data_len in bytes, also of a vectored one */
	bool			admin;
	bool			compat;		/* of a 32-bit process */
	bool			vectored;	/* @iter says where the data lie, not c.addr alone */
	struct io_uring_cmd	*fixed;		/* whose ring has the data's buffer registered; or NULL */
	struct iov_iter		iter;
	struct iovec		*vecs;		/* few_vecs, or what kdp_command_release() frees */
	struct iovec		few_vecs[UIO_FASTIOV];
};

/* permit.c */
int kdp_permit(const struct kdp_node *node, const struct kdp_command *cmd);
int kdp_check_data(const struct kdp_node *node, const struct kdp_command *cmd);

/* pin.c */
bool kdp_can_pin(const struct request *rq, const struct iov_iter *iter);
int kdp_pin_user(struct request *rq, const struct iov_iter *iter);

/* passthru.c */
int kdp_command_admit(const struct kdp_node *node, struct kdp_command *cmd);
void kdp_command_release(struct kdp_command *cmd);
struct request *kdp_passthru_prepare(const struct kdp_node *node, struct kdp_command *cmd,
				     blk_opf_t flags, blk_mq_req_flags_t blk_flags);
int kdp_passthru_status(struct request *rq, blk_status_t status);
void kdp_passthru_put(struct request *rq);
void kdp_passthru_drop(struct request *rq);

/* ioctl.c */
long kdp_node_ioctl(const struct kdp_node *node, unsigned int cmd, void __user *arg);

/* uring.c */
int kdp_uring_cmd(const struct kdp_node *node, struct io_uring_cmd *ioucmd,
		  unsigned int issue_flags);
int kdp_uring_poll(struct io_uring_cmd *ioucmd);

#endif /* KDP_PASSTHRU_H */
