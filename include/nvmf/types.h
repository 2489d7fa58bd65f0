/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Byte order and unaligned access for the wire format, the same spelling in the
 * kernel, in C and in C++.
 *
 * Everything on the wire is little endian (NVMe Base 2.0, 1.5). The __leNN
 * types come from <linux/types.h> on both sides, so that sparse checks them.
 */
#ifndef NVMF_TYPES_H
#define NVMF_TYPES_H

#include <linux/types.h>

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#define nvmf_htole16(v)	cpu_to_le16(v)
#define nvmf_htole32(v)	cpu_to_le32(v)
#define nvmf_htole64(v)	cpu_to_le64(v)
#define nvmf_le16toh(v)	le16_to_cpu(v)
#define nvmf_le32toh(v)	le32_to_cpu(v)
#define nvmf_le64toh(v)	le64_to_cpu(v)
#define nvmf_static_assert(cond, text) static_assert(cond, text)

#else /* user space */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define nvmf_htole16(v)	htole16(v)
#define nvmf_htole32(v)	htole32(v)
#define nvmf_htole64(v)	htole64(v)
#define nvmf_le16toh(v)	le16toh(v)
#define nvmf_le32toh(v)	le32toh(v)
#define nvmf_le64toh(v)	le64toh(v)
#ifdef __cplusplus
#define nvmf_static_assert(cond, text) static_assert(cond, text)
#else
#define nvmf_static_assert(cond, text) _Static_assert(cond, text)
#endif
#endif /* __KERNEL__ */

/*
 * Fields of the Identify data structures are read by their byte offset, the way
 * the specification tabulates them. The source may have any alignment.
 */
static inline __u16 nvmf_get16(const void *base, size_t off)
{
	__le16 v;

	memcpy(&v, (const __u8 *)base + off, sizeof(v));
	return nvmf_le16toh(v);
}

static inline __u32 nvmf_get32(const void *base, size_t off)
{
	__le32 v;

	memcpy(&v, (const __u8 *)base + off, sizeof(v));
	return nvmf_le32toh(v);
}

static inline __u64 nvmf_get64(const void *base, size_t off)
{
	__le64 v;

	memcpy(&v, (const __u8 *)base + off, sizeof(v));
	return nvmf_le64toh(v);
}

#endif /* NVMF_TYPES_H */
