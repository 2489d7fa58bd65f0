/* SPDX-License-Identifier: GPL-2.0-only */
/* io_uring's spellings, newest kernel's first. */
#ifndef KDP_COMPAT_URING_H
#define KDP_COMPAT_URING_H

#include "kdp_config.h"

#ifdef HAVE_IO_URING_CMD_H
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

/* The command in the SQE, which the submitter may change at any time. */
static inline const void *kdp_uring_payload(const struct io_uring_cmd *ioucmd)
{
#ifdef HAVE_IO_URING_SQE_CMD_1
	return io_uring_sqe_cmd(ioucmd->sqe);
#else
	return ioucmd->cmd;
#endif
}

/*
 * Is the ring a 32-bit process's? Not in_compat_syscall(): a command may be issued by task work on
 * the way out of an interrupt, where that takes "no system call" for one of x32. Where io_uring
 * does not tell, nobody's is: addresses in 64 bits are right all the same, arrays of
 * buffers in their 32-bit form are not understood.
 */
static inline bool kdp_uring_is_compat(unsigned int issue_flags)
{
#ifdef HAVE_IO_URING_F_COMPAT
	return issue_flags & IO_URING_F_COMPAT;
#else
	return false;
#endif
}

/* @callback in the submitter's task, soon. */
static inline void kdp_uring_do_in_task(struct io_uring_cmd *ioucmd,
					void (*callback)(struct io_uring_cmd *, unsigned int))
{
#ifdef HAVE_IO_URING_CMD_LAZY
	io_uring_cmd_do_in_task_lazy(ioucmd, callback);
#else
	io_uring_cmd_complete_in_task(ioucmd, callback);
#endif
}

#endif /* KDP_COMPAT_URING_H */
