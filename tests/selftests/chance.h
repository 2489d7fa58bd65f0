/* SPDX-License-Identifier: GPL-2.0-only */
/* Chance that can be had again: by its seed. */
#ifndef KDP_CHANCE_H
#define KDP_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "points.h"

static uint64_t seed;

static inline uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dULL;
}

static inline uint64_t below(uint64_t n)
{
	return (any() >> 20) % n;
}

static inline bool once_in(uint64_t n)
{
	return !below(n);
}

static const uint64_t extremes[] = {
	0, 1, 2, 3, 4, 7, 8, 511, 512, 513, 4095, 4096, 4097, 0x7fff, 0x8000, 0xffff, 0x10000, 0x1ffff,
	0x7fffffff, 0x80000000, 0xfffff000, 0xffffffff, 0x100000000, 0x100001000, INT64_MAX - 4095,
	INT64_MAX, 1ULL << 63, (1ULL << 63) + 4096, -8192ULL, -4096ULL, -512ULL, -1ULL,
};

static inline uint64_t extreme(void)
{
	return once_in(3) ? any() : extremes[below(ARRAY_SIZE(extremes))];
}

#endif /* KDP_CHANCE_H */
