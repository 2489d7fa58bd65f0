// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of request.c: what is posted for a request, and when it ends. */
#include "request_world.h"

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
		sqe = &w->queue->capsules[cmd->place];
		KUNIT_ASSERT_EQ(test, w->fake->nr_posts, 2);
		KUNIT_EXPECT_EQ(test, w->fake->doorbells, 1);
		KUNIT_EXPECT_EQ(test, posts[0].opcode, IB_WR_REG_MR);
		KUNIT_EXPECT_EQ(test, posts[0].send_flags, 0);
		KUNIT_EXPECT_EQ(test, posts[0].access,
				kind == READ_MR ? IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE :
					       IB_ACCESS_REMOTE_READ);
		KUNIT_EXPECT_EQ(test, posts[1].opcode, IB_WR_SEND);
		KUNIT_EXPECT_EQ(test, posts[1].send_flags, 0);
		KUNIT_EXPECT_EQ(test, posts[1].num_sge, 1);
		KUNIT_EXPECT_EQ(test, posts[1].addr,
				w->queue->capsules_dma + cmd->place * NVMF_SQE_SIZE);
		KUNIT_EXPECT_EQ(test, posts[0].key, w->queue->mrs->mr[cmd->rq->tag]->rkey);
		KUNIT_EXPECT_EQ(test, nvmf_sgl_keyed_rkey(&sqe->dptr), posts[0].key);
		KUNIT_EXPECT_EQ(test, nvmf_sgl_keyed_length(&sqe->dptr), TEST_DATA);
		KUNIT_EXPECT_EQ(test, sqe->dptr.keyed.type, NVMF_SGL_KEYED_INV);
		KUNIT_EXPECT_EQ(test, nvmf_cid_slot(cmd->cid), cmd->rq->tag);
		KUNIT_EXPECT_EQ(test, atomic_read(&cmd->req->progress),
				KDP_REQ_POSTED | KDP_REQ_SENT);
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
		KUNIT_EXPECT_EQ(test, w->fake->posts[0].send_flags,
				kind == IN_CAPSULE ? IB_SEND_SIGNALED : 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&cmd->req->progress),
				KDP_REQ_POSTED | KDP_REQ_INVALIDATED |
				(kind == IN_CAPSULE ? 0 : KDP_REQ_SENT));
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

#define P	KDP_REQ_POSTED
#define S	KDP_REQ_SENT
#define R	KDP_REQ_RESPONDED
#define I	KDP_REQ_INVALIDATED

static const u8 orders[][4] = {
	{ P, S, R, I }, { P, S, I, R }, { P, R, S, I }, { P, R, I, S }, { P, I, S, R }, { P, I, R, S },
	{ S, P, R, I }, { S, P, I, R }, { S, R, P, I }, { S, R, I, P }, { S, I, P, R }, { S, I, R, P },
	{ R, S, P, I }, { R, S, I, P }, { R, P, S, I }, { R, P, I, S }, { R, I, S, P }, { R, I, P, S },
	{ I, S, R, P }, { I, S, P, R }, { I, R, S, P }, { I, R, P, S }, { I, P, S, R }, { I, P, R, S },
};

#undef P
#undef S
#undef R
#undef I

static void describe_order(const u8 (*order)[4], char *text)
{
	static const char * const names[] = {
		[KDP_REQ_POSTED]	= "posted",
		[KDP_REQ_SENT]		= "sent",
		[KDP_REQ_RESPONDED]	= "responded",
		[KDP_REQ_INVALIDATED]	= "invalidated",
	};

	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s, %s", names[(*order)[0]],
		 names[(*order)[1]], names[(*order)[2]], names[(*order)[3]]);
}

KUNIT_ARRAY_PARAM(orders, orders, describe_order);

/*
 * All four, whatever the order; LOCAL_INV once, when posted and answered, if the
 * invalidation is missing then.
 */
static void ends_after_all_four(struct kunit *test)
{
	const int answered = KDP_REQ_POSTED | KDP_REQ_RESPONDED;
	const u8 (*order)[4] = test->param_value;
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);
	unsigned int local_invs = 0;
	int progress = 0;

	atomic_set(&cmd->req->progress, 0);
	for (unsigned int i = 0; i < 4; i++) {
		int before = progress;

		KUNIT_EXPECT_FALSE(test, is_over(cmd));
		if ((*order)[i] == KDP_REQ_RESPONDED)
			WRITE_ONCE(w->queue->inflight[cmd->rq->tag], NULL);
		progress |= (*order)[i];
		advance(cmd, (*order)[i]);
		if ((progress & answered) == answered && (before & answered) != answered &&
		    !(progress & KDP_REQ_INVALIDATED))
			local_invs++;
		KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), local_invs);
	}
	expect_over(cmd, BLK_STS_OK);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
}

struct life {
	enum kind	kind;
	const char	*events;	/* see happens() */
	const char	*name;
};

static const struct life lives[] = {
	{ NO_DATA, "r", "no data: response" },
	{ IN_CAPSULE, "sr", "data in the capsule: sent, response" },
	{ IN_CAPSULE, "rs", "data in the capsule: response, sent" },
	{ READ_MR, "R", "read: response that invalidates" },
	{ READ_MR, "sR", "read: sent, response that invalidates" },
	{ READ_MR, "ri", "read: response, LOCAL_INV" },
	{ WRITE_MR, "R", "write: response that invalidates" },
	{ WRITE_MR, "ri", "write: response, LOCAL_INV" },
	{ WRITE_MR, "sri", "write: sent, response, LOCAL_INV" },
};

static void describe_life(const struct life *life, char *text)
{
	strscpy(text, life->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(lives, lives, describe_life);

/* The same by way of the completions that a device gives. */
static void ends_with_the_last_completion(struct kunit *test)
{
	const struct life *life = test->param_value;
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, life->kind);
	unsigned int recvs = w->fake->recvs;
	bool answered = false;

	for (const char *event = life->events; *event; event++) {
		KUNIT_EXPECT_FALSE_MSG(test, is_over(cmd), "before %s", event);
		happens(cmd, *event);
		answered |= *event == 'r';
		KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV),
				answered && cmd->req->reg_wr.mr);
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

	respond(w, (struct answer) { .cid = cmd->cid, .status = NVMF_SC_LBA_RANGE });
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	happens(cmd, 'i');
	expect_over(cmd, BLK_STS_TARGET);
}

static struct kunit_case progress_cases[] = {
	KUNIT_CASE(command_with_mr_is_registered_then_sent),
	KUNIT_CASE(command_without_mr_is_only_sent),
	KUNIT_CASE(each_command_has_a_fresh_key),
	KUNIT_CASE_PARAM(ends_after_all_four, orders_gen_params),
	KUNIT_CASE_PARAM(ends_with_the_last_completion, lives_gen_params),
	KUNIT_CASE(local_inv_is_of_the_requests_key),
	KUNIT_CASE(answer_is_passed_on),
	KUNIT_CASE(failed_command_is_invalidated_too),
	{}
};

static struct kunit_suite progress_suite = {
	.name		= "kdp_request_progress",
	.init		= request_world_init,
	.exit		= request_world_exit,
	.test_cases	= progress_cases,
};

kunit_test_suite(progress_suite);
