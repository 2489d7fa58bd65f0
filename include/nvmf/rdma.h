/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The private data that an RDMA connection of NVMe over Fabrics begins with.
 *
 * NVMe over Fabrics RDMA Transport 1.0, 3.2 (figures 5 to 8).
 */
#ifndef NVMF_RDMA_H
#define NVMF_RDMA_H

#include "types.h"

#define NVMF_RDMA_RECFMT	0
#define NVMF_RDMA_PORT		4420

struct nvmf_rdma_cm_req {
	__le16	recfmt;
	__le16	qid;
	__le16	hrqsize;	/* host receive queue size, entries */
	__le16	hsqsize;	/* host send queue size, entries, 0-based */
	__le16	cntlid;		/* of the controller that the I/O queue joins */
	__u8	rsvd[22];
};

struct nvmf_rdma_cm_rep {
	__le16	recfmt;
	__le16	crqsize;	/* controller receive queue size, entries */
	__u8	rsvd[28];
};

struct nvmf_rdma_cm_rej {
	__le16	recfmt;
	__le16	status;		/* NVMF_RDMA_REJ_* */
};

nvmf_static_assert(sizeof(struct nvmf_rdma_cm_req) == 32, "the request carries 32 bytes");
nvmf_static_assert(sizeof(struct nvmf_rdma_cm_rep) == 32, "the reply carries 32 bytes");
nvmf_static_assert(sizeof(struct nvmf_rdma_cm_rej) == 4, "a reject carries 4 bytes");

#define NVMF_RDMA_REJ_INVALID_LEN	0x01
#define NVMF_RDMA_REJ_INVALID_RECFMT	0x02
#define NVMF_RDMA_REJ_INVALID_QID	0x03
#define NVMF_RDMA_REJ_INVALID_HSQSIZE	0x04
#define NVMF_RDMA_REJ_INVALID_HRQSIZE	0x05
#define NVMF_RDMA_REJ_NO_RESOURCES	0x06
#define NVMF_RDMA_REJ_INVALID_IRD	0x07
#define NVMF_RDMA_REJ_INVALID_ORD	0x08
#define NVMF_RDMA_REJ_INVALID_CNTLID	0x09

/*
 * Ask for queue @qid of @entries. The receive queue has as many entries as there
 * can be responses; the send queue's size is 0-based, as in Connect.
 */
static inline void nvmf_rdma_req_fill(struct nvmf_rdma_cm_req *req, __u16 qid, __u16 entries,
				      __u16 cntlid)
{
	memset(req, 0, sizeof(*req));
	req->recfmt = nvmf_htole16(NVMF_RDMA_RECFMT);
	req->qid = nvmf_htole16(qid);
	req->hrqsize = nvmf_htole16(entries);
	req->hsqsize = nvmf_htole16((__u16)(entries - 1));
	req->cntlid = nvmf_htole16(qid ? cntlid : 0);
}

/*
 * Read the private data of an accepted connection. @len is what the CM says,
 * which may be longer (padded), never shorter. Returns the controller's receive
 * queue size in entries (1 to 65535), or -EPROTO.
 */
static inline int nvmf_rdma_rep_parse(const void *data, size_t len)
{
	struct nvmf_rdma_cm_rep rep;

	if (!data || len < sizeof(rep))
		return -EPROTO;
	memcpy(&rep, data, sizeof(rep));
	if (rep.recfmt != nvmf_htole16(NVMF_RDMA_RECFMT) || !rep.crqsize)
		return -EPROTO;
	return nvmf_le16toh(rep.crqsize);
}

/*
 * Read the private data of a rejected connection: NVMF_RDMA_REJ_*, or 0 when there is none
 * of a format that we know.
 */
static inline int nvmf_rdma_rej_parse(const void *data, size_t len)
{
	struct nvmf_rdma_cm_rej rej;

	if (!data || len < sizeof(rej))
		return 0;
	memcpy(&rej, data, sizeof(rej));
	if (rej.recfmt != nvmf_htole16(NVMF_RDMA_RECFMT))
		return 0;
	return nvmf_le16toh(rej.status);
}

static inline const char *nvmf_rdma_rej_text(int status)
{
	switch (status) {
	case NVMF_RDMA_REJ_INVALID_LEN:
		return "invalid length of private data";
	case NVMF_RDMA_REJ_INVALID_RECFMT:
		return "invalid record format";
	case NVMF_RDMA_REJ_INVALID_QID:
		return "invalid queue ID";
	case NVMF_RDMA_REJ_INVALID_HSQSIZE:
		return "invalid host SQ size";
	case NVMF_RDMA_REJ_INVALID_HRQSIZE:
		return "invalid host RQ size";
	case NVMF_RDMA_REJ_NO_RESOURCES:
		return "the controller is out of resources";
	case NVMF_RDMA_REJ_INVALID_IRD:
		return "invalid initiator depth";
	case NVMF_RDMA_REJ_INVALID_ORD:
		return "invalid responder resources";
	case NVMF_RDMA_REJ_INVALID_CNTLID:
		return "invalid controller ID";
	default:
		return "no reason given";
	}
}

#endif /* NVMF_RDMA_H */
