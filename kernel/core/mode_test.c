// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of mode.c: a mode changes while work requests complete, at any step; and of
 * what cannot change.
 */
#include "poller_world.h"

static const enum kdp_cq_mode modes[] = {
	KDP_CQ_THREAD, KDP_CQ_EVENT, KDP_CQ_CALLER, KDP_CQ_POLLED,
};

static const char * const mode_names[] = {
	[KDP_CQ_THREAD]	= "thread",
	[KDP_CQ_EVENT]	= "event",
	[KDP_CQ_CALLER]	= "caller",
	[KDP_CQ_POLLED]	= "polled",
};

struct change {
	enum kdp_cq_mode	from;
	enum kdp_cq_mode	to;
};

#define CHANGE(a, b)	{ KDP_CQ_##a, KDP_CQ_##b }

static const struct change changes[] = {
	CHANGE(THREAD, EVENT), CHANGE(THREAD, CALLER), CHANGE(THREAD, POLLED),
	CHANGE(EVENT, THREAD), CHANGE(EVENT, CALLER), CHANGE(EVENT, POLLED),
	CHANGE(CALLER, THREAD), CHANGE(CALLER, EVENT), CHANGE(CALLER, POLLED),
	CHANGE(POLLED, THREAD), CHANGE(POLLED, EVENT), CHANGE(POLLED, CALLER),
};

static void describe_change(const struct change *c, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%s to %s", mode_names[c->from], mode_names[c->to]);
}

KUNIT_ARRAY_PARAM(changes, changes, describe_change);

static void at_arming(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if (at == KDP_FAKE_ARM_BEGIN)
		mode_at(MODE_NEW);
	else if (at == KDP_FAKE_ARM_END)
		mode_at(MODE_ARMED);
}

static void open_for_changes(struct poller_world *w, enum kdp_cq_mode mode)
{
	open_cq_in(w, 0, mode, 0);
	w->cq[0]->at = at_arming;
	w->target = w->cq[0];
}

/* As it is when nothing has happened for a while. */
static void rest_in(struct poller_world *w, enum kdp_cq_mode mode)
{
	struct kdp_cq *cq = &w->conn[0].cq;

	KUNIT_ASSERT_EQ(w->test, kdp_conn_set_mode(&w->conn[0], mode, 0), 0);
	if (mode == KDP_CQ_THREAD)
		KUNIT_ASSERT_TRUE(w->test, comes_to_rest(poller_task(cq->poller)));
	w->handled = 0;
	w->completed = false;
	w->delivered = false;
	w->steps = 0;
	w->between = KDP_CQ_THREAD;
	reinit_completion(&w->handled_one);
}

static void expect_handled_once(struct poller_world *w, const char *what)
{
	struct kunit *test = w->test;

	if (w->conn[0].cq.mode == KDP_CQ_POLLED)
		kdp_conn_poll(&w->conn[0]);
	KUNIT_ASSERT_TRUE_MSG(test, comes(&w->handled_one), "%s: lost", what);
	KUNIT_EXPECT_EQ_MSG(test, w->handled, 1, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, kdp_fake_backlog(w->cq[0]), 0, "%s", what);
}

/* A work request completes at each step, its event comes at this or a later one. */
static void change_loses_no_completion(struct kunit *test)
{
	const struct change *c = test->param_value;
	struct poller_world *w = test->priv;
	char what[64];

	open_for_changes(w, c->from);
	for (enum mode_step at = MODE_BEFORE; at < MODE_STEPS; at++) {
		for (enum mode_step later = at; later < MODE_STEPS; later++) {
			snprintf(what, sizeof(what), "%s to %s: completes at %u, event at %u",
				 mode_names[c->from], mode_names[c->to], at, later);
			rest_in(w, c->from);
			w->completes_at = at;
			w->delivers_at = later;
			WRITE_ONCE(w->changer, current);
			mode_at(MODE_BEFORE);
			KUNIT_ASSERT_EQ(test, kdp_conn_set_mode(&w->conn[0], c->to, 0), 0);
			mode_at(MODE_AFTER);
			WRITE_ONCE(w->changer, NULL);
			expect_handled_once(w, what);
			/* who acts upon the old mode is waited for, and nobody new does */
			KUNIT_EXPECT_TRUE_MSG(test, w->steps & BIT(MODE_WAITED), "%s", what);
			KUNIT_EXPECT_EQ_MSG(test, w->between, KDP_CQ_NONE, "%s", what);
		}
	}
}

/* And whatever the change was, the new mode works on. */
static void mode_works_after_a_change(struct kunit *test)
{
	const struct change *c = test->param_value;
	struct poller_world *w = test->priv;

	open_for_changes(w, c->from);
	for (unsigned int i = 0; i < 3; i++) {
		rest_in(w, i % 2 ? c->from : c->to);
		for (unsigned int n = 0; n < 3; n++) {
			w->handled = 0;
			kdp_fake_complete(w->cq[0], &w->cqe, false);
			expect_handled_once(w, mode_names[w->conn[0].cq.mode]);
		}
	}
}

/* Only a thread, and nobody, arms nothing: its events would be in vain. */
static void polled_cq_is_never_armed(struct kunit *test)
{
	struct poller_world *w = test->priv;

	open_for_changes(w, KDP_CQ_POLLED);
	for (unsigned int i = 0; i < 5; i++) {
		kdp_fake_complete(w->cq[0], &w->cqe, false);
		KUNIT_EXPECT_EQ(test, w->handled, i);
		KUNIT_EXPECT_EQ(test, kdp_conn_poll(&w->conn[0]), 1);
		KUNIT_EXPECT_EQ(test, kdp_conn_poll(&w->conn[0]), 0);
		KUNIT_EXPECT_EQ(test, w->handled, i + 1);
	}
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 0);
	/* what polled I/O holds can be given back so on any kernel */
	KUNIT_EXPECT_FALSE(test, w->handled_in_bh);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_EVENTS), 0);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_SLEEPS), 0);
}

/* In the other modes somebody else has the CQ. */
static void poll_is_for_polled_cqs(struct kunit *test)
{
	struct poller_world *w = test->priv;
	unsigned int polls;

	KUNIT_EXPECT_EQ(test, kdp_conn_poll(&w->conn[0]), 0);	/* never opened */
	open_for_changes(w, KDP_CQ_EVENT);
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		if (modes[i] == KDP_CQ_POLLED)
			continue;
		rest_in(w, modes[i]);
		polls = w->cq[0]->polls;
		KUNIT_EXPECT_EQ_MSG(test, kdp_conn_poll(&w->conn[0]), 0, "%s", mode_names[modes[i]]);
		KUNIT_EXPECT_EQ_MSG(test, w->cq[0]->polls, polls, "%s", mode_names[modes[i]]);
	}
	rest_in(w, KDP_CQ_POLLED);
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	kdp_cq_detach(&w->conn[0].cq);
	KUNIT_EXPECT_EQ(test, kdp_conn_poll(&w->conn[0]), 0);
	KUNIT_EXPECT_EQ(test, kdp_fake_backlog(w->cq[0]), 1);
}

static void change_without_memory_changes_nothing(struct kunit *test)
{
	struct poller_world *w = test->priv;

	open_for_changes(w, KDP_CQ_EVENT);
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		if (modes[i] == KDP_CQ_THREAD)
			continue;
		rest_in(w, modes[i]);
		w->no_threads = true;
		KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_THREAD, 50), -ENOMEM);
		w->no_threads = false;
		KUNIT_EXPECT_EQ(test, w->conn[0].cq.mode, modes[i]);
		KUNIT_EXPECT_EQ(test, w->conn[0].params.cq_mode, modes[i]);
		KUNIT_EXPECT_EQ(test, w->conn[0].params.spin_us, 0);
		kdp_fake_complete(w->cq[0], &w->cqe, false);
		expect_handled_once(w, mode_names[modes[i]]);
	}
	/* nor is a CQ left that could not be served at all */
	close_cq(w, 0);
	w->no_threads = true;
	w->conn[0].params.cq_mode = KDP_CQ_THREAD;
	KUNIT_EXPECT_EQ(test, kdp_cq_create(&w->conn[0], KDP_FAKE_CQES), -ENOMEM);
	w->no_threads = false;
	KUNIT_EXPECT_NULL(test, w->conn[0].cq.ib);
}

static void spin_time_changes_in_place(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller;

	open_cq(w, 0, 0);
	poller = w->conn[0].cq.poller;
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_THREAD, 70), 0);
	KUNIT_EXPECT_PTR_EQ(test, w->conn[0].cq.poller, poller);
	KUNIT_EXPECT_EQ(test, poller_spin_us(poller), 70);
	/* a thread that slept spins now, one that spun sleeps */
	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_THREAD, KDP_SPIN_FOREVER), 0);
	kdp_fake_complete(w->cq[0], &w->cqe, true);
	w->cq[0]->owed = 0;
	KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_THREAD, 0), 0);
	KUNIT_EXPECT_TRUE(test, comes_to_rest(poller_task(poller)));
	KUNIT_EXPECT_EQ(test, poller_users(poller), 1);
}

/* The thread goes with its last CQ, and comes with the first. */
static void pollers_come_and_go(struct kunit *test)
{
	struct poller_world *w = test->priv;

	open_cq(w, 0, 0);
	open_cq_in(w, 1, KDP_CQ_EVENT, 0);
	KUNIT_EXPECT_EQ(test, poller_users(poller_of_cpu(w->cpu)), 1);
	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[1], KDP_CQ_THREAD, 0), 0);
	KUNIT_EXPECT_EQ(test, poller_users(poller_of_cpu(w->cpu)), 2);
	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_POLLED, 0), 0);
	KUNIT_EXPECT_EQ(test, poller_users(poller_of_cpu(w->cpu)), 1);
	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[1], KDP_CQ_CALLER, 0), 0);
	KUNIT_EXPECT_NULL(test, poller_of_cpu(w->cpu));
}

static struct kunit_case mode_cases[] = {
	KUNIT_CASE_PARAM(change_loses_no_completion, changes_gen_params),
	KUNIT_CASE_PARAM(mode_works_after_a_change, changes_gen_params),
	KUNIT_CASE(polled_cq_is_never_armed),
	KUNIT_CASE(poll_is_for_polled_cqs),
	KUNIT_CASE(change_without_memory_changes_nothing),
	KUNIT_CASE(spin_time_changes_in_place),
	KUNIT_CASE(pollers_come_and_go),
	{}
};

static struct kunit_suite mode_suite = {
	.name		= "kdp_mode",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= mode_cases,
};

kunit_test_suite(mode_suite);
