// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of request.c: requests that get no answer, because work requests fail, time
 * runs out or nothing may be posted.
 */
#include "request_world.h"

/* --- what fails -------------------------------------------------------------- */

static void failed_local_inv_post_ends_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, READ_MR);

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
	struct cmd *cmd = submit(w, 0, c->which == 's' ? IN_CAPSULE : READ_MR);
	unsigned int recvs;
	int progress;

	if (c->which == 'i')
		happens(cmd, 'r');
	recvs = w->fake->recvs;
	progress = atomic_read(&cmd->req->progress);
	if (!c->established)
		clear_bit(KDP_CONN_ESTABLISHED, &w->queue->conn.flags);
	switch (c->which) {
	case 's':
		wr_fails(cmd, send_cqe(cmd), c->status);
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
	KUNIT_EXPECT_EQ(test, atomic_read(&cmd->req->progress), progress);
	KUNIT_EXPECT_EQ(test, w->fake->recvs, recvs);
	/* what comes later does not end it either, one step being missing for good */
	if (c->which == 's') {
		happens(cmd, 'r');
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
	KUNIT_EXPECT_EQ(test, atomic_read(&cmd->req->progress), KDP_REQ_POSTED | KDP_REQ_SENT);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
}

static void cancelling_leaves_what_is_over_alone(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

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

	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_EQ(test, w->fails, 1);
	KUNIT_EXPECT_FALSE(test, is_over(cmd));
	KUNIT_EXPECT_NULL(test, w->ctrl.error_text);
	/* while connecting it is the reason that the user is told */
	make_whole(w);
	w->ctrl.state = KDP_STATE_CONNECTING;
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_NOT_NULL(test, w->ctrl.error_text);
}

/* The controller answers an event request when there is an event. */
static void event_request_has_no_timeout(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);

	cmd->req->cmd.opcode = NVMF_ADM_ASYNC_EVENT;
	w->queue->qid = 0;
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
	/* the same opcode on an I/O queue is another command */
	w->queue->qid = 1;
	KUNIT_EXPECT_EQ(test, kdp_mq_ops.timeout(cmd->rq), BLK_EH_RESET_TIMER);
	KUNIT_EXPECT_EQ(test, w->fails, 1);
}

/* Nor does anybody wait for its answer; the count is a hint, and never wraps. */
static void parked_commands_are_not_awaited(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *parked;

	w->queue->parked = 1;	/* just before it is posted */
	KUNIT_EXPECT_EQ(test, awaited(w), 0);
	parked = submit(w, 0, NO_DATA);
	KUNIT_EXPECT_EQ(test, awaited(w), 0);
	submit(w, 1, NO_DATA);
	submit(w, 2, NO_DATA);
	KUNIT_EXPECT_EQ(test, awaited(w), 2);
	end_cmd(w, 1, 'r');
	KUNIT_EXPECT_EQ(test, awaited(w), 1);
	happens(parked, 'r');
	KUNIT_EXPECT_EQ(test, awaited(w), 0);
	w->queue->parked = 0;
	KUNIT_EXPECT_EQ(test, awaited(w), 1);
}

/* --- who may post -------------------------------------------------------------- */

static void expect_accepts(struct req_world *w, struct cmd *cmd, enum kdp_ctrl_state state,
			   const bool want[2])
{
	static const char * const who[] = { "a user's", "ours" };

	w->ctrl.state = state;
	for (int internal = 0; internal < 2; internal++) {
		cmd->req->internal = internal;
		KUNIT_EXPECT_EQ_MSG(w->test, accepts(cmd), want[internal],
				    "state %d, queue %u, %s", state, w->queue->qid, who[internal]);
		if (want[0] && want[1]) {
			set_bit(KDP_CTRL_BROKEN, &w->ctrl.flags);
			KUNIT_EXPECT_FALSE(w->test, accepts(cmd));
			clear_bit(KDP_CTRL_BROKEN, &w->ctrl.flags);
			clear_bit(KDP_CONN_ESTABLISHED, &w->queue->conn.flags);
			KUNIT_EXPECT_FALSE(w->test, accepts(cmd));
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
		expect_accepts(w, cmd, KDP_STATE_RESETTING, nobody);
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

/* Where there is no connection: block I/O waits as long as one may come, commands do not. */
static void refused_io_waits_or_fails_by_state(struct kunit *test)
{
	static const struct {
		enum kdp_ctrl_state	state;
		bool			fail_fast;
		bool			waits;
	} cases[] = {
		{ KDP_STATE_LIVE, false, true },	/* it has just broken */
		{ KDP_STATE_RESETTING, false, true },
		{ KDP_STATE_CONNECTING, false, true },
		{ KDP_STATE_RESETTING, true, false },
		{ KDP_STATE_CONNECTING, true, false },
		{ KDP_STATE_FAILED, false, false },
		{ KDP_STATE_DELETING, false, false },
	};
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);
	blk_opf_t op = cmd->rq->cmd_flags;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		blk_status_t want = BLK_STS_TRANSPORT;

		if (cases[i].waits)
			want = BLK_STS_RESOURCE;
		w->ctrl.state = cases[i].state;
		w->ctrl.flags = cases[i].fail_fast * BIT(KDP_CTRL_FAIL_FAST);
		cmd->req->status = 0;
		cmd->rq->cmd_flags = REQ_OP_READ;
		KUNIT_EXPECT_EQ(test, (__force u8)refused(cmd), (__force u8)want);
		cmd->req->unanswered = true;
		KUNIT_EXPECT_EQ(test, may_retry(cmd), cases[i].waits);
		cmd->rq->cmd_flags = REQ_OP_READ | REQ_FAILFAST_TRANSPORT;
		KUNIT_EXPECT_EQ(test, (__force u8)refused(cmd), (__force u8)BLK_STS_TRANSPORT);
		KUNIT_EXPECT_FALSE(test, may_retry(cmd));
		cmd->rq->cmd_flags = op;
		KUNIT_EXPECT_EQ(test, (__force u8)refused(cmd), (__force u8)BLK_STS_TRANSPORT);
		KUNIT_EXPECT_EQ(test, cmd->req->status, NVMF_SC_HOST_PATH_ERROR);
		KUNIT_EXPECT_FALSE(test, may_retry(cmd));
	}
	make_whole(w);
}

/* The target answered: it says itself whether another time might do. */
static void answered_io_is_repeated_by_status(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct cmd *cmd = submit(w, 0, NO_DATA);
	blk_opf_t op = cmd->rq->cmd_flags;
	unsigned int tries = 0;

	cmd->rq->cmd_flags = REQ_OP_READ;
	cmd->req->unanswered = false;
	cmd->req->status = NVMF_SC_READ_ERROR | NVMF_SC_DNR;
	KUNIT_EXPECT_FALSE(test, may_retry(cmd));
	cmd->req->status = NVMF_SC_READ_ERROR;
	while (may_retry(cmd) && tries < 100) {
		cmd->req->retries++;
		tries++;
	}
	KUNIT_EXPECT_GT(test, tries, 0);
	KUNIT_EXPECT_LT(test, tries, 10);
	cmd->req->retries = 0;
	cmd->rq->cmd_flags = op;
	KUNIT_EXPECT_FALSE(test, may_retry(cmd));
}

/* It may be another one by now, at which nothing of ours may arrive. */
static void dead_namespace_gets_nothing(struct kunit *test)
{
	struct req_world *w = test->priv;
	struct kdp_ns *ns = kunit_kzalloc(test, sizeof(*ns), GFP_KERNEL);
	struct cmd *cmd;

	KUNIT_ASSERT_NOT_NULL(test, ns);
	ns->dead = true;
	w->ctrl.connect_q->queuedata = ns;
	cmd = submit_flags(w, 0, WRITE_MR, 0);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&cmd->ended, PATIENCE), 0);
	w->ctrl.connect_q->queuedata = NULL;
	KUNIT_EXPECT_EQ(test, (__force u8)cmd->status, (__force u8)BLK_STS_IOERR);
	KUNIT_EXPECT_EQ(test, w->fake->nr_posts, 0);
	KUNIT_EXPECT_EQ(test, w->fails, 0);
}

static struct kunit_case failure_cases[] = {
	KUNIT_CASE(failed_local_inv_post_ends_nothing),
	KUNIT_CASE(failed_command_post_ends_nothing),
	KUNIT_CASE(failed_receive_post_keeps_the_response),
	KUNIT_CASE(failed_mapping_posts_nothing),
	KUNIT_CASE_PARAM(failed_work_request_ends_nothing, errors_gen_params),
	KUNIT_CASE(registration_that_succeeds_says_nothing),
	KUNIT_CASE(cancelling_leaves_what_is_over_alone),
	KUNIT_CASE(timeout_fails_the_controller),
	KUNIT_CASE(event_request_has_no_timeout),
	KUNIT_CASE(parked_commands_are_not_awaited),
	KUNIT_CASE(commands_are_accepted_by_state),
	KUNIT_CASE(refused_command_never_was_on_the_wire),
	KUNIT_CASE(refused_io_waits_or_fails_by_state),
	KUNIT_CASE(answered_io_is_repeated_by_status),
	KUNIT_CASE(dead_namespace_gets_nothing),
	{}
};

static struct kunit_suite failure_suite = {
	.name		= "kdp_request_failure",
	.init		= request_world_init,
	.exit		= request_world_exit,
	.test_cases	= failure_cases,
};

kunit_test_suite(failure_suite);
