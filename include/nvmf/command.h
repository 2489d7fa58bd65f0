/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Admin and NVM commands: opcodes, and one builder a command. A builder writes
 * the whole SQE but for the command identifier and the data pointer, which
 * belong to whoever posts it.
 *
 * NVMe Base 2.0, 5 (admin) and NVM Command Set 1.0, 3.2 (I/O).
 */
#ifndef NVMF_COMMAND_H
#define NVMF_COMMAND_H

#include "capsule.h"

/* Admin opcodes */
#define NVMF_ADM_GET_LOG_PAGE	0x02
#define NVMF_ADM_IDENTIFY	0x06
#define NVMF_ADM_SET_FEATURES	0x09
#define NVMF_ADM_GET_FEATURES	0x0a
#define NVMF_ADM_ASYNC_EVENT	0x0c
#define NVMF_ADM_KEEP_ALIVE	0x18

/* NVM opcodes */
#define NVMF_IO_FLUSH		0x00
#define NVMF_IO_WRITE		0x01
#define NVMF_IO_READ		0x02
#define NVMF_IO_WRITE_ZEROES	0x08
#define NVMF_IO_DSM		0x09	/* Dataset Management */

/*
 * Bits 1:0 of an opcode tell the data's direction (Base 2.0, figure 88):
 * bit 0 host to controller, bit 1 controller to host, both bidirectional.
 */
#define NVMF_OPC_TO_CTRL	0x01
#define NVMF_OPC_TO_HOST	0x02

/* Read and Write, CDW12 */
#define NVMF_RW_FUA		(1U << 30)
#define NVMF_RW_LIMITED_RETRY	(1U << 31)
#define NVMF_RW_NLB_MAX		0x10000U	/* blocks in one command (NLB is 0-based) */

/* Dataset Management, CDW11, and one range of blocks (NVM Command Set 1.0, 3.2.3) */
#define NVMF_DSM_DEALLOCATE	(1U << 2)

struct nvmf_dsm_range {
	__le32	attributes;
	__le32	nlb;
	__le64	slba;
};

/* Identify, CNS */
#define NVMF_CNS_NS		0x00
#define NVMF_CNS_CTRL		0x01
#define NVMF_CNS_ACTIVE_NS	0x02
#define NVMF_CNS_NS_DESCRIPTORS	0x03
#define NVMF_IDENTIFY_SIZE	4096
#define NVMF_ACTIVE_NS_PER_LIST	1024

/* Features */
#define NVMF_FEAT_NUM_QUEUES	0x07
#define NVMF_FEAT_ASYNC_EVENT	0x0b

/* Log pages */
#define NVMF_LOG_ERROR		0x01
#define NVMF_LOG_SMART		0x02
#define NVMF_LOG_CHANGED_NS	0x04
#define NVMF_LOG_CHANGED_NS_SIZE 4096
#define NVMF_NSID_ALL		0xffffffffU

/* Asynchronous events: types, what some tell, and which are wanted (Set Features, CDW11) */
#define NVMF_EVENT_NOTICE	0x02
#define NVMF_NOTICE_NS_CHANGED	0x00
#define NVMF_EVENT_NS_ATTR	(1U << 8)

static inline void nvmf_build_identify(struct nvmf_sqe *sqe, __u8 cns, __u32 nsid)
{
	nvmf_sqe_init(sqe, NVMF_ADM_IDENTIFY, nsid);
	sqe->cdw10 = nvmf_htole32(cns);
}

/* Set Features, Number of Queues: ask for @nr I/O queue pairs, 1 to 65535. */
static inline void nvmf_build_set_num_queues(struct nvmf_sqe *sqe, __u32 nr)
{
	nvmf_sqe_init(sqe, NVMF_ADM_SET_FEATURES, 0);
	sqe->cdw10 = nvmf_htole32(NVMF_FEAT_NUM_QUEUES);
	sqe->cdw11 = nvmf_htole32((nr - 1) | (nr - 1) << 16);
}

/* How many queue pairs the controller allots, from dword 0 of its answer. */
static inline __u32 nvmf_num_queues(__u64 result)
{
	__u32 sqs = (__u32)(result & 0xffff) + 1;
	__u32 cqs = (__u32)(result >> 16 & 0xffff) + 1;

	return sqs < cqs ? sqs : cqs;
}

/* Set Features, Asynchronous Event Configuration: be told of @events, as NVMF_EVENT_NS_ATTR. */
static inline void nvmf_build_set_events(struct nvmf_sqe *sqe, __u32 events)
{
	nvmf_sqe_init(sqe, NVMF_ADM_SET_FEATURES, 0);
	sqe->cdw10 = nvmf_htole32(NVMF_FEAT_ASYNC_EVENT);
	sqe->cdw11 = nvmf_htole32(events);
}

/* Answered when there is an event to tell of: perhaps never. */
static inline void nvmf_build_async_event(struct nvmf_sqe *sqe)
{
	nvmf_sqe_init(sqe, NVMF_ADM_ASYNC_EVENT, 0);
}

/* What an Asynchronous Event Request is answered with, in dword 0. */
struct nvmf_event {
	__u8	type;	/* NVMF_EVENT_* */
	__u8	info;	/* by type: NVMF_NOTICE_* */
	__u8	lid;	/* the log page that tells more; reading it makes room for the next */
};

static inline struct nvmf_event nvmf_event_parse(__u64 result)
{
	struct nvmf_event event;

	event.type = (__u8)(result & 0x7);
	event.info = (__u8)(result >> 8);
	event.lid = (__u8)(result >> 16);
	return event;
}

static inline bool nvmf_event_is_ns_change(const struct nvmf_event *event)
{
	return event->type == NVMF_EVENT_NOTICE && event->info == NVMF_NOTICE_NS_CHANGED;
}

/* The first @bytes (a multiple of 4, not 0) of log page @lid; the event that told of it is cleared. */
static inline void nvmf_build_get_log_page(struct nvmf_sqe *sqe, __u8 lid, __u32 nsid, __u32 bytes)
{
	__u32 numd = bytes / 4 - 1;

	nvmf_sqe_init(sqe, NVMF_ADM_GET_LOG_PAGE, nsid);
	sqe->cdw10 = nvmf_htole32(lid | (numd & 0xffff) << 16);
	sqe->cdw11 = nvmf_htole32(numd >> 16);
}

static inline void nvmf_build_keep_alive(struct nvmf_sqe *sqe)
{
	nvmf_sqe_init(sqe, NVMF_ADM_KEEP_ALIVE, 0);
}

/* Read or Write of @nlb blocks (1 to NVMF_RW_NLB_MAX) at @slba; @control is NVMF_RW_*. */
static inline void nvmf_build_rw(struct nvmf_sqe *sqe, __u8 opcode, __u32 nsid, __u64 slba,
				 __u32 nlb, __u32 control)
{
	nvmf_sqe_init(sqe, opcode, nsid);
	sqe->cdw10 = nvmf_htole32((__u32)slba);
	sqe->cdw11 = nvmf_htole32((__u32)(slba >> 32));
	sqe->cdw12 = nvmf_htole32(((nlb - 1) & 0xffff) | control);
}

/*
 * Deallocate the blocks of one range. Its data, host to controller, are @range: @nlb blocks
 * from @slba.
 */
static inline void nvmf_build_deallocate(struct nvmf_sqe *sqe, struct nvmf_dsm_range *range,
					 __u32 nsid, __u64 slba, __u32 nlb)
{
	nvmf_sqe_init(sqe, NVMF_IO_DSM, nsid);
	sqe->cdw10 = nvmf_htole32(0);	/* one range */
	sqe->cdw11 = nvmf_htole32(NVMF_DSM_DEALLOCATE);
	range->attributes = nvmf_htole32(0);
	range->nlb = nvmf_htole32(nlb);
	range->slba = nvmf_htole64(slba);
}

static inline void nvmf_build_flush(struct nvmf_sqe *sqe, __u32 nsid)
{
	nvmf_sqe_init(sqe, NVMF_IO_FLUSH, nsid);
}

#endif /* NVMF_COMMAND_H */
