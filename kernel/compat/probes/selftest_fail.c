// SPDX-License-Identifier: GPL-2.0-only
/* Must not compile: else everything would count as present. */
#include <linux/module.h>
int kdp_probe(void);
int kdp_probe(void) { return kdp_no_such_symbol; }
