// SPDX-License-Identifier: GPL-2.0-only
/* Until 6.14: merging is asked for. */
#include <linux/blk-mq.h>
int kdp_probe(void);
int kdp_probe(void) { return BLK_MQ_F_SHOULD_MERGE; }
