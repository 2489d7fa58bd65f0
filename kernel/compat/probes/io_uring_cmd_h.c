// SPDX-License-Identifier: GPL-2.0-only
/* 6.8: the header of commands (b66509b8497f). */
#include <linux/io_uring/cmd.h>
