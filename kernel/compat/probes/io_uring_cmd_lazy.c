// SPDX-License-Identifier: GPL-2.0-only
/* 6.5: task work that may wait for others (5f3139fc4699). */
#include <linux/io_uring/cmd.h>
void kdp_probe(struct io_uring_cmd *cmd, void (*callback)(struct io_uring_cmd *, unsigned int));
void kdp_probe(struct io_uring_cmd *cmd, void (*callback)(struct io_uring_cmd *, unsigned int))
{
	io_uring_cmd_do_in_task_lazy(cmd, callback);
}
