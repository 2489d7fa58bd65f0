/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * kdp_host: what its char devices, /dev/kdpN (a controller) and /dev/kdpgNnM (a namespace),
 * have beyond <linux/nvme_ioctl.h>: registered regions.
 *
 * A region is memory that is pinned once and stands registered with the RDMA device from then
 * on, for all I/O to come. The passthrough commands themselves stay as they are, by ioctl or
 * by io_uring: one whose data lie wholly inside a region of the same open file is sent
 * without registering, invalidating or mapping anything. One whose data do not, or in a
 * direction that the region does not have, is sent as ever. (The commands with an array of
 * buffers, NVME_IOCTL_IO64_CMD_VEC and NVME_URING_CMD_*_VEC, are always sent as ever.)
 *
 * There are two kinds.
 *
 *   Memory: addresses of the calling process. The region holds the pages that were there when
 *   it was added. What the process does to its address space later (munmap, mremap, fork)
 *   does not change the region: I/O to these addresses by the same process reaches the pages
 *   of the region, wherever the address leads by then. Other processes that have the file,
 *   such as children, have address spaces of their own: the region is not theirs. Of a
 *   shared mapping of a file these are the pages of the page cache.
 *
 *   A range of a file (KDP_REGION_FILE): the pages of its page cache, read in where they are
 *   not there yet; no mapping is needed. Its addresses are given by the kernel, and lead
 *   nowhere but in commands of this open file.
 *
 * Pages of a page cache are the file's as long as they are in it: what is written to the file
 * is what is sent. Pages that the file gives up (truncation, holes) stay in the region, with
 * what they held, and are the file's no longer.
 *
 * Rights are the least that are asked for, and can be had:
 *
 *   KDP_REGION_SEND	data of commands that write may be taken from it
 *   KDP_REGION_RECEIVE	data of commands that read may be put into it: the memory must be
 *			writable; pages of a page cache only those of tmpfs, memfd and hugetlbfs
 *			(other file systems must be told before a page changes)
 *
 * While it stands, the target can reach the region's memory, with these rights, at any time,
 * not only while a command is under way.
 *
 * A region lives until it is deleted, the file is closed (by all who have it), or the
 * controller is disconnected; commands that use it end first. It outlives resets and
 * reconnects. Pages count against RLIMIT_MEMLOCK (CAP_IPC_LOCK: no limit), with those that RDMA
 * pins elsewhere.
 *
 * Structures have the same layout for 32-bit and 64-bit programs. Numbers are in the byte order
 * of the CPU. Reserved fields must be 0, flags that are not defined here too: else EINVAL.
 * All calls may sleep.
 */
#ifndef KDP_IOCTL_H
#define KDP_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KDP_IOC_MAGIC		0xdb

/* kdp_features.features; more may come. */
#define KDP_FEATURE_REGION	(1ULL << 0)	/* memory regions */
#define KDP_FEATURE_REGION_FILE	(1ULL << 1)	/* KDP_REGION_FILE */
#define KDP_FEATURE_URING	(1ULL << 2)	/* NVME_URING_CMD_* */
#define KDP_FEATURE_URING_POLL	(1ULL << 3)	/* the same on a ring with IORING_SETUP_IOPOLL */

/*
 * KDP_IOC_FEATURES: what this driver has. Always succeeds, but for EFAULT.
 */
struct kdp_features {
	__u64	features;		/* out: KDP_FEATURE_* */
	__u32	max_transfer;		/* out: bytes of data of one command at most */
	__u32	max_regions;		/* out: regions of one open file at most */
	__u64	reserved[4];		/* out: 0 */
};

/* kdp_region_add.flags */
#define KDP_REGION_SEND		(1U << 0)
#define KDP_REGION_RECEIVE	(1U << 1)
#define KDP_REGION_FILE		(1U << 2)	/* a range of @fd, not memory */

/*
 * KDP_IOC_REGION_ADD. Returns 0 and says how the region is registered, and what commands call
 * its first byte: @addr; of a file, an address at or above 2^63. Or
 *   EINVAL	length 0, an unknown flag, neither SEND nor RECEIVE, a reserved field that is
 *		not 0, @fd that is not 0 without KDP_REGION_FILE; a range of a file that is not
 *		inside the file
 *   EOVERFLOW	the range wraps around
 *   EEXIST	it overlaps a region of this file (and process); of files: never
 *   EFAULT	there is no memory at some of the addresses, or it may not be accessed so
 *   EOPNOTSUPP	memory that cannot be registered: of a device, DAX; RECEIVE with pages of a page
 *		cache that must not change unseen; @fd is no regular file with a page cache
 *   EBADF	@fd is not open, or not for reading (SEND), or writing (RECEIVE)
 *   EPERM	RLIMIT_MEMLOCK is 0 (and no CAP_IPC_LOCK); the file is sealed against writing
 *   ENOMEM	over RLIMIT_MEMLOCK; or no memory, or no memory regions of the RDMA device
 *   ENOSPC	kdp_features.max_regions are there
 *   EAGAIN	there is no connection now
 *   ENODEV	the controller or the namespace is gone
 *   EINTR	a signal came
 *   EIO	the file cannot be read; the RDMA device refused
 */
struct kdp_region_add {
	__u64	addr;			/* in: of its first byte; of a file: offset in it, bytes */
	__u64	length;			/* in: bytes */
	__u32	flags;			/* in: KDP_REGION_* */
	__s32	fd;			/* in: the file, with KDP_REGION_FILE; else 0 */
	__u64	base;			/* out: what commands call its first byte; in: 0 */
	__u32	mrs;			/* out: memory regions of the RDMA device; in: 0 */
	__u32	page_size;		/* out: bytes that one entry of them covers; in: 0 */
	__u64	reserved[4];		/* in: 0 */
};

/*
 * KDP_IOC_REGION_DEL: commands that use it end first; then the memory is free. Returns 0, or
 *   ENOENT	no region of this file (and process) begins there
 *   EINVAL	a reserved field is not 0
 */
struct kdp_region_del {
	__u64	base;			/* in: as kdp_region_add.base */
	__u64	reserved[3];		/* in: 0 */
};

struct kdp_region_info {
	__u64	base;
	__u64	length;			/* bytes */
	__u32	flags;			/* KDP_REGION_* */
	__u32	mrs;			/* 0: not registered: the controller is gone, or could not do it anew */
	__u32	page_size;		/* bytes */
	__u32	reserved;		/* 0 */
	__u64	uses;			/* commands that were sent from it, or received to it */
};

/*
 * KDP_IOC_REGION_LIST: the caller's regions of this open file, by address. Returns 0, or
 * EFAULT; EINVAL for a reserved field that is not 0.
 */
struct kdp_region_list {
	__u64	infos;			/* in: address of an array of struct kdp_region_info */
	__u32	nr;			/* in: its length; out: how many regions there are */
	__u32	reserved0;		/* in: 0 */
	__u64	reserved[2];		/* in: 0 */
};

#define KDP_IOC_FEATURES	_IOR(KDP_IOC_MAGIC, 0x01, struct kdp_features)
#define KDP_IOC_REGION_ADD	_IOWR(KDP_IOC_MAGIC, 0x02, struct kdp_region_add)
#define KDP_IOC_REGION_DEL	_IOW(KDP_IOC_MAGIC, 0x03, struct kdp_region_del)
#define KDP_IOC_REGION_LIST	_IOWR(KDP_IOC_MAGIC, 0x04, struct kdp_region_list)

#endif /* KDP_IOCTL_H */
