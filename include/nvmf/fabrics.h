/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Fabrics commands and the properties they reach: Connect, Property Get and
 * Set; the controller's CAP, CC and CSTS.
 *
 * NVMe Base 2.0: 3.1.4 (properties), 6 (Fabrics command set).
 */
#ifndef NVMF_FABRICS_H
#define NVMF_FABRICS_H

#include "capsule.h"

#define NVMF_OPC_FABRICS		0x7f
#define NVMF_FCTYPE_PROPERTY_SET	0x00
#define NVMF_FCTYPE_CONNECT		0x01
#define NVMF_FCTYPE_PROPERTY_GET	0x04

#define NVMF_NQN_SIZE			223	/* longest name, without the NUL */
#define NVMF_NQN_FIELD			256
#define NVMF_HOSTID_SIZE		16
#define NVMF_CNTLID_DYNAMIC		0xffff
#define NVMF_DISCOVERY_NQN		"nqn.2014-08.org.nvmexpress.discovery"

/* Properties: offset in the controller's register space */
#define NVMF_PROP_CAP			0x00	/* 8 bytes */
#define NVMF_PROP_VS			0x08
#define NVMF_PROP_CC			0x14
#define NVMF_PROP_CSTS			0x1c

/* CC for a controller that speaks the NVM command set in 4096-byte pages */
#define NVMF_CC_ENABLE			0x00000001U
#define NVMF_CC_SHN_NORMAL		0x00004000U
#define NVMF_CC_SHN_MASK		0x0000c000U
#define NVMF_CC_IOSQES			(6U << 16)	/* 2^6 bytes a SQE */
#define NVMF_CC_IOCQES			(4U << 20)	/* 2^4 bytes a CQE */
#define NVMF_CC_NVM			(NVMF_CC_IOSQES | NVMF_CC_IOCQES)

#define NVMF_CSTS_RDY			0x1U
#define NVMF_CSTS_CFS			0x2U
#define NVMF_CSTS_SHST_MASK		0xcU
#define NVMF_CSTS_SHST_DONE		0x8U

/* CAP: queue entries at most, and how long to wait for CSTS.RDY */
static inline __u32 nvmf_cap_queue_entries(__u64 cap)
{
	return (__u32)(cap & 0xffff) + 1;
}

static inline __u32 nvmf_cap_timeout_ms(__u64 cap)
{
	return (__u32)(cap >> 24 & 0xff) * 500;
}

/* The smallest memory page that the controller takes, in bytes. */
static inline __u64 nvmf_cap_page_min(__u64 cap)
{
	return 1ULL << (12 + (cap >> 48 & 0xf));
}

struct nvmf_connect_data {
	__u8	hostid[NVMF_HOSTID_SIZE];
	__le16	cntlid;
	__u8	rsvd18[238];
	char	subsysnqn[NVMF_NQN_FIELD];
	char	hostnqn[NVMF_NQN_FIELD];
	__u8	rsvd768[256];
};

nvmf_static_assert(sizeof(struct nvmf_connect_data) == 1024, "Connect carries 1024 bytes");

static inline void nvmf_sqe_init_fabrics(struct nvmf_sqe *sqe, __u8 fctype)
{
	nvmf_sqe_init(sqe, NVMF_OPC_FABRICS, fctype);
}

/*
 * Connect, CDW11 (CATTR): the controller need not report SQHD, which leaves it free to end a read
 * over TCP without a response of its own (6.3; NVMe TCP Transport 1.0, 3.3.2).
 */
#define NVMF_CONNECT_NO_SQ_FLOW		(1U << 18)

/*
 * Connect queue @qid with room for @entries commands. @kato_ms is the keep-alive
 * timeout in milliseconds for the admin queue, 0 for I/O queues.
 */
static inline void nvmf_build_connect(struct nvmf_sqe *sqe, __u16 qid, __u32 entries,
				      __u32 kato_ms)
{
	nvmf_sqe_init_fabrics(sqe, NVMF_FCTYPE_CONNECT);
	sqe->cdw10 = nvmf_htole32((__u32)qid << 16);	/* record format 0 */
	sqe->cdw11 = nvmf_htole32((entries - 1) & 0xffff);
	sqe->cdw12 = nvmf_htole32(kato_ms);
}

/*
 * @hostid is 16 bytes. Returns 0, or -ENAMETOOLONG when a name is longer than
 * NVMF_NQN_SIZE, or -EINVAL when it is empty.
 */
static inline int nvmf_connect_data_fill(struct nvmf_connect_data *d, const __u8 *hostid,
					 __u16 cntlid, const char *subsysnqn, const char *hostnqn)
{
	size_t sub = strlen(subsysnqn), host = strlen(hostnqn);

	if (sub > NVMF_NQN_SIZE || host > NVMF_NQN_SIZE)
		return -ENAMETOOLONG;
	if (!sub || !host)
		return -EINVAL;
	memset(d, 0, sizeof(*d));
	memcpy(d->hostid, hostid, sizeof(d->hostid));
	d->cntlid = nvmf_htole16(cntlid);
	memcpy(d->subsysnqn, subsysnqn, sub);
	memcpy(d->hostnqn, hostnqn, host);
	return 0;
}

/* The controller's identifier, from the result of a successful Connect. */
static inline __u16 nvmf_connect_cntlid(__u64 result)
{
	return (__u16)(result & 0xffff);
}

/*
 * Connect Invalid Parameters names the offender: its byte offset (IPO), in the
 * data when bit 0 of IATTR is set, else in the command.
 */
#define NVMF_CONNECT_BAD_HOSTNQN	512
#define NVMF_CONNECT_BAD_SUBSYSNQN	256

static inline __u16 nvmf_connect_bad_offset(__u64 result)
{
	return (__u16)(result & 0xffff);
}

static inline bool nvmf_connect_bad_is_data(__u64 result)
{
	return result >> 16 & 1;
}

static inline void nvmf_build_property_get(struct nvmf_sqe *sqe, __u32 offset, bool eight_bytes)
{
	nvmf_sqe_init_fabrics(sqe, NVMF_FCTYPE_PROPERTY_GET);
	sqe->cdw10 = nvmf_htole32(eight_bytes ? 1 : 0);
	sqe->cdw11 = nvmf_htole32(offset);
}

static inline void nvmf_build_property_set(struct nvmf_sqe *sqe, __u32 offset, __u32 value)
{
	nvmf_sqe_init_fabrics(sqe, NVMF_FCTYPE_PROPERTY_SET);
	sqe->cdw11 = nvmf_htole32(offset);
	sqe->cdw12 = nvmf_htole32(value);
}

#endif /* NVMF_FABRICS_H */
