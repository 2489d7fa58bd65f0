/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * NVMe over TCP: the protocol data units (PDUs) that a connection is a stream of,
 * as a host builds and reads them.
 *
 *   header: 8 bytes common to all, then what the type adds, HLEN in all
 *   HDGST   CRC32C of the header, where both ends agreed on it
 *   PAD     zeroes, so that the data begin at PDO
 *   DATA
 *   DDGST   CRC32C of the data, where both ends agreed on it
 *
 * NVMe TCP Transport 1.0: 3.3 (data transfer), 3.5 (errors), 3.6.2 (PDUs; the clause
 * of each stands where it is defined).
 *
 * All functions are pure: they touch what they are given, allocate nothing and
 * may be called in any context. Computing a CRC32C is left to the caller.
 */
#ifndef NVMF_TCP_H
#define NVMF_TCP_H

#include "capsule.h"

#define NVMF_TCP_PORT			4420
#define NVMF_TCP_PFV			0	/* PDU format version of 1.0 */
#define NVMF_TCP_DIGEST_SIZE		4	/* CRC32C, little endian */
#define NVMF_TCP_HDR_SIZE		8	/* the common header */
#define NVMF_TCP_HLEN_MAX		128	/* the longest header: ICReq, ICResp */
#define NVMF_TCP_PDA_MAX		31	/* HPDA, CPDA: dwords, 0-based */
#define NVMF_TCP_MAXH2CDATA_MIN		4096
#define NVMF_TCP_TERM_DATA_MAX		128	/* bytes of the PDU in error that are sent back */
/* Data of Fabrics and admin commands go in the capsule up to here, whatever IOCCSZ says (3.3.1) */
#define NVMF_TCP_ADMIN_IN_CAPSULE	8192

/* An SGL descriptor's last byte: a transport data block, of the transport's own (3.3.1) */
#define NVMF_SGL_TRANSPORT		0x5a

enum nvmf_tcp_type {
	NVMF_TCP_ICREQ		= 0x00,	/* host to controller */
	NVMF_TCP_ICRESP		= 0x01,	/* controller to host */
	NVMF_TCP_H2C_TERM	= 0x02,
	NVMF_TCP_C2H_TERM	= 0x03,
	NVMF_TCP_CMD		= 0x04,	/* host to controller */
	NVMF_TCP_RSP		= 0x05,	/* controller to host */
	NVMF_TCP_H2C_DATA	= 0x06,
	NVMF_TCP_C2H_DATA	= 0x07,
	NVMF_TCP_R2T		= 0x09,	/* controller to host */
};

/* FLAGS of the common header */
#define NVMF_TCP_F_HDGST		0x01
#define NVMF_TCP_F_DDGST		0x02
#define NVMF_TCP_F_LAST			0x04	/* H2CData, C2HData: the last of the transfer */
#define NVMF_TCP_F_SUCCESS		0x08	/* C2HData: … and no CapsuleResp follows */

/* DGST of ICReq and ICResp */
#define NVMF_TCP_DGST_HEADER		0x01
#define NVMF_TCP_DGST_DATA		0x02

/* Fatal error status of a terminate connection request (3.6.2.4, 3.6.2.5) */
#define NVMF_TCP_FES_HEADER		0x01	/* FEI: byte offset of the field in the header */
#define NVMF_TCP_FES_SEQUENCE		0x02
#define NVMF_TCP_FES_HDGST		0x03	/* FEI: the digest that came */
#define NVMF_TCP_FES_RANGE		0x04
#define NVMF_TCP_FES_LIMIT		0x05	/* R2T limit; to a host: data limit */
#define NVMF_TCP_FES_UNSUPPORTED	0x06	/* FEI: byte offset of the parameter */

/* 3.6.2.1 */
struct nvmf_tcp_hdr {
	__u8	type;		/* enum nvmf_tcp_type */
	__u8	flags;		/* NVMF_TCP_F_* */
	__u8	hlen;		/* bytes of header, digest not included */
	__u8	pdo;		/* where the data begin, from the start of the PDU */
	__le32	plen;		/* bytes of the whole PDU, digests included */
};

/* 3.6.2.2: the first PDU of a connection */
struct nvmf_tcp_icreq {
	struct nvmf_tcp_hdr hdr;
	__le16	pfv;
	__u8	hpda;		/* alignment of PDO in C2HData, dwords, 0-based */
	__u8	dgst;		/* NVMF_TCP_DGST_*, asked for */
	__le32	maxr2t;		/* R2Ts outstanding a command at most, 0-based */
	__u8	rsvd[112];
};

/* 3.6.2.3: its answer */
struct nvmf_tcp_icresp {
	struct nvmf_tcp_hdr hdr;
	__le16	pfv;
	__u8	cpda;		/* alignment of PDO in CapsuleCmd and H2CData, dwords, 0-based */
	__u8	dgst;		/* NVMF_TCP_DGST_*, in use from now on */
	__le32	maxh2cdata;	/* bytes of data in one H2CData at most */
	__u8	rsvd[112];
};

/* 3.6.2.4, 3.6.2.5: the last PDU of a connection; the header in error follows as data */
struct nvmf_tcp_term {
	struct nvmf_tcp_hdr hdr;
	__le16	fes;		/* NVMF_TCP_FES_* */
	__le16	fei[2];		/* one number of 32 bits, which lies at an odd place */
	__u8	rsvd[10];
};

/* 3.6.2.6 */
struct nvmf_tcp_cmd {
	struct nvmf_tcp_hdr hdr;
	struct nvmf_sqe sqe;
};

/* 3.6.2.7 */
struct nvmf_tcp_rsp {
	struct nvmf_tcp_hdr hdr;
	struct nvmf_cqe cqe;
};

/* 3.6.2.8 H2CData, 3.6.2.9 C2HData */
struct nvmf_tcp_data {
	struct nvmf_tcp_hdr hdr;
	__le16	cid;		/* CCCID: of the command whose data these are */
	__le16	ttag;		/* H2CData: as in the R2T; C2HData: reserved */
	__le32	offset;		/* DATAO: from the start of the command's data */
	__le32	length;		/* DATAL */
	__u8	rsvd[4];
};

/* 3.6.2.10 */
struct nvmf_tcp_r2t {
	struct nvmf_tcp_hdr hdr;
	__le16	cid;
	__le16	ttag;		/* to be put into the H2CData that answer it */
	__le32	offset;		/* R2TO: what is asked for, in the command's data */
	__le32	length;		/* R2TL */
	__u8	rsvd[4];
};

nvmf_static_assert(sizeof(struct nvmf_tcp_hdr) == NVMF_TCP_HDR_SIZE,
		   "the common header has 8 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_icreq) == 128, "ICReq has 128 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_icresp) == 128, "ICResp has 128 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_term) == 24, "a terminate request has 24 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_cmd) == 72, "CapsuleCmd has 72 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_rsp) == 24, "CapsuleResp has 24 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_data) == 24, "H2CData and C2HData have 24 bytes");
nvmf_static_assert(sizeof(struct nvmf_tcp_r2t) == 24, "R2T has 24 bytes");

/* What both ends agreed on. All zero but for maxh2cdata: no digests, dword alignment. */
struct nvmf_tcp_params {
	bool	hdgst;
	bool	ddgst;
	__u8	hpda;		/* ours, 0 to NVMF_TCP_PDA_MAX */
	__u8	cpda;		/* the controller's, 0 to NVMF_TCP_PDA_MAX */
	__u32	maxh2cdata;	/* NVMF_TCP_MAXH2CDATA_MIN at least */
};

/* What is wrong with a PDU: for the terminate connection request. */
struct nvmf_tcp_fault {
	__u16	fes;
	__u32	fei;
};

static inline int nvmf_tcp_fail(struct nvmf_tcp_fault *fault, __u16 fes, __u32 fei)
{
	fault->fes = fes;
	fault->fei = fei;
	return -EPROTO;
}

/* Where data behind a header of @hlen bytes begin: behind the digest, aligned to @pda. */
static inline __u8 nvmf_tcp_pdo(__u8 hlen, bool hdgst, __u8 pda)
{
	unsigned int unit = ((unsigned int)pda + 1) * 4;
	unsigned int end = (unsigned int)hlen + (hdgst ? NVMF_TCP_DIGEST_SIZE : 0);

	return (__u8)((end + unit - 1) / unit * unit);
}

/* The data lie with the host: @length bytes, which PDUs of their own bring or fetch; or none. */
static inline void nvmf_tcp_sgl_set(union nvmf_sgl *sgl, __u32 length)
{
	memset(sgl, 0, sizeof(*sgl));
	sgl->data.length = nvmf_htole32(length);
	sgl->data.type = NVMF_SGL_TRANSPORT;
}

/* A digest as it stands behind a header or data, and back. */
static inline void nvmf_tcp_put_digest(void *at, __u32 crc)
{
	__le32 v = nvmf_htole32(crc);

	memcpy(at, &v, sizeof(v));
}

static inline __u32 nvmf_tcp_get_digest(const void *at)
{
	return nvmf_get32(at, 0);
}

/*
 * Ask for a connection: our alignment @hpda, digests @dgst (NVMF_TCP_DGST_*), and @maxr2t R2Ts a
 * command, 1 at least.
 */
static inline void nvmf_tcp_icreq_fill(struct nvmf_tcp_icreq *req, __u8 hpda, __u8 dgst,
				       __u32 maxr2t)
{
	memset(req, 0, sizeof(*req));
	req->hdr.type = NVMF_TCP_ICREQ;
	req->hdr.hlen = sizeof(*req);
	req->hdr.plen = nvmf_htole32(sizeof(*req));
	req->pfv = nvmf_htole16(NVMF_TCP_PFV);
	req->hpda = hpda;
	req->dgst = dgst;
	req->maxr2t = nvmf_htole32(maxr2t - 1);
}

/*
 * Read the answer to @req, 128 bytes. Returns 0 and what is agreed on from now on; or with
 * @fault filled in
 *   -EPROTO           it is no ICResp, or contradicts the specification or the request;
 *   -EPROTONOSUPPORT  another version of the format;
 *   -EOPNOTSUPP       the controller does without a digest that was asked for.
 */
static inline int nvmf_tcp_icresp_parse(const void *pdu, const struct nvmf_tcp_icreq *req,
					struct nvmf_tcp_params *params, struct nvmf_tcp_fault *fault)
{
	struct nvmf_tcp_icresp rsp;
	__u32 maxh2cdata;

	memcpy(&rsp, pdu, sizeof(rsp));
	if (rsp.hdr.type != NVMF_TCP_ICRESP)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_SEQUENCE, 0);
	if (rsp.hdr.hlen != sizeof(rsp))
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, hlen));
	if (nvmf_le32toh(rsp.hdr.plen) != sizeof(rsp))
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, plen));
	if (nvmf_le16toh(rsp.pfv) != NVMF_TCP_PFV) {
		nvmf_tcp_fail(fault, NVMF_TCP_FES_UNSUPPORTED, offsetof(struct nvmf_tcp_icresp, pfv));
		return -EPROTONOSUPPORT;
	}
	if (rsp.cpda > NVMF_TCP_PDA_MAX)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_icresp, cpda));
	maxh2cdata = nvmf_le32toh(rsp.maxh2cdata);
	if (maxh2cdata < NVMF_TCP_MAXH2CDATA_MIN || maxh2cdata % 4)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER,
				     offsetof(struct nvmf_tcp_icresp, maxh2cdata));
	/* bits that nobody defined may come to mean something: not without our asking */
	if (rsp.dgst & ~req->dgst)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_icresp, dgst));
	if (rsp.dgst != req->dgst) {
		nvmf_tcp_fail(fault, NVMF_TCP_FES_UNSUPPORTED, offsetof(struct nvmf_tcp_icresp, dgst));
		return -EOPNOTSUPP;
	}
	memset(params, 0, sizeof(*params));
	params->hdgst = rsp.dgst & NVMF_TCP_DGST_HEADER;
	params->ddgst = rsp.dgst & NVMF_TCP_DGST_DATA;
	params->hpda = req->hpda;
	params->cpda = rsp.cpda;
	params->maxh2cdata = maxh2cdata;
	return 0;
}

/* Common header of a PDU of ours with @length bytes of data, or 0: PDO, PLEN, flags follow. */
static inline void nvmf_tcp_hdr_fill(struct nvmf_tcp_hdr *hdr, __u8 type, __u8 flags, __u8 hlen,
				     __u32 length, const struct nvmf_tcp_params *params)
{
	__u32 plen = hlen + (params->hdgst ? NVMF_TCP_DIGEST_SIZE : 0);

	hdr->type = type;
	hdr->flags = flags;
	if (params->hdgst)
		hdr->flags |= NVMF_TCP_F_HDGST;
	hdr->hlen = hlen;
	hdr->pdo = 0;
	if (length) {
		hdr->pdo = nvmf_tcp_pdo(hlen, params->hdgst, params->cpda);
		plen = hdr->pdo + length;
		if (params->ddgst) {
			hdr->flags |= NVMF_TCP_F_DDGST;
			plen += NVMF_TCP_DIGEST_SIZE;
		}
	}
	hdr->plen = nvmf_htole32(plen);
}

/* CapsuleCmd with @length bytes of in-capsule data behind it, or 0; the SQE is the caller's. */
static inline void nvmf_tcp_cmd_fill(struct nvmf_tcp_cmd *cmd, __u32 length,
				     const struct nvmf_tcp_params *params)
{
	nvmf_tcp_hdr_fill(&cmd->hdr, NVMF_TCP_CMD, 0, sizeof(*cmd), length, params);
}

/* H2CData: @length bytes from @offset of the data of command @cid, for the R2T of @ttag. */
static inline void nvmf_tcp_h2c_data_fill(struct nvmf_tcp_data *data, __u16 cid, __u16 ttag,
					  __u32 offset, __u32 length, bool last,
					  const struct nvmf_tcp_params *params)
{
	memset(data, 0, sizeof(*data));
	nvmf_tcp_hdr_fill(&data->hdr, NVMF_TCP_H2C_DATA, last ? NVMF_TCP_F_LAST : 0, sizeof(*data),
			  length, params);
	data->cid = nvmf_htole16(cid);
	data->ttag = nvmf_htole16(ttag);
	data->offset = nvmf_htole32(offset);
	data->length = nvmf_htole32(length);
}

/* H2CTermReq for @fault, with @length bytes of the header in error behind it. */
static inline void nvmf_tcp_h2c_term_fill(struct nvmf_tcp_term *term,
					  const struct nvmf_tcp_fault *fault, __u32 length)
{
	memset(term, 0, sizeof(*term));
	term->hdr.type = NVMF_TCP_H2C_TERM;
	term->hdr.hlen = sizeof(*term);
	if (length > NVMF_TCP_TERM_DATA_MAX)
		length = NVMF_TCP_TERM_DATA_MAX;
	term->hdr.plen = nvmf_htole32((__u32)sizeof(*term) + length);
	term->fes = nvmf_htole16(fault->fes);
	term->fei[0] = nvmf_htole16((__u16)fault->fei);
	term->fei[1] = nvmf_htole16((__u16)(fault->fei >> 16));
}

static inline void nvmf_tcp_term_parse(const void *pdu, struct nvmf_tcp_fault *fault)
{
	struct nvmf_tcp_term term;

	memcpy(&term, pdu, sizeof(term));
	fault->fes = nvmf_le16toh(term.fes);
	fault->fei = nvmf_le16toh(term.fei[0]) | (__u32)nvmf_le16toh(term.fei[1]) << 16;
}

static inline const char *nvmf_tcp_fes_text(__u16 fes)
{
	switch (fes) {
	case NVMF_TCP_FES_HEADER:
		return "invalid PDU header field";
	case NVMF_TCP_FES_SEQUENCE:
		return "PDU sequence error";
	case NVMF_TCP_FES_HDGST:
		return "header digest error";
	case NVMF_TCP_FES_RANGE:
		return "data transfer out of range";
	case NVMF_TCP_FES_LIMIT:
		return "data transfer limit exceeded";
	case NVMF_TCP_FES_UNSUPPORTED:
		return "unsupported parameter";
	default:
		return "no reason that is known";
	}
}

/* A received PDU, as its checked common header lays it out. */
struct nvmf_tcp_layout {
	__u8	type;		/* enum nvmf_tcp_type */
	__u8	flags;
	__u8	head;		/* bytes to be read before it can be acted on: header, digest, padding */
	__u8	hlen;		/* … of these the header; the digest, if any, is behind it */
	__u32	data;		/* bytes of data that follow */
	__u8	tail;		/* bytes of the data's digest behind them: 0 or 4 */
};

/* Shared by those that have no data: nothing behind the header and its digest. */
static inline int nvmf_tcp_layout_bare(struct nvmf_tcp_layout *layout, __u32 plen,
				       struct nvmf_tcp_fault *fault)
{
	if (plen != layout->head)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, plen));
	return 0;
}

static inline int nvmf_tcp_layout_data(struct nvmf_tcp_layout *layout, __u8 pdo, __u32 plen,
				       const struct nvmf_tcp_params *params,
				       struct nvmf_tcp_fault *fault)
{
	__u32 tail = params->ddgst ? NVMF_TCP_DIGEST_SIZE : 0;

	/* SUCCESS without LAST_PDU would end a command in the middle (3.6.2.9) */
	if (!!(layout->flags & NVMF_TCP_F_DDGST) != params->ddgst ||
	    ((layout->flags & NVMF_TCP_F_SUCCESS) && !(layout->flags & NVMF_TCP_F_LAST)))
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, flags));
	if (pdo < layout->head || pdo % (((unsigned int)params->hpda + 1) * 4))
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, pdo));
	if (plen <= pdo + tail)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, plen));
	layout->head = pdo;
	layout->data = plen - pdo - tail;
	layout->tail = (__u8)tail;
	return 0;
}

/*
 * Check the common header of a PDU that a host received after ICResp, 8 bytes, against what was
 * agreed on. Returns 0 with @layout, or -EPROTO with @fault. Nothing else was looked at: the
 * header's own fields are for nvmf_tcp_transfer_parse() and nvmf_response_parse().
 */
static inline int nvmf_tcp_hdr_parse(const void *pdu, const struct nvmf_tcp_params *params,
				     struct nvmf_tcp_layout *layout, struct nvmf_tcp_fault *fault)
{
	struct nvmf_tcp_hdr hdr;
	__u32 plen;

	memcpy(&hdr, pdu, sizeof(hdr));
	plen = nvmf_le32toh(hdr.plen);
	memset(layout, 0, sizeof(*layout));
	layout->type = hdr.type;
	layout->flags = hdr.flags;
	switch (hdr.type) {
	case NVMF_TCP_RSP:
	case NVMF_TCP_C2H_DATA:
	case NVMF_TCP_R2T:
	case NVMF_TCP_C2H_TERM:
		break;
	case NVMF_TCP_ICRESP:	/* a second one */
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_SEQUENCE, 0);
	default:
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, type));
	}
	/* all four have headers of one size */
	if (hdr.hlen != sizeof(struct nvmf_tcp_data))
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, hlen));
	layout->hlen = hdr.hlen;
	layout->head = hdr.hlen;
	if (hdr.type == NVMF_TCP_C2H_TERM) {
		/* no digests, whatever was agreed on */
		if (plen < hdr.hlen || plen > hdr.hlen + (__u32)NVMF_TCP_TERM_DATA_MAX)
			return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER,
					     offsetof(struct nvmf_tcp_hdr, plen));
		layout->data = plen - hdr.hlen;
		return 0;
	}
	if (!!(hdr.flags & NVMF_TCP_F_HDGST) != params->hdgst)
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER, offsetof(struct nvmf_tcp_hdr, flags));
	if (params->hdgst)
		layout->head += NVMF_TCP_DIGEST_SIZE;
	if (hdr.type == NVMF_TCP_C2H_DATA)
		return nvmf_tcp_layout_data(layout, hdr.pdo, plen, params, fault);
	return nvmf_tcp_layout_bare(layout, plen, fault);
}

/* What C2HData bring, or an R2T asks for, in host byte order. */
struct nvmf_tcp_transfer {
	__u16	cid;
	__u16	ttag;		/* R2T only */
	__u32	offset;
	__u32	length;		/* not 0 */
};

/*
 * Read the header of a C2HData or R2T whose common header has passed. Returns 0, or -EPROTO with
 * @fault: a length of 0, or in C2HData other than that of the data behind. Whether the command is
 * in flight, and whether the range lies in its data, is for the caller to check.
 */
static inline int nvmf_tcp_transfer_parse(const void *pdu, const struct nvmf_tcp_layout *layout,
					  struct nvmf_tcp_transfer *transfer,
					  struct nvmf_tcp_fault *fault)
{
	struct nvmf_tcp_data data;

	nvmf_static_assert(offsetof(struct nvmf_tcp_data, length) ==
			   offsetof(struct nvmf_tcp_r2t, length), "both have the same fields");
	memcpy(&data, pdu, sizeof(data));
	transfer->cid = nvmf_le16toh(data.cid);
	transfer->ttag = nvmf_le16toh(data.ttag);
	transfer->offset = nvmf_le32toh(data.offset);
	transfer->length = nvmf_le32toh(data.length);
	if (!transfer->length ||
	    (layout->type == NVMF_TCP_C2H_DATA && transfer->length != layout->data))
		return nvmf_tcp_fail(fault, NVMF_TCP_FES_HEADER,
				     offsetof(struct nvmf_tcp_data, length));
	return 0;
}

/* Whether @transfer lies inside the @size bytes of a command's data; no sum that could wrap. */
static inline bool nvmf_tcp_transfer_inside(const struct nvmf_tcp_transfer *transfer, __u32 size)
{
	return transfer->offset <= size && transfer->length <= size - transfer->offset;
}

#endif /* NVMF_TCP_H */
