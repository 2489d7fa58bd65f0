// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "host.h"

/* Failure work and keep-alive. Reclaim may wait for a disk that waits for them. */
struct workqueue_struct *kdp_wq;

static void kdp_device_gone(struct ib_device *ib)
{
	kdp_ctrl_disconnect_all(ib);
}

static struct kdp_upper kdp_host_upper = {
	.device_gone	= kdp_device_gone,
};

static int __init kdp_host_init(void)
{
	int err;

	kdp_wq = alloc_workqueue("kdp_host", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!kdp_wq)
		return -ENOMEM;
	err = kdp_chardev_init();
	if (err)
		goto destroy_wq;
	kdp_upper_register(&kdp_host_upper);
	err = kdp_netlink_init();
	if (err)
		goto unregister;
	return 0;

unregister:
	kdp_upper_unregister(&kdp_host_upper);
	kdp_chardev_exit();
destroy_wq:
	destroy_workqueue(kdp_wq);
	return err;
}

static void __exit kdp_host_exit(void)
{
	kdp_netlink_exit();	/* no connect starts any more */
	kdp_ctrl_disconnect_all(NULL);
	kdp_upper_unregister(&kdp_host_upper);
	kdp_chardev_exit();
	destroy_workqueue(kdp_wq);
}

module_init(kdp_host_init);
module_exit(kdp_host_exit);

MODULE_DESCRIPTION("kdp: NVMe over Fabrics host on RDMA");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(KDP_GENL_NAME);
