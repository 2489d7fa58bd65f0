// SPDX-License-Identifier: GPL-2.0-only
/* 6.8: whether the ring is a 32-bit process's. */
#include <linux/io_uring_types.h>
unsigned int kdp_probe(void);
unsigned int kdp_probe(void) { return IO_URING_F_COMPAT; }
