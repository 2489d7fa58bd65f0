// SPDX-License-Identifier: GPL-2.0-only
/* 6.6: the SQE is kept (fd9b8547bc5c). */
#include <linux/fs.h>
#include <linux/io_uring/cmd.h>
const void *kdp_probe(struct io_uring_cmd *cmd);
const void *kdp_probe(struct io_uring_cmd *cmd) { return io_uring_sqe_cmd(cmd->sqe); }
