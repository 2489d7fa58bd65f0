// SPDX-License-Identifier: GPL-2.0-only
/*
 * What request.c, and what it stands on, included below, are tested in (request_world.h):
 * counters.c, map.c, modes.c, queue.c, receive.c, send.c, sets.c, status.c and tagset.c.
 */
/* the tracepoint is kdp_host's */
#define NOTRACE

#include <linux/module.h>

#include "request_world.h"

/* --- what is tested ---------------------------------------------------------- */

#include "status.c"
#include "counters.c"
#include "sets.c"
#include "modes.c"
#include "tagset.c"
#include "queue.c"
#include "map.c"
#include "send.c"
#include "receive.c"
#include "request.c"

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

/* What else is static there, for other files. */

void advance(struct cmd *cmd, int what)
{
	local_bh_disable();
	kdp_req_advance(cmd->req, what, NULL);
	local_bh_enable();
}

const struct kdp_conn_ops *queue_ops(void)
{
	return &kdp_conn_ops;
}

void drop_chain(struct req_world *w)
{
	kdp_send_drop(w->queue);
}

unsigned int send_interval(const struct req_world *w)
{
	return w->queue->send_ring / 4;
}

bool accepts(const struct cmd *cmd)
{
	return kdp_queue_accepts(cmd->w->queue, cmd->rq);
}

blk_status_t refused(const struct cmd *cmd)
{
	return kdp_refuse(&cmd->w->ctrl, cmd->rq);
}

bool may_retry(const struct cmd *cmd)
{
	return kdp_may_retry(cmd->rq);
}

unsigned int awaited(const struct req_world *w)
{
	return kdp_queue_awaited(&w->queue->conn);
}

/* --- the world ------------------------------------------------------------- */

void make_whole(struct req_world *w)
{
	w->fails = 0;
	w->why = NULL;
	w->ctrl.flags = 0;
	w->ctrl.state = KDP_STATE_LIVE;
}

int request_world_init(struct kunit *test)
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
	mutex_init(&w->ctrl.ns_lock);
	w->ctrl.queues = w->queues;
	w->ctrl.nr_io_queues = 1;
	w->ctrl.sets.nr[HCTX_TYPE_DEFAULT] = 1;
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
	KUNIT_ASSERT_EQ(test, kdp_receive_start(queue), 0);
	forget_posts(w);
	set_bit(KDP_CONN_ESTABLISHED, &queue->conn.flags);
	KUNIT_ASSERT_EQ(test, kdp_io_set_create(&w->ctrl), 0);
	return 0;
}

static KDP_RQ_END_IO(cmd_ended, rq, status)
{
	struct cmd *cmd = rq->end_io_data;

	cmd->ends++;
	cmd->status = status;
	complete(&cmd->ended);
	return RQ_END_IO_NONE;
}

bool is_over(const struct cmd *cmd)
{
	return blk_mq_request_completed(cmd->rq);
}

unsigned int nr_posted(const struct req_world *w, enum ib_wr_opcode opcode)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->fake->nr_posts; i++)
		n += w->fake->posts[i].opcode == opcode;
	return n;
}

void forget_posts(struct req_world *w)
{
	w->fake->nr_posts = 0;
	w->fake->doorbells = 0;
}

static struct cmd *make_cmd(struct req_world *w, unsigned int i, enum kind kind,
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
	return cmd;
}

static void note_posted(struct cmd *cmd)
{
	const struct kdp_queue *queue = cmd->w->queue;

	cmd->place = (queue->send_head - 1) & (queue->send_ring - 1);
	cmd->cid = nvmf_le16toh(cmd->req->cmd.cid);
	cmd->key = cmd->req->reg_wr.key;
}

struct cmd *submit_flags(struct req_world *w, unsigned int i, enum kind kind,
			 blk_mq_req_flags_t flags)
{
	struct cmd *cmd = make_cmd(w, i, kind, flags);

	blk_execute_rq_nowait(cmd->rq, false);
	note_posted(cmd);
	return cmd;
}

blk_status_t queue_one(struct req_world *w, unsigned int i, enum kind kind, bool last)
{
	struct cmd *cmd = make_cmd(w, i, kind, 0);
	struct blk_mq_queue_data bd = { .rq = cmd->rq, .last = last };
	blk_status_t status = kdp_mq_ops.queue_rq(cmd->rq->mq_hctx, &bd);

	note_posted(cmd);
	return status;
}

void commit(struct req_world *w)
{
	kdp_mq_ops.commit_rqs(w->cmds[0].rq->mq_hctx);
}

void end_cmd(struct req_world *w, unsigned int i, char event)
{
	happens(&w->cmds[i], event);
	expect_over(&w->cmds[i], BLK_STS_OK);
	finish(&w->cmds[i]);
}

struct cmd *submit(struct req_world *w, unsigned int i, enum kind kind)
{
	struct cmd *cmd = submit_flags(w, i, kind, 0);

	KUNIT_ASSERT_TRUE(w->test, blk_mq_request_started(cmd->rq));
	KUNIT_ASSERT_FALSE(w->test, is_over(cmd));
	return cmd;
}

void expect_over(struct cmd *cmd, blk_status_t status)
{
	struct kunit *test = cmd->w->test;

	KUNIT_ASSERT_TRUE(test, is_over(cmd));
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&cmd->ended, PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, cmd->ends, 1);
	KUNIT_EXPECT_EQ(test, (__force u8)cmd->status, (__force u8)status);
	KUNIT_EXPECT_EQ(test, cmd->req->how, KDP_MAP_NONE);
	KUNIT_EXPECT_NULL(test, cmd->w->queue->inflight[cmd->rq->tag]);
}

void finish(struct cmd *cmd)
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

void request_world_exit(struct kunit *test)
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

/* A batch of completions. */
static void complete_wrs(struct ib_wc *wc, unsigned int n)
{
	local_bh_disable();
	for (unsigned int i = 0; i < n; i++)
		wc[i].wr_cqe->done(NULL, &wc[i]);
	kdp_queue_handled(wc->qp->qp_context);
	local_bh_enable();
}

void wr_completes(struct cmd *cmd, struct ib_cqe *cqe)
{
	struct ib_wc wc = { .wr_cqe = cqe, .qp = &cmd->w->qp };

	complete_wrs(&wc, 1);
}

void wr_fails(struct cmd *cmd, struct ib_cqe *cqe, enum ib_wc_status status)
{
	struct ib_wc wc = { .wr_cqe = cqe, .qp = &cmd->w->qp, .status = status };

	complete_wrs(&wc, 1);
}

static struct ib_wc answer_arrives(struct req_world *w, unsigned int i, struct answer a)
{
	struct kdp_rsp *rsp = &w->queue->rsps[i];

	*rsp->capsule = (struct nvmf_cqe) {
		.result	= nvmf_htole64(a.result),
		.cid	= nvmf_htole16(a.cid),
		.status	= nvmf_htole16(a.status << 1),
	};
	return (struct ib_wc) {
		.wr_cqe			= &rsp->cqe,
		.qp			= &w->qp,
		.byte_len		= a.len ?: NVMF_CQE_SIZE,
		.wc_flags		= a.invalidates ? IB_WC_WITH_INVALIDATE : 0,
		.ex.invalidate_rkey	= a.key,
	};
}

struct ib_wc answer_wc(struct req_world *w, struct answer a)
{
	return answer_arrives(w, 0, a);
}

void respond(struct req_world *w, struct answer a)
{
	struct ib_wc wc = answer_arrives(w, 0, a);

	complete_wrs(&wc, 1);
}

void respond_to_all(struct req_world *w, unsigned int n)
{
	struct ib_wc wc[TEST_CMDS];

	for (unsigned int i = 0; i < n; i++)
		wc[i] = answer_arrives(w, i, (struct answer) { .cid = w->cmds[i].cid });
	complete_wrs(wc, n);
}

struct ib_cqe *send_cqe(const struct cmd *cmd)
{
	return &cmd->w->queue->sends[cmd->place].cqe;
}

void happens(struct cmd *cmd, char event)
{
	struct answer answer = { .cid = cmd->cid, .invalidates = event == 'R', .key = cmd->key };

	switch (event) {
	case 's':
		wr_completes(cmd, send_cqe(cmd));
		break;
	case 'i':
		wr_completes(cmd, &cmd->req->inv_cqe);
		break;
	default:
		respond(cmd->w, answer);
		break;
	}
}

MODULE_DESCRIPTION("kdp: unit tests of kdp_host");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
