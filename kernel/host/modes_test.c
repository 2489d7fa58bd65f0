// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of modes.c: polled queues, and commands on them that are late. */
#include "request_world.h"

struct late_world {
	struct req_world	*w;
	struct kdp_fake_cq	*cq;
	struct ib_wc		wc;
};

static struct late_world late;

/* A CQ for w->queue, of which whoever waits takes completions. */
static void make_polled(struct req_world *w)
{
	const struct ib_cq_init_attr attr = { .cqe = KDP_FAKE_CQES };
	struct kdp_conn *conn = &w->queue->conn;
	struct ib_cq *cq;

	cq = ib_create_cq(w->dev.ib, NULL, NULL, conn, &attr);
	KUNIT_ASSERT_FALSE(w->test, IS_ERR(cq));
	late = (struct late_world) { .w = w, .cq = to_kdp_fake_cq(cq) };
	conn->ops = queue_ops();
	conn->cq.ib = cq;
	conn->cq.stats = conn->stats;
	KUNIT_ASSERT_EQ(w->test, kdp_conn_set_mode(conn, KDP_CQ_POLLED, 0), 0);
	w->cmds[0].rq->mq_hctx->type = HCTX_TYPE_POLL;
}

static void end_polled(struct req_world *w)
{
	struct kdp_conn *conn = &w->queue->conn;

	w->cmds[0].rq->mq_hctx->type = HCTX_TYPE_DEFAULT;
	kdp_conn_set_mode(conn, KDP_CQ_NONE, 0);
	ib_destroy_cq(conn->cq.ib);
	conn->cq.ib = NULL;
}

/* The answer comes, and waits in the CQ. */
static void answered(struct cmd *cmd)
{
	struct kdp_fake_cq *cq = late.cq;

	kdp_fake_complete(cq, &late.w->queue->rsps[0].cqe, false);
	cq->wc[(cq->head - 1) % KDP_FAKE_CQES] = answer_wc(cmd->w, (struct answer) {
		.cid = cmd->cid, .invalidates = true, .key = cmd->key });
}

static void polling_ends_the_command(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);
	struct blk_mq_hw_ctx *hctx = cmd->rq->mq_hctx;

	make_polled(w);
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.poll(hctx, NULL), 0);
	answered(cmd);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.poll(hctx, NULL), 1);
	expect_over(cmd, BLK_STS_OK);
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.poll(hctx, NULL), 0);
	KUNIT_EXPECT_EQ(test, late.cq->arms, 0);
	end_polled(w);
}

/* Nobody polled in time: the connection is not to blame. */
static void late_command_is_looked_for(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	make_polled(w);
	answered(cmd);
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_DONE);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
	expect_over(cmd, BLK_STS_OK);
	end_polled(w);
}

/* Only one polls at a time, and what came meanwhile is handled. */
static void at_first_poll(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if (at != KDP_FAKE_POLL_BEGIN)
		return;
	cq->at = NULL;
	KUNIT_EXPECT_EQ(late.w->test, kdp_mq_ops.poll(late.w->cmds[0].rq->mq_hctx, NULL), 0);
	answered(&late.w->cmds[0]);
}

static void answer_comes_while_polled_for(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	make_polled(w);
	late.cq->at = at_first_poll;
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_DONE);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
	expect_over(cmd, BLK_STS_OK);
	end_polled(w);
}

static void command_without_an_answer_times_out(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

	make_polled(w);
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_EQ(test, w->fails, 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	end_polled(w);
}

static void modes_of_queues(struct kunit *test)
{
	static const enum kdp_cq_mode modes[] = { KDP_CQ_THREAD, KDP_CQ_EVENT, KDP_CQ_CALLER };
	struct req_world *w = test->priv;

	w->ctrl.sets = (struct kdp_sets) { { 1, 1, 2 } };
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		w->ctrl.opts.cq_mode = modes[i];
		for (u16 qid = 0; qid <= 4; qid++)
			KUNIT_EXPECT_EQ_MSG(test, kdp_queue_mode(&w->ctrl, qid),
					    qid > 2 ? KDP_CQ_POLLED : modes[i], "queue %u", qid);
		KUNIT_EXPECT_EQ(test, kdp_mode_of_attr(kdp_mode_attr(modes[i])), modes[i]);
	}
	KUNIT_EXPECT_EQ(test, kdp_mode_attr(KDP_CQ_POLLED), KDP_MODE_CALLER);
	w->ctrl.sets = (struct kdp_sets) { { 1, 0, 0 } };
}

static struct kunit_case modes_cases[] = {
	KUNIT_CASE(polling_ends_the_command),
	KUNIT_CASE(late_command_is_looked_for),
	KUNIT_CASE(answer_comes_while_polled_for),
	KUNIT_CASE(command_without_an_answer_times_out),
	KUNIT_CASE(modes_of_queues),
	{}
};

static struct kunit_suite modes_suite = {
	.name		= "kdp_modes",
	.init		= request_world_init,
	.exit		= request_world_exit,
	.test_cases	= modes_cases,
};

kunit_test_suite(modes_suite);
