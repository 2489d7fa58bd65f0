// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of cq.c: draining a CQ, a CQ that fails. */
#include "poller_world.h"

/* One CQ cannot keep the thread from the others: a budget each turn. */
static void drain_has_a_budget(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_cq *cq;

	begin_model(w);
	cq = &w->conn[0].cq;
	for (unsigned int i = 0; i < 150; i++)
		kdp_fake_complete(w->cq[0], &w->cqe, false);
	kdp_fake_complete(w->cq[1], &w->cqe, false);
	KUNIT_EXPECT_EQ(test, poller_pass(w->poller), cq_budget() + 1);
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(cq, cq_budget()), cq_budget());
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(cq, cq_budget()), 150 - 2 * cq_budget());
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(cq, cq_budget()), 0);
	KUNIT_EXPECT_EQ(test, w->handled, 151);
	KUNIT_EXPECT_TRUE(test, w->handled_in_bh);
	/* 9 full ones and the rest; the other CQ's */
	KUNIT_EXPECT_EQ(test, w->batches, DIV_ROUND_UP(150, KDP_CQ_BATCH) + 1);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_CQES), 150);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_POLLS_FULL), 3);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_POLLS_EMPTY), 1);
}

static void drain_takes_an_error_for_nothing_found(struct kunit *test)
{
	struct poller_world *w = test->priv;

	begin_model(w);
	w->cq[0]->poll_error = -EIO;
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(&w->conn[0].cq, cq_budget()), 0);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_CQES), 0);
}

static void cq_error_breaks_the_connection(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct ib_event event = { .event = IB_EVENT_CQ_ERR };

	begin_model(w);
	w->cq[0]->ib.event_handler(&event, w->cq[0]->ib.cq_context);
	KUNIT_EXPECT_STREQ(test, w->broken, ib_event_msg(IB_EVENT_CQ_ERR));
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(drain_has_a_budget),
	KUNIT_CASE(drain_takes_an_error_for_nothing_found),
	KUNIT_CASE(cq_error_breaks_the_connection),
	{}
};

static struct kunit_suite cq_suite = {
	.name		= "kdp_cq",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= cq_cases,
};

kunit_test_suite(cq_suite);
