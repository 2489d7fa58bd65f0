/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers that notice when somebody writes beyond them. */
#ifndef KDP_BUFFERS_H
#define KDP_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "points.h"

#define GUARD		0xa5

/*
 * @len bytes that end at a page which cannot be touched, after one that cannot be
 * touched either; full of GUARD. What runs over the end faults.
 */
static inline unsigned char *guarded(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE), body = (len + page - 1) / page * page;
	unsigned char *p = mmap(NULL, body + 2 * page, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + page, body, PROT_READ | PROT_WRITE))
		die("mmap %zu bytes", len);
	memset(p + page, GUARD, body);
	return p + page + (body - len);
}

static inline bool all_bytes(const unsigned char *p, size_t len, unsigned char value)
{
	return !len || (*p == value && !memcmp(p, p + 1, len - 1));
}

static inline void fill(unsigned char *p, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = seed >> 16;
	}
}

#endif /* KDP_BUFFERS_H */
