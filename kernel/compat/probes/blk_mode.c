// SPDX-License-Identifier: GPL-2.0-only
/* 6.5: block devices have a mode of their own (05bdb9965305). */
#include <linux/blkdev.h>
blk_mode_t kdp_probe(void);
blk_mode_t kdp_probe(void) { return BLK_OPEN_WRITE; }
