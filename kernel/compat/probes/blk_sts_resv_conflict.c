// SPDX-License-Identifier: GPL-2.0-only
/* 6.5: BLK_STS_NEXUS was renamed. */
#include <linux/blkdev.h>
blk_status_t kdp_probe(void);
blk_status_t kdp_probe(void) { return BLK_STS_RESV_CONFLICT; }
