/* SPDX-License-Identifier: GPL-2.0-only */
/* Registered regions (include/uapi/kdp/kdp_ioctl.h): the calls, and I/O in them. */
#ifndef KDP_REGION_H
#define KDP_REGION_H

#include <kdp/kdp_ioctl.h>

#include "nvme_abi.h"

#define BOTH_WAYS	(KDP_REGION_SEND | KDP_REGION_RECEIVE)

static inline int region_call(int fd, unsigned long request, void *arg)
{
	return by_ioctl(fd, request, arg);
}

/* Returns 0 or a negative errno; *@out may be NULL. */
static inline int region_add_file(int fd, uint64_t addr, uint64_t length, uint32_t flags, int file,
				  struct kdp_region_add *out)
{
	struct kdp_region_add add = { .addr = addr, .length = length, .flags = flags, .fd = file };
	int rc = region_call(fd, KDP_IOC_REGION_ADD, &add);

	if (out)
		*out = add;
	return rc;
}

static inline int region_add(int fd, const void *memory, uint64_t length, uint32_t flags)
{
	return region_add_file(fd, (uintptr_t)memory, length, flags, 0, NULL);
}

static inline int region_del(int fd, uint64_t base)
{
	struct kdp_region_del del = { .base = base };

	return region_call(fd, KDP_IOC_REGION_DEL, &del);
}

static inline int region_drop(int fd, const void *memory)
{
	return region_del(fd, (uintptr_t)memory);
}

/* How many there are, or a negative errno. */
static inline int region_count(int fd)
{
	struct kdp_region_list list = { 0 };
	int rc = region_call(fd, KDP_IOC_REGION_LIST, &list);

	return rc ? rc : (int)list.nr;
}

/* What LIST says of the region at @base; length 0 if it is not there. */
static inline struct kdp_region_info region_info(int fd, uint64_t base)
{
	static struct kdp_region_info infos[64];
	struct kdp_region_list list = { .infos = (uintptr_t)infos, .nr = ARRAY_SIZE(infos) };

	if (!region_call(fd, KDP_IOC_REGION_LIST, &list))
		for (uint32_t i = 0; i < list.nr && i < ARRAY_SIZE(infos); i++)
			if (infos[i].base == base)
				return infos[i];
	return (struct kdp_region_info){ .uses = UINT64_MAX };
}

/* How many commands; UINT64_MAX if there is no such region. */
static inline uint64_t region_uses(int fd, uint64_t base)
{
	return region_info(fd, base).uses;
}

/* --- a command, and whether the region at @base was used for it -------------------- */

struct outcome {
	int	rc;
	int	uses;
};

static inline struct outcome region_io(int fd, uint8_t opcode, uint64_t slba, uint64_t addr,
				       uint32_t len, uint64_t base)
{
	uint64_t before = region_uses(fd, base);
	struct outcome o;

	o.rc = io64(fd, rw64(opcode, slba, len / block, (void *)(uintptr_t)addr, len));
	o.uses = (int)(region_uses(fd, base) - before);
	return o;
}

/* It comes back with 0, and uses the region @uses times. */
static inline bool served(const char *name, struct outcome o, int uses)
{
	bool good = !o.rc && o.uses == uses;

	if (!good) {
		say_result(name, o.rc);
		say("used %d times, not %d", o.uses, uses);
	}
	return point(good, name);
}

/* Another opener, who has none. */
static inline int past_regions(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(ns_path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("open %s", ns_path);
	return fd;
}

/* What is in the blocks, read past all regions. */
static inline const unsigned char *blocks_hold(uint64_t slba, uint32_t len)
{
	static unsigned char *buf;
	static uint32_t size;

	if (size < len) {
		buf = guarded(len);
		size = len;
	}
	memset(buf, GUARD, len);
	if (io64(past_regions(), rw64(IO_READ, slba, len / block, buf, len)))
		die("read %u bytes past the regions", len);
	return buf;
}

/* Put something into the blocks, past all regions; returns it. */
static inline const unsigned char *put_blocks(uint64_t slba, uint32_t len, unsigned int seed)
{
	static unsigned char *buf;
	static uint32_t size;

	if (size < len) {
		buf = guarded(len);
		size = len;
	}
	fill(buf, len, seed);
	if (io64(past_regions(), rw64(IO_WRITE, slba, len / block, buf, len)))
		die("write %u bytes past the regions", len);
	return buf;
}

static inline void *mapped(size_t len, int prot, int flags, int fd)
{
	void *p = mmap(NULL, len, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap of %zu bytes", len);
	return p;
}

/* Pages of our own, written to. */
static inline unsigned char *pages(size_t len)
{
	unsigned char *p = mapped(len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(p, GUARD, len);
	return p;
}

#endif /* KDP_REGION_H */
