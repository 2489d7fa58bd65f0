/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Capsules: the 64-byte submission queue entry (SQE) that a command capsule
 * begins with, the 16-byte completion queue entry (CQE) that is a response
 * capsule, and the scatter-gather descriptors that NVMe over RDMA uses.
 *
 * NVMe Base 2.0: 3.3.3 (queue entries), 4.1.2 (SGLs); NVMe over Fabrics RDMA
 * Transport 1.0: 3.1 (capsules), 3.3 (keyed SGLs).
 *
 * All functions are pure: they touch what they are given, allocate nothing and
 * may be called in any context.
 */
#ifndef NVMF_CAPSULE_H
#define NVMF_CAPSULE_H

#include "types.h"

#define NVMF_SQE_SIZE		64
#define NVMF_CQE_SIZE		16

/* SQE flags, bits 7:6 (PSDT): the data pointer is an SGL. */
#define NVMF_FLAGS_SGL		0x40

/* A descriptor's last byte: type in bits 7:4, subtype in bits 3:0. */
#define NVMF_SGL_DATA_OFFSET	0x01	/* data block, offset into the capsule */
#define NVMF_SGL_KEYED		0x40	/* keyed data block, address */
#define NVMF_SGL_KEYED_INV	0x4f	/* the same; invalidate the key when done */

/* A keyed descriptor's length has 24 bits. */
#define NVMF_KEYED_LEN_MAX	0xffffffU

struct nvmf_data_sgl {
	__le64	offset;		/* bytes from the start of the in-capsule data */
	__le32	length;		/* bytes */
	__u8	rsvd[3];
	__u8	type;
};

struct nvmf_keyed_sgl {
	__le64	addr;
	__u8	length[3];	/* bytes, little endian */
	__u8	key[4];		/* rkey, little endian */
	__u8	type;
};

union nvmf_sgl {
	struct nvmf_data_sgl	data;
	struct nvmf_keyed_sgl	keyed;
};

struct nvmf_sqe {
	__u8	opcode;
	__u8	flags;
	__le16	cid;
	__le32	nsid;		/* Fabrics commands: fctype in the low byte */
	__le32	cdw2;
	__le32	cdw3;
	__le64	mptr;
	union nvmf_sgl dptr;
	__le32	cdw10;
	__le32	cdw11;
	__le32	cdw12;
	__le32	cdw13;
	__le32	cdw14;
	__le32	cdw15;
};

struct nvmf_cqe {
	__le64	result;		/* dwords 0 and 1 */
	__le16	sqhd;
	__le16	sqid;		/* reserved over RDMA */
	__le16	cid;
	__le16	status;		/* status field << 1 | phase (0 over fabrics) */
};

nvmf_static_assert(sizeof(union nvmf_sgl) == 16, "an SGL descriptor has 16 bytes");
nvmf_static_assert(sizeof(struct nvmf_sqe) == NVMF_SQE_SIZE, "an SQE has 64 bytes");
nvmf_static_assert(sizeof(struct nvmf_cqe) == NVMF_CQE_SIZE, "a CQE has 16 bytes");

/* Status as drivers pass it on: SC in bits 7:0, SCT in bits 10:8, DNR is bit 14. */
#define NVMF_SC_SUCCESS			0x0000
#define NVMF_SC_INVALID_OPCODE		0x0001
#define NVMF_SC_INVALID_FIELD		0x0002
#define NVMF_SC_DATA_XFER_ERROR		0x0004
#define NVMF_SC_INTERNAL		0x0006
#define NVMF_SC_ABORT_REQ		0x0007
#define NVMF_SC_INVALID_NS		0x000b
#define NVMF_SC_CMD_SEQ_ERROR		0x000c
#define NVMF_SC_TRANSIENT_TRANSPORT	0x0022
#define NVMF_SC_LBA_RANGE		0x0080
#define NVMF_SC_CAP_EXCEEDED		0x0081
#define NVMF_SC_NS_NOT_READY		0x0082
#define NVMF_SC_RESERVATION_CONFLICT	0x0083
#define NVMF_SC_CONNECT_FORMAT		0x0180
#define NVMF_SC_CONNECT_CTRL_BUSY	0x0181
#define NVMF_SC_CONNECT_INVALID_PARAM	0x0182
#define NVMF_SC_CONNECT_RESTART_DISC	0x0183
#define NVMF_SC_CONNECT_INVALID_HOST	0x0184
#define NVMF_SC_WRITE_FAULT		0x0280
#define NVMF_SC_READ_ERROR		0x0281
#define NVMF_SC_GUARD_CHECK		0x0282
#define NVMF_SC_COMPARE_FAILED		0x0285
#define NVMF_SC_ACCESS_DENIED		0x0286
#define NVMF_SC_HOST_PATH_ERROR		0x0370
#define NVMF_SC_HOST_ABORTED_CMD	0x0371
#define NVMF_SC_MASK			0x07ff
#define NVMF_SC_DNR			0x4000

/*
 * Command identifiers carry a generation, so that a stale or repeated response
 * is told from the answer to the command that uses the slot now.
 * Bits 11:0 are the slot (tag), bits 15:12 the generation.
 */
#define NVMF_CID_SLOTS		4096

static inline __u16 nvmf_cid(__u16 slot, __u8 generation)
{
	return (__u16)((generation & 0xf) << 12 | (slot & 0xfff));
}

static inline __u16 nvmf_cid_slot(__u16 cid)
{
	return cid & 0xfff;
}

static inline __u8 nvmf_cid_generation(__u16 cid)
{
	return (__u8)(cid >> 12);
}

/* An SQE of zeroes but for opcode and namespace; the data pointer is an SGL. */
static inline void nvmf_sqe_init(struct nvmf_sqe *sqe, __u8 opcode, __u32 nsid)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->flags = NVMF_FLAGS_SGL;
	sqe->nsid = nvmf_htole32(nsid);
}

/* No data: a keyed descriptor of length 0 (RDMA Transport 3.3). */
static inline void nvmf_sgl_set_none(union nvmf_sgl *sgl)
{
	memset(sgl, 0, sizeof(*sgl));
	sgl->keyed.type = NVMF_SGL_KEYED;
}

/* The data follow in the capsule, @offset bytes after its in-capsule data area begins. */
static inline void nvmf_sgl_set_inline(union nvmf_sgl *sgl, __u64 offset, __u32 length)
{
	memset(sgl, 0, sizeof(*sgl));
	sgl->data.offset = nvmf_htole64(offset);
	sgl->data.length = nvmf_htole32(length);
	sgl->data.type = NVMF_SGL_DATA_OFFSET;
}

/*
 * The data lie in remote memory @addr of @rkey. @length is at most
 * NVMF_KEYED_LEN_MAX bytes. With @invalidate the controller is asked to
 * invalidate @rkey along with its response; it need not.
 */
static inline void nvmf_sgl_set_keyed(union nvmf_sgl *sgl, __u64 addr, __u32 length, __u32 rkey,
				      bool invalidate)
{
	sgl->keyed.addr = nvmf_htole64(addr);
	sgl->keyed.length[0] = (__u8)length;
	sgl->keyed.length[1] = (__u8)(length >> 8);
	sgl->keyed.length[2] = (__u8)(length >> 16);
	sgl->keyed.key[0] = (__u8)rkey;
	sgl->keyed.key[1] = (__u8)(rkey >> 8);
	sgl->keyed.key[2] = (__u8)(rkey >> 16);
	sgl->keyed.key[3] = (__u8)(rkey >> 24);
	sgl->keyed.type = invalidate ? NVMF_SGL_KEYED_INV : NVMF_SGL_KEYED;
}

static inline __u32 nvmf_sgl_keyed_length(const union nvmf_sgl *sgl)
{
	return (__u32)sgl->keyed.length[0] | (__u32)sgl->keyed.length[1] << 8 |
	       (__u32)sgl->keyed.length[2] << 16;
}

static inline __u32 nvmf_sgl_keyed_rkey(const union nvmf_sgl *sgl)
{
	return (__u32)sgl->keyed.key[0] | (__u32)sgl->keyed.key[1] << 8 |
	       (__u32)sgl->keyed.key[2] << 16 | (__u32)sgl->keyed.key[3] << 24;
}

/* A response capsule in host byte order. */
struct nvmf_response {
	__u64	result;
	__u16	sqhd;
	__u16	cid;
	__u16	status;		/* NVMF_SC_*, with NVMF_SC_DNR; the phase bit is gone */
};

/*
 * Parse a received response capsule of @len bytes, each field read once.
 * Returns 0, or -EBADMSG when it is shorter than a CQE. Whether the command
 * identifier belongs to a command in flight is for the caller to check.
 */
static inline int nvmf_response_parse(const void *capsule, size_t len, struct nvmf_response *rsp)
{
	struct nvmf_cqe cqe;

	if (len < sizeof(cqe))
		return -EBADMSG;
	memcpy(&cqe, capsule, sizeof(cqe));
	rsp->result = nvmf_le64toh(cqe.result);
	rsp->sqhd = nvmf_le16toh(cqe.sqhd);
	rsp->cid = nvmf_le16toh(cqe.cid);
	rsp->status = nvmf_le16toh(cqe.status) >> 1;
	return 0;
}

#endif /* NVMF_CAPSULE_H */
