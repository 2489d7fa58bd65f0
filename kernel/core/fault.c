// SPDX-License-Identifier: GPL-2.0-only
/* Faults on demand (fault.h): counting passages, and the files that arm them. */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "fault.h"
#include "internal.h"

struct static_key_false kdp_fault_armed = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(kdp_fault_armed);

struct kdp_fault_state {
	atomic_t	passages;
	atomic_t	left;		/* until the one that fails; 0: none will */
	bool		armed;		/* under kdp_fault_lock */
};

static const char * const kdp_fault_names[KDP_FAULT_NR] = {
	[KDP_FAULT_POST_SEND]	= "post_send",
	[KDP_FAULT_POST_RECV]	= "post_recv",
	[KDP_FAULT_MR_ALLOC]	= "mr_alloc",
	[KDP_FAULT_MR_MAP]	= "mr_map",
	[KDP_FAULT_DMA_MAP]	= "dma_map",
	[KDP_FAULT_CM_ADDR]	= "cm_addr",
	[KDP_FAULT_CM_ROUTE]	= "cm_route",
	[KDP_FAULT_CM_CONNECT]	= "cm_connect",
	[KDP_FAULT_COMPLETION]	= "completion",
};

static struct kdp_fault_state kdp_faults[KDP_FAULT_NR];
static DEFINE_MUTEX(kdp_fault_lock);
static struct dentry *kdp_debugfs;

bool kdp_fault_passage(enum kdp_fault_point point)
{
	struct kdp_fault_state *fault = &kdp_faults[point];

	atomic_inc(&fault->passages);
	return atomic_dec_if_positive(&fault->left) == 0;
}
EXPORT_SYMBOL_GPL(kdp_fault_passage);

static void kdp_fault_arm(struct kdp_fault_state *fault, unsigned int n)
{
	mutex_lock(&kdp_fault_lock);
	atomic_set(&fault->passages, 0);
	atomic_set(&fault->left, n);
	if (n && !fault->armed)
		static_branch_inc(&kdp_fault_armed);
	else if (!n && fault->armed)
		static_branch_dec(&kdp_fault_armed);
	fault->armed = n;
	mutex_unlock(&kdp_fault_lock);
}

static ssize_t kdp_fault_write(struct file *file, const char __user *buffer, size_t size,
			       loff_t *offset)
{
	unsigned int n;
	int err;

	err = kstrtouint_from_user(buffer, size, 0, &n);
	if (err)
		return err;
	if (n > INT_MAX)
		return -ERANGE;
	kdp_fault_arm(file_inode(file)->i_private, n);
	return size;
}

static ssize_t kdp_fault_read(struct file *file, char __user *buffer, size_t size,
			      loff_t *offset)
{
	struct kdp_fault_state *fault = file_inode(file)->i_private;
	char text[32];
	int len;

	len = scnprintf(text, sizeof(text), "%d %d\n", atomic_read(&fault->passages),
			atomic_read(&fault->left));
	return simple_read_from_buffer(buffer, size, offset, text, len);
}

static const struct file_operations kdp_fault_fops = {
	.owner	= THIS_MODULE,
	.read	= kdp_fault_read,
	.write	= kdp_fault_write,
	.llseek	= default_llseek,
};

/* Without debugfs there are no faults to be had: no error. */
void kdp_fault_init(void)
{
	struct dentry *dir;

	kdp_debugfs = debugfs_create_dir("kdp", NULL);
	dir = debugfs_create_dir("fault", kdp_debugfs);
	for (unsigned int i = 0; i < KDP_FAULT_NR; i++)
		debugfs_create_file(kdp_fault_names[i], 0600, dir, &kdp_faults[i],
				    &kdp_fault_fops);
}

void kdp_fault_exit(void)
{
	debugfs_remove(kdp_debugfs);
}
