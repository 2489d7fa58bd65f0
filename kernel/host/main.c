// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "host.h"

/*
 * Reclaim may wait for a disk that waits for one of these; when memory is short, a
 * workqueue runs one piece of work at a time. So what waits for other work is
 * not on the same workqueue as that:
 *   kdp_wq		hangs up, ends what waits: waits for none
 *   kdp_connect_wq	reconnects, keep-alive, events: wait for kdp_wq
 *   kdp_scan_wq	namespaces: their I/O may wait for a reconnect
 */
struct workqueue_struct *kdp_wq;
struct workqueue_struct *kdp_connect_wq;
struct workqueue_struct *kdp_scan_wq;

static void kdp_wqs_destroy(void)
{
	if (kdp_scan_wq)
		destroy_workqueue(kdp_scan_wq);
	if (kdp_connect_wq)
		destroy_workqueue(kdp_connect_wq);
	if (kdp_wq)
		destroy_workqueue(kdp_wq);
}

static int kdp_wqs_create(void)
{
	kdp_wq = alloc_workqueue("kdp_host", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	kdp_connect_wq = alloc_workqueue("kdp_connect", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	kdp_scan_wq = alloc_workqueue("kdp_scan", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (kdp_wq && kdp_connect_wq && kdp_scan_wq)
		return 0;
	kdp_wqs_destroy();
	return -ENOMEM;
}

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

	err = kdp_wqs_create();
	if (err)
		return err;
	err = kdp_chardev_init();
	if (err)
		goto destroy_wqs;
	kdp_upper_register(&kdp_host_upper);
	err = kdp_netlink_init();
	if (err)
		goto unregister;
	return 0;

unregister:
	kdp_upper_unregister(&kdp_host_upper);
	kdp_chardev_exit();
destroy_wqs:
	kdp_wqs_destroy();
	return err;
}

static void __exit kdp_host_exit(void)
{
	kdp_ctrl_disconnect_all(NULL);	/* who listens hears of it */
	kdp_netlink_exit();		/* no connect starts any more */
	kdp_ctrl_disconnect_all(NULL);
	kdp_upper_unregister(&kdp_host_upper);
	kdp_chardev_exit();
	kdp_wqs_destroy();
}

module_init(kdp_host_init);
module_exit(kdp_host_exit);

MODULE_DESCRIPTION("kdp: NVMe over Fabrics host on RDMA");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(KDP_GENL_NAME);
