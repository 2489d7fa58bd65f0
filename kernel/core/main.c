// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "internal.h"

static int __init kdp_core_init(void)
{
	int err;

	kdp_fault_init();
	err = kdp_device_init();
	if (err)
		kdp_fault_exit();
	return err;
}

static void __exit kdp_core_exit(void)
{
	kdp_device_exit();
	kdp_fault_exit();
}

module_init(kdp_core_init);
module_exit(kdp_core_exit);

MODULE_DESCRIPTION("kdp: RDMA connections, completion pollers and memory registration");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
