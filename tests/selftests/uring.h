/* SPDX-License-Identifier: GPL-2.0-only */
/* NVMe passthrough by io_uring: rings, and commands on them. */
#ifndef KDP_URING_H
#define KDP_URING_H

#include <liburing.h>

#include "nvme_abi.h"

#define BIG_RING	(IORING_SETUP_SQE128 | IORING_SETUP_CQE32)

struct ring_kind {
	const char	*name;
	unsigned int	flags;
};

static const struct ring_kind ring_kinds[] = {
	{ "plain",		0 },
	{ "DEFER_TASKRUN",	IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN },
	{ "IOPOLL",		IORING_SETUP_IOPOLL },
	{ "SQPOLL",		IORING_SETUP_SQPOLL },
	{ "SQPOLL+IOPOLL",	IORING_SETUP_SQPOLL | IORING_SETUP_IOPOLL },
};

/* How long a thread that polls spins without work: one CPU has little else to do then. */
static unsigned int idle_ms = 100;

static inline int ring_try(struct io_uring *ring, unsigned int entries, unsigned int flags)
{
	struct io_uring_params params = { .flags = flags, .sq_thread_idle = idle_ms };

	return io_uring_queue_init_params(entries, ring, &params);
}

static inline void ring_make(struct io_uring *ring, unsigned int entries, unsigned int flags)
{
	int rc = ring_try(ring, entries, flags);

	if (rc) {
		errno = -rc;
		die("a ring of %u entries with flags 0x%x", entries, flags);
	}
}

static inline struct nvme_uring_cmd uring_cmd(const struct nvme_passthru_cmd64 *c)
{
	return (struct nvme_uring_cmd){
		.opcode = c->opcode, .flags = c->flags, .rsvd1 = c->rsvd1, .nsid = c->nsid,
		.cdw2 = c->cdw2, .cdw3 = c->cdw3, .metadata = c->metadata, .addr = c->addr,
		.metadata_len = c->metadata_len, .data_len = c->data_len,
		.cdw10 = c->cdw10, .cdw11 = c->cdw11, .cdw12 = c->cdw12, .cdw13 = c->cdw13,
		.cdw14 = c->cdw14, .cdw15 = c->cdw15, .timeout_ms = c->timeout_ms,
	};
}

/* The next SQE with @c; of a ring with small ones as much as there is room for. */
static inline struct io_uring_sqe *ring_add(struct io_uring *ring, int fd, unsigned int op,
					    const struct nvme_uring_cmd *c, uint64_t data)
{
	bool big = ring->flags & IORING_SETUP_SQE128;
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (!sqe)
		die("no SQE");
	memset(sqe, 0, big ? 128 : 64);
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = op;
	sqe->user_data = data;
	memcpy(sqe->cmd, c, big ? sizeof(*c) : 16);
	return sqe;
}

static inline void ring_submit(struct io_uring *ring)
{
	int rc = io_uring_submit(ring);

	if (rc < 0) {
		errno = -rc;
		die("io_uring_submit");
	}
}

struct answer {
	uint64_t	data;		/* of the SQE */
	int		res;
	uint64_t	result;		/* of a ring with big CQEs */
};

static inline struct answer ring_wait(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	struct answer a;
	int rc;

	patience();
	rc = io_uring_wait_cqe(ring, &cqe);
	if (rc) {
		errno = -rc;
		die("io_uring_wait_cqe");
	}
	a = (struct answer){ .data = cqe->user_data, .res = cqe->res };
	if (ring->flags & IORING_SETUP_CQE32)
		a.result = cqe->big_cqe[0];
	io_uring_cqe_seen(ring, cqe);
	return a;
}

/* One command alone; *@result may be NULL. */
static inline int ring_one(struct io_uring *ring, int fd, unsigned int op,
			   const struct nvme_passthru_cmd64 *c, uint64_t *result)
{
	struct nvme_uring_cmd cmd = uring_cmd(c);
	struct answer a;

	ring_add(ring, fd, op, &cmd, 0x77);
	ring_submit(ring);
	a = ring_wait(ring);
	if (a.data != 0x77)
		point(false, "a CQE carries its SQE's user data");
	if (result)
		*result = a.result;
	return a.res;
}

#endif /* KDP_URING_H */
