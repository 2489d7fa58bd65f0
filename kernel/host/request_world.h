/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of request.c and send.c, and of what they stand on: a controller with one I/O
 * queue on a fake device. Requests are blk-mq's, and the test says what completes, in which order,
 * and what the target answers.
 */
#ifndef KDP_REQUEST_WORLD_H
#define KDP_REQUEST_WORLD_H

#include <kunit/test.h>

#include "../core/fake_ib.h"
#include "host.h"

#define TEST_DEPTH	8
#define TEST_CMDS	4
#define TEST_DATA	SZ_4K
#define PATIENCE	(10 * HZ)

enum kind {
	NO_DATA,
	IN_CAPSULE,	/* a write */
	READ_MR,
	WRITE_MR,
};

struct req_world;

/* A request that the test follows. */
struct cmd {
	struct req_world	*w;
	struct request		*rq;
	struct kdp_req		*req;
	u16			cid;		/* as posted */
	unsigned int		place;		/* in the ring of sends */
	u32			key;		/* of its MR, as posted */
	unsigned int		ends;
	blk_status_t		status;
	struct completion	ended;
};

struct req_world {
	struct kunit		*test;
	struct kdp_device	dev;
	struct kdp_fake_ib	*fake;
	struct ib_qp		qp;
	struct kdp_ctrl		ctrl;
	struct kdp_queue	queues[2];
	struct kdp_queue	*queue;		/* the second, for I/O */
	struct cmd		cmds[TEST_CMDS];
	void			*data;

	unsigned int		fails;		/* of the controller */
	const char		*why;		/* it failed first */
};

int request_world_init(struct kunit *test);
void request_world_exit(struct kunit *test);

/* As if the controller had never failed. */
void make_whole(struct req_world *w);

/* Into blk-mq and, if nothing prevents it, onto the wire. */
struct cmd *submit_flags(struct req_world *w, unsigned int i, enum kind kind,
			 blk_mq_req_flags_t flags);
/* What blk-mq does for a batch: each by itself, then commit() unless the last was @last. */
blk_status_t queue_one(struct req_world *w, unsigned int i, enum kind kind, bool last);
void commit(struct req_world *w);
/* It ends with that event, see happens(), and goes back to blk-mq. */
void end_cmd(struct req_world *w, unsigned int i, char event);
/* Onto the wire. */
struct cmd *submit(struct req_world *w, unsigned int i, enum kind kind);
/* Has the request been ended, whether blk-mq is through with it or not? */
bool is_over(const struct cmd *cmd);
void expect_over(struct cmd *cmd, blk_status_t status);
/* Back to blk-mq: as kdp_ctrl_stop_queues() does, if it has not ended by itself. */
void finish(struct cmd *cmd);

/* What the fake device was asked for. */
unsigned int nr_posted(const struct req_world *w, enum ib_wr_opcode opcode);
void forget_posts(struct req_world *w);

/* What happens on the wire. */
struct ib_cqe *send_cqe(const struct cmd *cmd);
void wr_completes(struct cmd *cmd, struct ib_cqe *cqe);
void wr_fails(struct cmd *cmd, struct ib_cqe *cqe, enum ib_wc_status status);

struct answer {
	u16	cid;
	u16	status;
	u64	result;
	u32	len;		/* 0: as it should be */
	bool	invalidates;
	u32	key;
};

void respond(struct req_world *w, struct answer a);
/* As it lies in a CQ. */
struct ib_wc answer_wc(struct req_world *w, struct answer a);
/* To the first @n commands, within one batch of completions. */
void respond_to_all(struct req_world *w, unsigned int n);
/* s: the SEND completes; r, R: the response comes, R invalidates; i: LOCAL_INV completes. */
void happens(struct cmd *cmd, char event);

/* What is static in request.c: its only copy is request_world.c's. */
void advance(struct cmd *cmd, int what);
/* So many SENDs without data and one of them is signalled. */
unsigned int send_interval(const struct req_world *w);
void drop_chain(struct req_world *w);
const struct kdp_conn_ops *queue_ops(void);
bool accepts(const struct cmd *cmd);
blk_status_t refused(const struct cmd *cmd);
bool may_retry(const struct cmd *cmd);
unsigned int awaited(const struct req_world *w);

#endif /* KDP_REQUEST_WORLD_H */
