// SPDX-License-Identifier: GPL-2.0-only
/* Must compile: else the probes say nothing about the kernel. */
#include <linux/module.h>
#include <linux/blk-mq.h>
struct gendisk;
