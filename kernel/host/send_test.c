// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of send.c: doorbells, signalled SENDs, the ring. */
#include "request_world.h"

static unsigned int nr_signalled(const struct req_world *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->fake->nr_posts; i++)
		n += w->fake->posts[i].opcode == IB_WR_SEND &&
		     w->fake->posts[i].send_flags & IB_SEND_SIGNALED;
	return n;
}

static void batch_has_one_doorbell(struct kunit *test)
{
	struct req_world *w = test->priv;

	for (unsigned int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, (__force u8)queue_one(w, i, READ_MR, i == 2), 0);
	KUNIT_EXPECT_EQ(test, w->fake->doorbells, 1);
	KUNIT_ASSERT_EQ(test, w->fake->nr_posts, 6);
	for (unsigned int i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, w->fake->posts[i].opcode, i % 2 ? IB_WR_SEND : IB_WR_REG_MR);
	/* each in a place of its own, in the order of the ring */
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, w->fake->posts[2 * i + 1].addr,
				w->queue->capsules_dma + i * NVMF_SQE_SIZE);
}

/* blk-mq had more in mind, but no tag or memory for it. */
static void commit_posts_what_is_chained(struct kunit *test)
{
	struct req_world *w = test->priv;

	queue_one(w, 0, READ_MR, false);
	queue_one(w, 1, NO_DATA, false);
	KUNIT_EXPECT_EQ(test, w->fake->doorbells, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->cmds[0].req->progress), KDP_REQ_SENT);
	commit(w);
	KUNIT_EXPECT_EQ(test, w->fake->doorbells, 1);
	KUNIT_EXPECT_EQ(test, w->fake->nr_posts, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->cmds[0].req->progress),
			KDP_REQ_SENT | KDP_REQ_POSTED);
	/* nothing is left */
	commit(w);
	KUNIT_EXPECT_EQ(test, w->fake->doorbells, 1);
}

/* A target that answers what it cannot have seen yet: its memory stays until it is posted. */
static void answer_before_posting_ends_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;

	queue_one(w, 0, READ_MR, false);
	happens(&w->cmds[0], 'R');
	KUNIT_EXPECT_FALSE(test, is_over(&w->cmds[0]));
	commit(w);
	expect_over(&w->cmds[0], BLK_STS_OK);
}

/* The last of a chain is signalled for data in any capsule of it, and stands for all. */
static void data_in_the_capsule_wait_for_a_later_send(struct kunit *test)
{
	struct req_world *w = test->priv;

	queue_one(w, 0, IN_CAPSULE, false);
	queue_one(w, 1, IN_CAPSULE, false);
	queue_one(w, 2, NO_DATA, true);
	KUNIT_EXPECT_EQ(test, nr_signalled(w), 1);
	KUNIT_EXPECT_EQ(test, w->fake->posts[2].send_flags, IB_SEND_SIGNALED);
	happens(&w->cmds[1], 'r');
	happens(&w->cmds[0], 'r');
	KUNIT_EXPECT_FALSE(test, is_over(&w->cmds[0]) || is_over(&w->cmds[1]));
	happens(&w->cmds[2], 's');
	expect_over(&w->cmds[0], BLK_STS_OK);
	expect_over(&w->cmds[1], BLK_STS_OK);
	KUNIT_EXPECT_FALSE(test, is_over(&w->cmds[2]));
	happens(&w->cmds[2], 'r');
	expect_over(&w->cmds[2], BLK_STS_OK);
}

/* Without data in capsules: one in a quarter of the ring. */
static void few_sends_are_signalled(struct kunit *test)
{
	struct req_world *w = test->priv;
	const unsigned int interval = send_interval(w);

	KUNIT_ASSERT_GT(test, interval, 1);
	for (unsigned int i = 1; i <= 4 * interval; i++) {
		forget_posts(w);
		queue_one(w, 0, NO_DATA, true);
		KUNIT_EXPECT_EQ_MSG(test, nr_signalled(w), i % interval == 0, "SEND %u", i);
		if (i % interval == 0)
			happens(&w->cmds[0], 's');
		end_cmd(w, 0, 'r');
	}
	KUNIT_EXPECT_EQ(test, w->queue->send_tail, w->queue->send_head);
}

/* The HCA has not told that it is through with any capsule: none is written over. */
static void full_ring_takes_no_more(struct kunit *test)
{
	struct req_world *w = test->priv;
	unsigned int ring = w->queue->send_ring, signalled = 0;
	int mappings = atomic_read(&w->dev.dma_mappings);
	struct cmd *cmd = &w->cmds[0];

	for (unsigned int i = 0; i < ring; i++) {
		forget_posts(w);
		KUNIT_ASSERT_EQ(test, (__force u8)queue_one(w, 0, NO_DATA, true), 0);
		if (nr_signalled(w))
			signalled = cmd->place;
		end_cmd(w, 0, 'r');
	}
	forget_posts(w);
	KUNIT_EXPECT_EQ(test, (__force u8)queue_one(w, 0, READ_MR, true),
			(__force u8)BLK_STS_RESOURCE);
	KUNIT_EXPECT_EQ(test, w->fake->nr_posts, 0);
	KUNIT_EXPECT_FALSE(test, blk_mq_request_started(cmd->rq));
	KUNIT_EXPECT_EQ(test, cmd->req->how, KDP_MAP_NONE);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->dev.dma_mappings), mappings);
	blk_mq_end_request(cmd->rq, BLK_STS_RESOURCE);
	finish(cmd);

	/* one completion, and all that it stands for are free */
	cmd->place = signalled;
	happens(cmd, 's');
	KUNIT_EXPECT_EQ(test, (__force u8)queue_one(w, 0, NO_DATA, true), 0);
	end_cmd(w, 0, 'r');
}

/* Work requests that were never posted do not come out of a stopped queue. */
static void stopped_queue_forgets_its_chain(struct kunit *test)
{
	struct req_world *w = test->priv;

	queue_one(w, 0, READ_MR, false);
	drop_chain(w);
	commit(w);
	KUNIT_EXPECT_EQ(test, w->fake->doorbells, 0);
	kdp_cancel_request(w->cmds[0].rq, NULL);
	expect_over(&w->cmds[0], BLK_STS_TRANSPORT);
}

/* Receives come back together, with one doorbell. */
static void receives_are_posted_in_batches(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct kdp_queue *queue = w->queue;
	unsigned int recvs = w->fake->recvs, doorbells;

	KUNIT_EXPECT_EQ(test, recvs, TEST_DEPTH + KDP_CQ_BATCH);
	for (unsigned int i = 0; i < 3; i++)
		queue_one(w, i, NO_DATA, true);
	doorbells = w->fake->doorbells;
	respond_to_all(w, 3);
	KUNIT_EXPECT_EQ(test, w->fake->recvs, recvs + 3);
	KUNIT_EXPECT_EQ(test, w->fake->doorbells, doorbells + 1);
	KUNIT_EXPECT_NULL(test, queue->repost);
	for (unsigned int i = 0; i < 3; i++)
		expect_over(&w->cmds[i], BLK_STS_OK);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(batch_has_one_doorbell),
	KUNIT_CASE(commit_posts_what_is_chained),
	KUNIT_CASE(answer_before_posting_ends_nothing),
	KUNIT_CASE(data_in_the_capsule_wait_for_a_later_send),
	KUNIT_CASE(few_sends_are_signalled),
	KUNIT_CASE(full_ring_takes_no_more),
	KUNIT_CASE(stopped_queue_forgets_its_chain),
	KUNIT_CASE(receives_are_posted_in_batches),
	{}
};

static struct kunit_suite send_suite = {
	.name		= "kdp_send",
	.init		= request_world_init,
	.exit		= request_world_exit,
	.test_cases	= send_cases,
};

kunit_test_suite(send_suite);
