// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of request.c, and of what it stands on: map.c, queue.c, status.c and
 * tagset.c, included below. Requests are blk-mq's, work requests go to a fake device,
 * and the test says what completes, in which order, and what the target answers.
 */
/* the tracepoint is kdp_host's */
#define NOTRACE

#include <kunit/test.h>
#include <linux/module.h>

#include "../core/fake_ib.h"
#include "host.h"

#include "status.c"
#include "tagset.c"
#include "queue.c"
#include "map.c"
#include "request.c"

#define TEST_DEPTH	4
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

static struct req_world *world_of(struct kdp_ctrl *ctrl)
{
	return container_of(ctrl, struct req_world, ctrl);
}

/* recover.c's: without the work that hangs up. */
void kdp_ctrl_fail(struct kdp_ctrl *ctrl, const char *why)
{
	struct req_world *w = world_of(ctrl);

	set_bit(KDP_CTRL_BROKEN, &ctrl->flags);
	WRITE_ONCE(ctrl->state, KDP_STATE_FAILED);
	if (!w->fails++)
		w->why = why;
}

/* ctrl.c's */
int kdp_ctrl_error(struct kdp_ctrl *ctrl, int error, const char *text)
{
	ctrl->error_text = text;
	return error;
}

/* --- the world ------------------------------------------------------------- */

static void make_whole(struct req_world *w)
{
	w->fails = 0;
	w->why = NULL;
	w->ctrl.flags = 0;
	w->ctrl.state = KDP_STATE_LIVE;
}

static int req_test_init(struct kunit *test)
{
	struct req_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct kdp_queue *queue;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->data = kunit_kmalloc(test, TEST_DATA, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->data);
	w->fake = kdp_fake_create(&w->dev);
	KUNIT_ASSERT_NOT_NULL(test, w->fake);
	w->test = test;
	test->priv = w;

	w->ctrl.dev.init_name = "kdp_test";
	spin_lock_init(&w->ctrl.state_lock);
	w->ctrl.queues = w->queues;
	w->ctrl.nr_io_queues = 1;
	w->ctrl.max_transfer = SZ_64K;
	w->ctrl.max_segments = 16;
	make_whole(w);

	queue = &w->queues[1];
	w->queue = queue;
	queue->ctrl = &w->ctrl;
	queue->qid = 1;
	queue->depth = TEST_DEPTH;
	queue->conn_depth = TEST_DEPTH;
	queue->inline_segments = KDP_INLINE_SEGMENTS;
	queue->conn.dev = &w->dev;
	queue->conn.qp = &w->qp;
	queue->conn.stats = alloc_percpu(struct kdp_conn_stats);
	KUNIT_ASSERT_TRUE(test, queue->conn.stats);
	w->qp.device = w->dev.ib;
	w->qp.qp_context = &queue->conn;
	KUNIT_ASSERT_EQ(test, kdp_queue_alloc(queue), 0);
	KUNIT_ASSERT_EQ(test, kdp_queue_post_receives(queue), 0);
	set_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags);
	KUNIT_ASSERT_EQ(test, kdp_io_set_create(&w->ctrl), 0);
	return 0;
}

static enum rq_end_io_ret cmd_ended(struct request *rq, blk_status_t status)
{
	struct cmd *cmd = rq->end_io_data;

	cmd->ends++;
	cmd->status = status;
	complete(&cmd->ended);
	return RQ_END_IO_NONE;
}

/* Has the request been ended, whether blk-mq is through with it or not? */
static bool is_over(const struct cmd *cmd)
{
	return blk_mq_request_completed(cmd->rq);
}

static unsigned int nr_posted(const struct req_world *w, enum ib_wr_opcode opcode)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->fake->nr_posts; i++)
		n += w->fake->posts[i].opcode == opcode;
	return n;
}

static void forget_posts(struct req_world *w)
{
	w->fake->nr_posts = 0;
	w->fake->doorbells = 0;
}

/* Into blk-mq and, if nothing prevents it, onto the wire. */
static struct cmd *submit_flags(struct req_world *w, unsigned int i, enum kind kind,
				blk_mq_req_flags_t flags)
{
	bool write = kind == IN_CAPSULE || kind == WRITE_MR;
	struct cmd *cmd = &w->cmds[i];
	struct request *rq;

	KUNIT_ASSERT_NULL(w->test, cmd->rq);
	rq = blk_mq_alloc_request(w->ctrl.connect_q, write ? REQ_OP_DRV_OUT : REQ_OP_DRV_IN,
				  flags | BLK_MQ_REQ_NOWAIT);
	KUNIT_ASSERT_FALSE(w->test, IS_ERR(rq));
	*cmd = (struct cmd) { .w = w, .rq = rq, .req = blk_mq_rq_to_pdu(rq) };
	init_completion(&cmd->ended);
	nvmf_sqe_init(&cmd->req->cmd, 0x5a, 1);
	cmd->req->internal = true;
	cmd->req->status = 0;
	cmd->req->result = 0;
	cmd->req->how = KDP_MAP_NONE;
	if (kind != NO_DATA)
		KUNIT_ASSERT_EQ(w->test, kdp_rq_map_kern(rq, w->data, TEST_DATA), 0);
	w->ctrl.inline_size = kind == IN_CAPSULE ? TEST_DATA : 0;
	rq->end_io = cmd_ended;
	rq->end_io_data = cmd;
	blk_execute_rq_nowait(rq, false);
	cmd->cid = nvmf_le16toh(w->queue->capsules[rq->tag].cid);
	cmd->key = cmd->req->reg_wr.key;
	return cmd;
}

static struct cmd *submit(struct req_world *w, unsigned int i, enum kind kind)
{
	struct cmd *cmd = submit_flags(w, i, kind, 0);

	KUNIT_ASSERT_TRUE(w->test, blk_mq_request_started(cmd->rq));
	KUNIT_ASSERT_FALSE(w->test, is_over(cmd));
	return cmd;
}

static void expect_over(struct cmd *cmd, blk_status_t status)
{
	struct kunit *test = cmd->w->test;

	KUNIT_ASSERT_TRUE(test, is_over(cmd));
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&cmd->ended, PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, cmd->ends, 1);
	KUNIT_EXPECT_EQ(test, (__force u8)cmd->status, (__force u8)status);
	KUNIT_EXPECT_EQ(test, cmd->req->how, KDP_MAP_NONE);
	KUNIT_EXPECT_NULL(test, cmd->w->queue->inflight[cmd->rq->tag]);
}

/* Back to blk-mq: as kdp_ctrl_stop_queues() does, if it has not ended by itself. */
static void finish(struct cmd *cmd)
{
	if (!cmd->rq)
		return;
	if (!cmd->ends && !is_over(cmd))
		kdp_cancel_request(cmd->rq, NULL);
	if (!cmd->ends)
		wait_for_completion_timeout(&cmd->ended, PATIENCE);
	blk_mq_free_request(cmd->rq);
	cmd->rq = NULL;
}

static void req_test_exit(struct kunit *test)
{
	struct req_world *w = test->priv;

	if (!w)
		return;
	for (unsigned int i = 0; i < TEST_CMDS; i++)
		finish(&w->cmds[i]);
	kdp_io_set_destroy(&w->ctrl);
	kdp_queue_free(w->queue);
	free_percpu(w->queue->conn.stats);
	KUNIT_EXPECT_EQ(test, w->fake->mrs, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->dev.dma_mappings), 0);
	kdp_fake_destroy(&w->dev);
}

/* --- what happens on the wire ------------------------------------------------ */

static void complete_wr(struct ib_wc *wc)
{
	local_bh_disable();
	wc->wr_cqe->done(NULL, wc);
	local_bh_enable();
}

static void wr_completes(struct cmd *cmd, struct ib_cqe *cqe)
{
	struct ib_wc wc = { .wr_cqe = cqe, .qp = &cmd->w->qp };

	complete_wr(&wc);
}

static void wr_fails(struct cmd *cmd, struct ib_cqe *cqe, enum ib_wc_status status)
{
	struct ib_wc wc = { .wr_cqe = cqe, .qp = &cmd->w->qp, .status = status };

	complete_wr(&wc);
}

struct answer {
	u16	cid;
	u16	status;
	u64	result;
	u32	len;		/* 0: as it should be */
	bool	invalidates;
	u32	key;
};

static void respond(struct req_world *w, struct answer a)
{
	struct kdp_rsp *rsp = &w->queue->rsps[0];
	struct ib_wc wc = {
		.wr_cqe			= &rsp->cqe,
		.qp			= &w->qp,
		.byte_len		= a.len ?: NVMF_CQE_SIZE,
		.wc_flags		= a.invalidates ? IB_WC_WITH_INVALIDATE : 0,
		.ex.invalidate_rkey	= a.key,
	};

	*rsp->capsule = (struct nvmf_cqe) {
		.result	= nvmf_htole64(a.result),
		.cid	= nvmf_htole16(a.cid),
		.status	= nvmf_htole16(a.status << 1),
	};
	complete_wr(&wc);
}

static void expect_protocol_error(struct req_world *w)
{
	KUNIT_EXPECT_EQ(w->test, w->fails, 1);
	KUNIT_EXPECT_STREQ(w->test, w->why ?: "nothing", "protocol error");
}

/* --- what is posted ---------------------------------------------------------- */

static void command_with_mr_is_registered_then_sent(struct kunit *test)
{
	struct req_world *w = test->priv;

	for (enum kind kind = READ_MR; kind <= WRITE_MR; kind++) {
		const struct kdp_fake_post *posts = w->fake->posts;
		const struct nvmf_sqe *sqe;
		struct cmd *cmd;

		forget_posts(w);
		cmd = submit(w, 0, kind);
		sqe = &w->queue->capsules[cmd->rq->tag];
		KUNIT_ASSERT_EQ(test, w->fake->nr_posts, 2);
		KUNIT_EXPECT_EQ(test, w->fake->doorbells, 1);
		KUNIT_EXPECT_EQ(test, posts[0].opcode, IB_WR_REG_MR);
		KUNIT_EXPECT_EQ(test, posts[0].send_flags, 0);
		KUNIT_EXPECT_EQ(test, posts[0].access,
				kind == READ_MR ? IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE :
					       IB_ACCESS_REMOTE_READ);
		KUNIT_EXPECT_EQ(test, posts[1].opcode, IB_WR_SEND);
		KUNIT_EXPECT_EQ(test, posts[1].send_flags, IB_SEND_SIGNALED);
		KUNIT_EXPECT_EQ(test, posts[1].num_sge, 1);
		KUNIT_EXPECT_EQ(test, posts[1].addr,
				w->queue->capsules_dma + cmd->rq->tag * NVMF_SQE_SIZE);
		KUNIT_EXPECT_EQ(test, posts[0].key, w->queue->mrs->mr[cmd->rq->tag]->rkey);
		KUNIT_EXPECT_EQ(test, nvmf_sgl_keyed_rkey(&sqe->dptr), posts[0].key);
		KUNIT_EXPECT_EQ(test, nvmf_sgl_keyed_length(&sqe->dptr), TEST_DATA);
		KUNIT_EXPECT_EQ(test, sqe->dptr.keyed.type, NVMF_SGL_KEYED_INV);
		KUNIT_EXPECT_EQ(test, nvmf_cid_slot(cmd->cid), cmd->rq->tag);
		KUNIT_EXPECT_EQ(test, cmd->req->progress, 0);
		finish(cmd);
	}
}

static void command_without_mr_is_only_sent(struct kunit *test)
{
	struct req_world *w = test->priv;

	for (enum kind kind = NO_DATA; kind <= IN_CAPSULE; kind++) {
		struct cmd *cmd;

		forget_posts(w);
		cmd = submit(w, 0, kind);
		KUNIT_ASSERT_EQ(test, w->fake->nr_posts, 1);
		KUNIT_EXPECT_EQ(test, w->fake->posts[0].opcode, IB_WR_SEND);
		KUNIT_EXPECT_EQ(test, w->fake->posts[0].num_sge, kind == IN_CAPSULE ? 2 : 1);
		KUNIT_EXPECT_EQ(test, cmd->req->progress, KDP_REQ_INVALIDATED);
		finish(cmd);
	}
}

/* A key that the peer has seen is not the slot's next one. */
static void each_command_has_a_fresh_key(struct kunit *test)
{
	struct req_world *w = test->priv;
	u32 last = 0;

	for (unsigned int i = 0; i < 10; i++) {
		struct cmd *cmd = submit_flags(w, 0, READ_MR, BLK_MQ_REQ_RESERVED);

		KUNIT_EXPECT_NE(test, cmd->key, last);
		last = cmd->key;
		finish(cmd);
	}
}

/* --- when a request ends ----------------------------------------------------- */

#define S	KDP_REQ_SENT
#define R	KDP_REQ_RESPONDED
#define I	KDP_REQ_INVALIDATED

static const u8 orders[][3] = {
	{ S, R, I }, { S, I, R }, { R, S, I }, { R, I, S }, { I, S, R }, { I, R, S },
};

#undef S
#undef R
#undef I

static void describe_order(const u8 (*order)[3], char *text)
{
	static const char * const names[] = {
		[KDP_REQ_SENT]		= "sent",
		[KDP_REQ_RESPONDED]	= "responded",
		[KDP_REQ_INVALIDATED]	= "invalidated",
	};

	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s", names[(*order)[0]],
		 names[(*order)[1]], names[(*order)[2]]);
}

KUNIT_ARRAY_PARAM(orders, orders, describe_order);

/* All three, whatever the order; LOCAL_INV when only the invalidation is missing. */
static void ends_after_all_three(struct kunit *test)
{
	const u8 (*order)[3] = test->param_value;
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);
	unsigned int local_invs = 0;
	u8 progress = 0;

	for (unsigned int i = 0; i < 3; i++) {
		KUNIT_EXPECT_FALSE(test, is_over(cmd));
		if ((*order)[i] == KDP_REQ_RESPONDED)
			WRITE_ONCE(w->queue->inflight[cmd->rq->tag], NULL);
		progress |= (*order)[i];
		local_bh_disable();
		kdp_req_advance(cmd->req, (*order)[i]);
		local_bh_enable();
		if (progress == (KDP_REQ_SENT | KDP_REQ_RESPONDED))
			local_invs++;
		KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), local_invs);
	}
	expect_over(cmd, BLK_STS_OK);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
}

/* s: the SEND completes; r, R: the response comes, R invalidates; i: LOCAL_INV completes. */
struct life {
	enum kind	kind;
	const char	*events;
	const char	*name;
};

static const struct life lives[] = {
	{ NO_DATA, "sr", "no data: sent, response" },
	{ NO_DATA, "rs", "no data: response, sent" },
	{ IN_CAPSULE, "sr", "data in the capsule: sent, response" },
	{ IN_CAPSULE, "rs", "data in the capsule: response, sent" },
	{ READ_MR, "sR", "read: sent, response that invalidates" },
	{ READ_MR, "Rs", "read: response that invalidates, sent" },
	{ READ_MR, "sri", "read: sent, response, LOCAL_INV" },
	{ READ_MR, "rsi", "read: response, sent, LOCAL_INV" },
	{ WRITE_MR, "sR", "write: sent, response that invalidates" },
	{ WRITE_MR, "Rs", "write: response that invalidates, sent" },
	{ WRITE_MR, "sri", "write: sent, response, LOCAL_INV" },
	{ WRITE_MR, "rsi", "write: response, sent, LOCAL_INV" },
};

static void describe_life(const struct life *life, char *text)
{
	strscpy(text, life->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(lives, lives, describe_life);

static void happens(struct cmd *cmd, char event)
{
	struct answer answer = { .cid = cmd->cid, .invalidates = event == 'R', .key = cmd->key };

	switch (event) {
	case 's':
		wr_completes(cmd, &cmd->req->send_cqe);
		break;
	case 'i':
		wr_completes(cmd, &cmd->req->inv_cqe);
		break;
	default:
		respond(cmd->w, answer);
		break;
	}
}

/* The same by way of the completions that a device gives. */
static void ends_with_the_last_completion(struct kunit *test)
{
	const struct life *life = test->param_value;
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, life->kind);
	unsigned int recvs = w->fake->recvs;
	bool sent = false, answered = false;

	for (const char *event = life->events; *event; event++) {
		KUNIT_EXPECT_FALSE_MSG(test, is_over(cmd), "before %s", event);
		happens(cmd, *event);
		sent |= *event == 's';
		answered |= *event == 'r';
		KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV),
				sent && answered && cmd->req->reg_wr.mr);
	}
	expect_over(cmd, BLK_STS_OK);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
	/* the receive went back */
	KUNIT_EXPECT_EQ(test, w->fake->recvs, recvs + 1);
}

static void local_inv_is_of_the_requests_key(struct kunit *test)
{
	struct req_world *w = test->priv;
	const struct kdp_fake_post *post = &w->fake->posts[2];
	struct cmd *cmd = submit(w, 0, READ_MR);

	happens(cmd, 's');
	happens(cmd, 'r');
	KUNIT_ASSERT_EQ(test, w->fake->nr_posts, 3);
	KUNIT_EXPECT_EQ(test, post->opcode, IB_WR_LOCAL_INV);
	KUNIT_EXPECT_EQ(test, post->key, cmd->key);
	KUNIT_EXPECT_EQ(test, post->send_flags, IB_SEND_SIGNALED);
	KUNIT_EXPECT_PTR_EQ(test, post->cqe, &cmd->req->inv_cqe);
}

static void answer_is_passed_on(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);
	const u16 status = NVMF_SC_READ_ERROR | NVMF_SC_DNR;

	happens(cmd, 's');
	respond(w, (struct answer) { .cid = cmd->cid, .status = status,
				     .result = 0x123456789abcdef0 });
	expect_over(cmd, BLK_STS_MEDIUM);
	KUNIT_EXPECT_EQ(test, cmd->req->status, status);
	KUNIT_EXPECT_EQ(test, cmd->req->result, 0x123456789abcdef0);
}

/* An error of the target's ends the peer's access as well as success does. */
static void failed_command_is_invalidated_too(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	happens(cmd, 's');
	respond(w, (struct answer) { .cid = cmd->cid, .status = NVMF_SC_LBA_RANGE });
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	happens(cmd, 'i');
	expect_over(cmd, BLK_STS_TARGET);
}

/* --- responses that must not be believed --------------------------------------- */

static void response_to_nobody_finds_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);
	u8 generation = nvmf_cid_generation(cmd->cid);
	u16 slot = nvmf_cid_slot(cmd->cid);
	static const u16 beyond[] = { TEST_DEPTH, TEST_DEPTH + 1, NVMF_CID_SLOTS - 1 };

	happens(cmd, 's');
	for (unsigned int i = 0; i < ARRAY_SIZE(beyond); i++) {
		make_whole(w);
		respond(w, (struct answer) { .cid = nvmf_cid(beyond[i], generation) });
		expect_protocol_error(w);
	}
	for (u16 other = 0; other < TEST_DEPTH; other++) {
		if (other == slot)
			continue;
		make_whole(w);
		respond(w, (struct answer) { .cid = nvmf_cid(other, generation) });
		expect_protocol_error(w);
	}
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	KUNIT_EXPECT_EQ(test, cmd->req->progress, KDP_REQ_SENT);
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 0);
}

/* The target may have taken fewer slots than there are. */
static void response_beyond_the_agreed_depth_finds_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

	w->queue->depth = nvmf_cid_slot(cmd->cid);
	respond(w, (struct answer) { .cid = cmd->cid });
	expect_protocol_error(w);
	KUNIT_EXPECT_EQ(test, cmd->req->progress, KDP_REQ_INVALIDATED);
	w->queue->depth = TEST_DEPTH;
}

/* One slot, used more often than there are generations: only the current one counts. */
static void generations_wrap_and_tell_stale_from_current(struct kunit *test)
{
	struct req_world *w = test->priv;
	u16 last = 0;

	for (unsigned int n = 0; n < 40; n++) {
		struct cmd *cmd = submit_flags(w, 0, NO_DATA, BLK_MQ_REQ_RESERVED);
		u8 generation = nvmf_cid_generation(cmd->cid);
		u16 slot = nvmf_cid_slot(cmd->cid);

		KUNIT_ASSERT_TRUE(test, blk_mq_request_started(cmd->rq));
		if (n) {
			KUNIT_ASSERT_EQ(test, slot, nvmf_cid_slot(last));
			KUNIT_ASSERT_EQ(test, generation, (nvmf_cid_generation(last) + 1) & 0xf);
		}
		last = cmd->cid;
		for (u8 other = 0; other < 16; other++) {
			if (other == generation)
				continue;
			make_whole(w);
			respond(w, (struct answer) { .cid = nvmf_cid(slot, other) });
			expect_protocol_error(w);
		}
		make_whole(w);
		happens(cmd, 's');
		KUNIT_ASSERT_FALSE(test, is_over(cmd));
		happens(cmd, 'r');
		expect_over(cmd, BLK_STS_OK);
		KUNIT_EXPECT_EQ(test, w->fails, 0);
		finish(cmd);
	}
}

static void duplicate_response_is_a_protocol_error(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	/* before the end */
	happens(cmd, 'r');
	happens(cmd, 'r');
	expect_protocol_error(w);
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 0);
	make_whole(w);
	happens(cmd, 's');
	happens(cmd, 'r');
	expect_protocol_error(w);
	/* one that would save us the LOCAL_INV which is on its way */
	make_whole(w);
	happens(cmd, 'R');
	expect_protocol_error(w);
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	happens(cmd, 'i');
	expect_over(cmd, BLK_STS_OK);
	/* and after it */
	make_whole(w);
	happens(cmd, 'r');
	expect_protocol_error(w);
	KUNIT_EXPECT_EQ(test, cmd->ends, 1);
}

static void foreign_key_is_a_protocol_error(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *one = submit(w, 0, READ_MR), *two = submit(w, 1, READ_MR);
	struct cmd *none = submit(w, 2, NO_DATA);
	const u32 keys[] = { two->key, one->key - 1, one->key + 1, 0, U32_MAX };

	KUNIT_ASSERT_NE(test, one->key, two->key);
	happens(one, 's');
	happens(none, 's');
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		make_whole(w);
		respond(w, (struct answer) { .cid = one->cid, .invalidates = true,
					     .key = keys[i] });
		expect_protocol_error(w);
	}
	/* there is no key at all, though the slot had one */
	none->req->reg_wr.key = one->key;
	make_whole(w);
	respond(w, (struct answer) { .cid = none->cid, .invalidates = true, .key = one->key });
	expect_protocol_error(w);

	KUNIT_EXPECT_FALSE(test, is_over(one) || is_over(two) || is_over(none));
	KUNIT_EXPECT_EQ(test, one->req->progress, KDP_REQ_SENT);
	KUNIT_EXPECT_EQ(test, two->req->progress, 0);
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 0);
}

static void short_response_is_a_protocol_error(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

	happens(cmd, 's');
	for (u32 len = 1; len < NVMF_CQE_SIZE; len++) {
		make_whole(w);
		respond(w, (struct answer) { .cid = cmd->cid, .len = len });
		expect_protocol_error(w);
		KUNIT_EXPECT_FALSE(test, is_over(cmd));
	}
}

/* --- what fails -------------------------------------------------------------- */

static void failed_local_inv_post_ends_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	happens(cmd, 's');
	w->fake->send_error = -ENOMEM;
	happens(cmd, 'r');
	KUNIT_EXPECT_EQ(test, w->fails, 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	/* the drain's turn */
	kdp_cancel_request(cmd->rq, NULL);
	expect_over(cmd, BLK_STS_TRANSPORT);
}

static void failed_command_post_ends_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd;

	w->fake->send_error = -ENOMEM;
	cmd = submit(w, 0, READ_MR);
	KUNIT_EXPECT_EQ(test, w->fails, 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	KUNIT_EXPECT_EQ(test, cmd->req->how, KDP_MAP_MR);
	kdp_cancel_request(cmd->rq, NULL);
	expect_over(cmd, BLK_STS_TRANSPORT);
	KUNIT_EXPECT_EQ(test, cmd->req->status, NVMF_SC_HOST_PATH_ERROR);
}

/* The controller fails, but the response that came is not thrown away. */
static void failed_receive_post_keeps_the_response(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

	happens(cmd, 's');
	w->fake->recv_error = -ENOMEM;
	happens(cmd, 'r');
	KUNIT_EXPECT_EQ(test, w->fails, 1);
	expect_over(cmd, BLK_STS_OK);
}

static void failed_mapping_posts_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd;

	w->fake->map_error = -EIO;
	cmd = submit_flags(w, 0, READ_MR, 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&cmd->ended, PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, (__force u8)cmd->status, (__force u8)BLK_STS_IOERR);
	KUNIT_EXPECT_EQ(test, w->fake->nr_posts, 0);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
	KUNIT_EXPECT_EQ(test, cmd->req->how, KDP_MAP_NONE);
	KUNIT_EXPECT_NULL(test, w->queue->inflight[nvmf_cid_slot(cmd->cid)]);
}

struct error_case {
	char			which;	/* s: SEND, g: REG_MR, i: LOCAL_INV, r: RECV */
	enum ib_wc_status	status;
	bool			established;
	const char		*name;
};

static const struct error_case error_cases[] = {
	{ 's', IB_WC_RETRY_EXC_ERR, true, "SEND, connected" },
	{ 's', IB_WC_WR_FLUSH_ERR, true, "SEND flushed, connected" },
	{ 's', IB_WC_RETRY_EXC_ERR, false, "SEND, disconnected" },
	{ 's', IB_WC_WR_FLUSH_ERR, false, "SEND flushed, disconnected" },
	{ 'g', IB_WC_MW_BIND_ERR, true, "REG_MR, connected" },
	{ 'g', IB_WC_WR_FLUSH_ERR, false, "REG_MR flushed, disconnected" },
	{ 'i', IB_WC_LOC_QP_OP_ERR, true, "LOCAL_INV, connected" },
	{ 'i', IB_WC_WR_FLUSH_ERR, false, "LOCAL_INV flushed, disconnected" },
	{ 'r', IB_WC_LOC_LEN_ERR, true, "RECV, connected" },
	{ 'r', IB_WC_WR_FLUSH_ERR, true, "RECV flushed, connected" },
	{ 'r', IB_WC_WR_FLUSH_ERR, false, "RECV flushed, disconnected" },
};

static void describe_error(const struct error_case *c, char *text)
{
	strscpy(text, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(errors, error_cases, describe_error);

/* The controller fails, once it is connected; the request is left to the drain. */
static void failed_work_request_ends_nothing(struct kunit *test)
{
	const struct error_case *c = test->param_value;
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);
	unsigned int recvs;
	u8 progress;

	if (c->which == 'i') {
		happens(cmd, 's');
		happens(cmd, 'r');
	}
	recvs = w->fake->recvs;
	progress = cmd->req->progress;
	if (!c->established)
		clear_bit(KDP_CONN_ESTABLISHED, &w->queue->conn.flags);
	switch (c->which) {
	case 's':
		wr_fails(cmd, &cmd->req->send_cqe, c->status);
		break;
	case 'g':
		wr_fails(cmd, &cmd->req->reg_cqe, c->status);
		break;
	case 'i':
		wr_fails(cmd, &cmd->req->inv_cqe, c->status);
		break;
	case 'r':
		wr_fails(cmd, &w->queue->rsps[0].cqe, c->status);
		break;
	}
	KUNIT_EXPECT_EQ(test, w->fails, c->established ? 1 : 0);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	KUNIT_EXPECT_EQ(test, cmd->req->progress, progress);
	KUNIT_EXPECT_EQ(test, w->fake->recvs, recvs);
	/* what comes later does not end it either, one step being missing for good */
	if (c->which == 's') {
		happens(cmd, 'R');
		KUNIT_EXPECT_FALSE(test, is_over(cmd));
	}
	kdp_cancel_request(cmd->rq, NULL);
	expect_over(cmd, BLK_STS_TRANSPORT);
	KUNIT_EXPECT_EQ(test, cmd->req->status, NVMF_SC_HOST_PATH_ERROR);
}

static void registration_that_succeeds_says_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	wr_completes(cmd, &cmd->req->reg_cqe);
	KUNIT_EXPECT_EQ(test, cmd->req->progress, 0);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
}

static void cancelling_leaves_what_is_over_alone(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

	happens(cmd, 's');
	happens(cmd, 'r');
	expect_over(cmd, BLK_STS_OK);
	KUNIT_EXPECT_TRUE(test, kdp_cancel_request(cmd->rq, NULL));
	KUNIT_EXPECT_EQ(test, cmd->ends, 1);
	KUNIT_EXPECT_EQ(test, cmd->req->status, 0);
}

static void timeout_fails_the_controller(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	KUNIT_EXPECT_EQ(test, kdp_timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_EQ(test, w->fails, 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	KUNIT_EXPECT_NULL(test, w->ctrl.error_text);
	/* while connecting it is the reason that the user is told */
	make_whole(w);
	w->ctrl.state = KDP_STATE_CONNECTING;
	KUNIT_EXPECT_EQ(test, kdp_timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_NOT_NULL(test, w->ctrl.error_text);
}

/* --- who may post -------------------------------------------------------------- */

static void expect_accepts(struct req_world *w, struct cmd *cmd, enum kdp_ctrl_state state,
			   const bool want[2])
{
	static const char * const who[] = { "a user's", "ours" };

	w->ctrl.state = state;
	for (int internal = 0; internal < 2; internal++) {
		cmd->req->internal = internal;
		KUNIT_EXPECT_EQ_MSG(w->test, kdp_queue_accepts(w->queue, cmd->rq), want[internal],
				    "state %d, queue %u, %s", state, w->queue->qid, who[internal]);
		if (want[0] && want[1]) {
			set_bit(KDP_CTRL_BROKEN, &w->ctrl.flags);
			KUNIT_EXPECT_FALSE(w->test, kdp_queue_accepts(w->queue, cmd->rq));
			clear_bit(KDP_CTRL_BROKEN, &w->ctrl.flags);
			clear_bit(KDP_CONN_ESTABLISHED, &w->queue->conn.flags);
			KUNIT_EXPECT_FALSE(w->test, kdp_queue_accepts(w->queue, cmd->rq));
			set_bit(KDP_CONN_ESTABLISHED, &w->queue->conn.flags);
		}
	}
}

static void commands_are_accepted_by_state(struct kunit *test)
{
	static const bool nobody[] = { false, false }, ours[] = { false, true };
	static const bool all[] = { true, true };
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);
	blk_opf_t op = cmd->rq->cmd_flags;

	for (u16 qid = 0; qid < 2; qid++) {
		w->queue->qid = qid;
		expect_accepts(w, cmd, KDP_STATE_NEW, nobody);
		expect_accepts(w, cmd, KDP_STATE_CONNECTING, ours);
		expect_accepts(w, cmd, KDP_STATE_LIVE, all);
		expect_accepts(w, cmd, KDP_STATE_DELETING, qid ? all : ours);
		expect_accepts(w, cmd, KDP_STATE_FAILED, nobody);
	}
	/* a block request is never ours, whatever the slot's last user left */
	cmd->rq->cmd_flags = REQ_OP_READ;
	expect_accepts(w, cmd, KDP_STATE_CONNECTING, nobody);
	expect_accepts(w, cmd, KDP_STATE_LIVE, all);
	cmd->rq->cmd_flags = op;
}

static void refused_command_never_was_on_the_wire(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd;

	set_bit(KDP_CTRL_BROKEN, &w->ctrl.flags);
	cmd = submit_flags(w, 0, READ_MR, 0);
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&cmd->ended, PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, (__force u8)cmd->status, (__force u8)BLK_STS_TRANSPORT);
	KUNIT_EXPECT_EQ(test, cmd->req->status, NVMF_SC_HOST_PATH_ERROR);
	KUNIT_EXPECT_EQ(test, w->fake->nr_posts, 0);
	KUNIT_EXPECT_EQ(test, cmd->req->how, KDP_MAP_NONE);
}

static struct kunit_case req_cases[] = {
	KUNIT_CASE(command_with_mr_is_registered_then_sent),
	KUNIT_CASE(command_without_mr_is_only_sent),
	KUNIT_CASE(each_command_has_a_fresh_key),
	KUNIT_CASE_PARAM(ends_after_all_three, orders_gen_params),
	KUNIT_CASE_PARAM(ends_with_the_last_completion, lives_gen_params),
	KUNIT_CASE(local_inv_is_of_the_requests_key),
	KUNIT_CASE(answer_is_passed_on),
	KUNIT_CASE(failed_command_is_invalidated_too),
	KUNIT_CASE(response_to_nobody_finds_nothing),
	KUNIT_CASE(response_beyond_the_agreed_depth_finds_nothing),
	KUNIT_CASE(generations_wrap_and_tell_stale_from_current),
	KUNIT_CASE(duplicate_response_is_a_protocol_error),
	KUNIT_CASE(foreign_key_is_a_protocol_error),
	KUNIT_CASE(short_response_is_a_protocol_error),
	KUNIT_CASE(failed_local_inv_post_ends_nothing),
	KUNIT_CASE(failed_command_post_ends_nothing),
	KUNIT_CASE(failed_receive_post_keeps_the_response),
	KUNIT_CASE(failed_mapping_posts_nothing),
	KUNIT_CASE_PARAM(failed_work_request_ends_nothing, errors_gen_params),
	KUNIT_CASE(registration_that_succeeds_says_nothing),
	KUNIT_CASE(cancelling_leaves_what_is_over_alone),
	KUNIT_CASE(timeout_fails_the_controller),
	KUNIT_CASE(commands_are_accepted_by_state),
	KUNIT_CASE(refused_command_never_was_on_the_wire),
	{}
};

static struct kunit_suite req_suite = {
	.name		= "kdp_request",
	.init		= req_test_init,
	.exit		= req_test_exit,
	.test_cases	= req_cases,
};

kunit_test_suite(req_suite);

MODULE_DESCRIPTION("kdp: unit tests of kdp_host");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
