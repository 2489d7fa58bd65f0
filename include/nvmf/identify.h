/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * What a host needs from the Identify data structures, checked and in host byte
 * order. A peer may send anything: values that no host can use are refused here,
 * in one place, and everything else comes out bounded.
 *
 * NVMe Base 2.0, 5.17 (figures 275, 277, 280, 97); NVM Command Set 1.0, 4.1.5.
 */
#ifndef NVMF_IDENTIFY_H
#define NVMF_IDENTIFY_H

#include "capsule.h"
#include "command.h"

#define NVMF_SERIAL_SIZE	20
#define NVMF_MODEL_SIZE		40
#define NVMF_FIRMWARE_SIZE	8

/* SGLS bits (Base 2.0, figure 275, byte 536) */
#define NVMF_SGLS_SUPPORTED	0x00000003U
#define NVMF_SGLS_KEYED		0x00000004U
#define NVMF_SGLS_OFFSET	0x00100000U	/* in-capsule data by offset */

/* OAES bits (byte 92): events that it may tell of */
#define NVMF_OAES_NS_ATTR	0x00000100U

/* ONCS bits (byte 520) */
#define NVMF_ONCS_DSM		0x0004U
#define NVMF_ONCS_WRITE_ZEROES	0x0008U

struct nvmf_ctrl_info {
	char	serial[NVMF_SERIAL_SIZE + 1];
	char	model[NVMF_MODEL_SIZE + 1];
	char	firmware[NVMF_FIRMWARE_SIZE + 1];
	__u16	cntlid;
	__u32	mdts;		/* bytes in one transfer at most; 0: the controller sets no limit */
	__u32	oaes;		/* NVMF_OAES_* */
	__u16	kas;		/* keep-alive granularity in 100 ms; 0: no keep-alive */
	__u16	maxcmd;		/* commands in flight a queue at most; 0: not said */
	__u32	nn;		/* highest namespace identifier */
	__u16	oncs;		/* NVMF_ONCS_*: optional commands that it takes */
	bool	vwc;		/* volatile write cache present: Flush matters */
	__u32	sgls;		/* NVMF_SGLS_* */
	__u32	capsule;	/* bytes of an I/O command capsule at most, SQE included */
	__u32	icdoff;		/* bytes between SQE and in-capsule data */
	__u8	msdbd;		/* SGL descriptors a command at most; 0: no limit */
};

/* Copy a space-padded ASCII field of @len bytes; @dst has room for a NUL more. */
static inline void nvmf_copy_ascii(char *dst, const void *base, size_t off, size_t len)
{
	const char *src = (const char *)base + off;
	size_t i;

	while (len && (src[len - 1] == ' ' || src[len - 1] == '\0'))
		len--;
	for (i = 0; i < len; i++)
		dst[i] = src[i] >= 0x20 && src[i] < 0x7f ? src[i] : '?';
	dst[len] = '\0';
}

/*
 * Parse Identify Controller (@data: NVMF_IDENTIFY_SIZE bytes), whatever its transport.
 * @page_min is CAP.MPSMIN in bytes, the unit of MDTS. Returns 0, or -EPROTO when required
 * fields contradict each other (SQE or CQE size, a capsule smaller than its SQE).
 */
static inline int nvmf_ctrl_info_read(const void *data, __u64 page_min,
				      struct nvmf_ctrl_info *info)
{
	const __u8 *d = (const __u8 *)data;
	__u8 mdts = d[77], sqes = d[512], cqes = d[513];
	__u64 ioccsz = (__u64)nvmf_get32(d, 1792) * 16;

	memset(info, 0, sizeof(*info));
	nvmf_copy_ascii(info->serial, d, 4, NVMF_SERIAL_SIZE);
	nvmf_copy_ascii(info->model, d, 24, NVMF_MODEL_SIZE);
	nvmf_copy_ascii(info->firmware, d, 64, NVMF_FIRMWARE_SIZE);
	info->cntlid = nvmf_get16(d, 78);
	/* 2^mdts pages; whatever does not fit 32 bits is as good as no limit */
	if (mdts && mdts < 20 && (page_min << mdts) <= 0xffffffffULL)
		info->mdts = (__u32)(page_min << mdts);
	info->oaes = nvmf_get32(d, 92);
	info->kas = nvmf_get16(d, 320);
	info->maxcmd = nvmf_get16(d, 514);
	info->nn = nvmf_get32(d, 516);
	info->oncs = nvmf_get16(d, 520);
	info->vwc = d[525] & 1;
	info->sgls = nvmf_get32(d, 536);
	info->icdoff = (__u32)nvmf_get16(d, 1800) * 16;
	info->msdbd = d[1803];

	/* the sizes that we use must lie between the required and the largest */
	if ((sqes & 0xf) > 6 || (sqes >> 4) < 6 || (cqes & 0xf) > 4 || (cqes >> 4) < 4)
		return -EPROTO;
	if (ioccsz < NVMF_SQE_SIZE || ioccsz > (1U << 24))
		return -EPROTO;
	info->capsule = (__u32)ioccsz;
	return 0;
}

/*
 * The same for a controller that is reached by RDMA. Returns 0, -EPROTO, or -EOPNOTSUPP when
 * it takes no keyed SGLs.
 */
static inline int nvmf_ctrl_info_parse(const void *data, __u64 page_min,
				       struct nvmf_ctrl_info *info)
{
	int err = nvmf_ctrl_info_read(data, page_min, info);

	if (err)
		return err;
	if (!(info->sgls & NVMF_SGLS_SUPPORTED) || !(info->sgls & NVMF_SGLS_KEYED))
		return -EOPNOTSUPP;
	return 0;
}

/* How many bytes of data fit into a command capsule behind the SQE; 0: none. */
static inline __u32 nvmf_inline_max(const struct nvmf_ctrl_info *info)
{
	if (!(info->sgls & NVMF_SGLS_OFFSET) || info->icdoff)
		return 0;
	return info->capsule - NVMF_SQE_SIZE;
}

struct nvmf_ns_info {
	__u64	blocks;		/* size in logical blocks (NSZE) */
	__u8	lba_shift;	/* log2 of the logical block's bytes: 9 to 16 */
	bool	read_only;	/* write protected now */
	/* who it is: the same for as long as it lives; zeroes where not told */
	__u8	eui64[8];
	__u8	nguid[16];
	__u8	uuid[16];	/* from the descriptors, as is csi */
	__u8	csi;		/* NVMF_CSI_*: its command set */
};

/*
 * Parse Identify Namespace (@data: NVMF_IDENTIFY_SIZE bytes). Returns 0, or
 *   -ENODEV      the namespace is not active (NSZE 0);
 *   -EOPNOTSUPP  metadata or protection information, which this host does not
 *                handle;
 *   -EPROTO      a block size outside 512 B … 64 KiB, an LBA format that does
 *                not exist, or a capacity of 2^63 bytes and more (loff_t has a sign).
 */
static inline int nvmf_ns_info_parse(const void *data, struct nvmf_ns_info *info)
{
	const __u8 *d = (const __u8 *)data;
	__u8 nlbaf = d[25], flbas = d[26];
	unsigned int fmt = flbas & 0xf;
	__u32 lbaf;

	memset(info, 0, sizeof(*info));
	info->blocks = nvmf_get64(d, 0);
	if (!info->blocks)
		return -ENODEV;
	/* the index's upper bits mean something only where there are more than 16 formats */
	if (nlbaf > 15)
		fmt |= (flbas >> 5 & 0x3) << 4;
	if (fmt > nlbaf)
		return -EPROTO;
	lbaf = nvmf_get32(d, 128 + 4 * fmt);
	if ((lbaf & 0xffff) || (d[29] & 0x7))
		return -EOPNOTSUPP;
	info->lba_shift = (__u8)(lbaf >> 16 & 0xff);
	if (info->lba_shift < 9 || info->lba_shift > 16)
		return -EPROTO;
	if (info->blocks >= (1ULL << 63 >> info->lba_shift))
		return -EPROTO;
	info->read_only = d[99] & 1;
	memcpy(info->nguid, d + 104, sizeof(info->nguid));
	memcpy(info->eui64, d + 120, sizeof(info->eui64));
	return 0;
}

/* Namespace Identification Descriptors: type, length, two reserved bytes, identifier */
#define NVMF_NIDT_EUI64		0x01
#define NVMF_NIDT_NGUID		0x02
#define NVMF_NIDT_UUID		0x03
#define NVMF_NIDT_CSI		0x04
#define NVMF_NID_HEADER		4

#define NVMF_CSI_NVM		0x00

static inline bool nvmf_all_zero(const __u8 *bytes, size_t n)
{
	while (n--)
		if (*bytes++)
			return false;
	return true;
}

/* An identifier of @len bytes for the field @to of @size, which may be told already. */
static inline int nvmf_take_id(__u8 *to, size_t size, const __u8 *id, size_t len)
{
	if (len != size)
		return -EPROTO;
	if (nvmf_all_zero(to, size))
		memcpy(to, id, size);
	return memcmp(to, id, size) ? -EPROTO : 0;
}

/*
 * Add to @info, which nvmf_ns_info_parse() has filled, what the Namespace Identification
 * Descriptor list tells (@data: NVMF_IDENTIFY_SIZE bytes). The list ends with a length of 0
 * or with the data; a type that is not known is skipped. Returns 0, or
 *   -EPROTO      a descriptor reaches beyond the data, has not the length of its type, or
 *                contradicts an earlier one or Identify Namespace: @info is as it was;
 *   -EOPNOTSUPP  the namespace is of another command set than NVM.
 */
static inline int nvmf_ns_descriptors_parse(const void *data, struct nvmf_ns_info *info)
{
	const __u8 *d = (const __u8 *)data;
	struct nvmf_ns_info told = *info;
	size_t at = 0, len;
	int err = 0;

	while (NVMF_IDENTIFY_SIZE - at >= NVMF_NID_HEADER) {
		const __u8 *id = d + at + NVMF_NID_HEADER;

		len = d[at + 1];
		if (!len)
			break;
		if (len > NVMF_IDENTIFY_SIZE - at - NVMF_NID_HEADER)
			return -EPROTO;
		switch (d[at]) {
		case NVMF_NIDT_EUI64:
			err = nvmf_take_id(told.eui64, sizeof(told.eui64), id, len);
			break;
		case NVMF_NIDT_NGUID:
			err = nvmf_take_id(told.nguid, sizeof(told.nguid), id, len);
			break;
		case NVMF_NIDT_UUID:
			err = nvmf_take_id(told.uuid, sizeof(told.uuid), id, len);
			break;
		case NVMF_NIDT_CSI:
			err = nvmf_take_id(&told.csi, sizeof(told.csi), id, len);
			break;
		default:
			break;
		}
		if (err)
			return err;
		at += NVMF_NID_HEADER + len;
	}
	*info = told;
	return info->csi == NVMF_CSI_NVM ? 0 : -EOPNOTSUPP;
}

/* Does it tell who it is? */
static inline bool nvmf_ns_has_id(const struct nvmf_ns_info *info)
{
	return !nvmf_all_zero(info->eui64, sizeof(info->eui64)) ||
	       !nvmf_all_zero(info->nguid, sizeof(info->nguid)) ||
	       !nvmf_all_zero(info->uuid, sizeof(info->uuid));
}

/*
 * Are @a and @b, which were told of one namespace identifier at different times, the same
 * namespace? Every identifier must be, and the block size. Where there is no identifier
 * only the capacity is left to tell them apart: one that was resized counts as another.
 */
static inline bool nvmf_ns_same(const struct nvmf_ns_info *a, const struct nvmf_ns_info *b)
{
	return a->lba_shift == b->lba_shift && a->csi == b->csi &&
	       !memcmp(a->eui64, b->eui64, sizeof(a->eui64)) &&
	       !memcmp(a->nguid, b->nguid, sizeof(a->nguid)) &&
	       !memcmp(a->uuid, b->uuid, sizeof(a->uuid)) &&
	       (nvmf_ns_has_id(a) || a->blocks == b->blocks);
}

#endif /* NVMF_IDENTIFY_H */
