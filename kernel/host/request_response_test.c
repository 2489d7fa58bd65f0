// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of request.c: responses that must not be believed. */
#include "request_world.h"

static void expect_protocol_error(struct req_world *w)
{
	KUNIT_EXPECT_EQ(w->test, w->fails, 1);
	KUNIT_EXPECT_STREQ(w->test, w->why ?: "nothing", "protocol error");
}

static void response_to_nobody_finds_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);
	u8 generation = nvmf_cid_generation(cmd->cid);
	u16 slot = nvmf_cid_slot(cmd->cid);
	static const u16 beyond[] = { TEST_DEPTH, TEST_DEPTH + 1, NVMF_CID_SLOTS - 1 };

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
	KUNIT_EXPECT_EQ(test, atomic_read(&cmd->req->progress), KDP_REQ_POSTED | KDP_REQ_SENT);
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
	KUNIT_EXPECT_EQ(test, atomic_read(&cmd->req->progress),
			KDP_REQ_POSTED | KDP_REQ_SENT | KDP_REQ_INVALIDATED);
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
	KUNIT_EXPECT_EQ(test, atomic_read(&one->req->progress), KDP_REQ_POSTED | KDP_REQ_SENT);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->req->progress), KDP_REQ_POSTED | KDP_REQ_SENT);
	KUNIT_EXPECT_EQ(test, nr_posted(w, IB_WR_LOCAL_INV), 0);
}

static void short_response_is_a_protocol_error(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

	for (u32 len = 1; len < NVMF_CQE_SIZE; len++) {
		make_whole(w);
		respond(w, (struct answer) { .cid = cmd->cid, .len = len });
		expect_protocol_error(w);
		KUNIT_EXPECT_FALSE(test, is_over(cmd));
	}
}

static struct kunit_case response_cases[] = {
	KUNIT_CASE(response_to_nobody_finds_nothing),
	KUNIT_CASE(response_beyond_the_agreed_depth_finds_nothing),
	KUNIT_CASE(generations_wrap_and_tell_stale_from_current),
	KUNIT_CASE(duplicate_response_is_a_protocol_error),
	KUNIT_CASE(foreign_key_is_a_protocol_error),
	KUNIT_CASE(short_response_is_a_protocol_error),
	{}
};

static struct kunit_suite response_suite = {
	.name		= "kdp_request_response",
	.init		= request_world_init,
	.exit		= request_world_exit,
	.test_cases	= response_cases,
};

kunit_test_suite(response_suite);
