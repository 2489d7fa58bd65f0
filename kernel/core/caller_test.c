// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of caller.c: who polls for himself, and who does when nobody does. */
#include <linux/delay.h>

#include "poller_world.h"

static struct kdp_cq *open_caller(struct poller_world *w, s32 spin_us)
{
	open_cq_in(w, 0, KDP_CQ_CALLER, spin_us);
	return &w->conn[0].cq;
}

static void expect_handled(struct poller_world *w, unsigned int n, const char *what)
{
	KUNIT_ASSERT_TRUE_MSG(w->test, comes(&w->handled_one), "%s: lost", what);
	KUNIT_EXPECT_EQ_MSG(w->test, w->handled, n, "%s", what);
}

/* --- coming and going -------------------------------------------------------- */

static void nobody_in_is_as_event(struct kunit *test)
{
	struct poller_world *w = test->priv;

	open_caller(w, 50);
	for (unsigned int i = 1; i <= 5; i++) {
		kdp_fake_complete(w->cq[0], &w->cqe, false);
		expect_handled(w, i, "nobody is in");
	}
}

static void events_do_nothing_while_somebody_is_in(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_cq *cq = open_caller(w, 50);
	struct caller a, b;

	KUNIT_ASSERT_TRUE(test, caller_enter(cq, &a));
	KUNIT_ASSERT_TRUE(test, caller_enter(cq, &b));
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	msleep(20);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_EVENTS), 1);
	KUNIT_EXPECT_EQ(test, w->handled, 0);
	caller_visit(cq);
	expect_handled(w, 1, "visit");
	KUNIT_EXPECT_TRUE(test, w->handled_in_bh);
	/* the last one arms */
	w->cq[0]->arms = 0;
	caller_leave(cq, &a);
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 0);
	caller_leave(cq, &b);
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 1);
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	expect_handled(w, 2, "all have left");
}

/* What happens while the last one leaves: 0 before, 1, 2 while he arms, 3 after. */
static unsigned int leave_at;

static void completes_at_leave(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if ((at == KDP_FAKE_ARM_BEGIN && leave_at == 1) || (at == KDP_FAKE_ARM_END && leave_at == 2)) {
		leave_at = 4;
		kdp_fake_complete(cq, &world->cqe, false);
	}
}

static void leaving_loses_no_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_cq *cq = open_caller(w, 50);
	struct caller caller;
	char what[32];

	w->cq[0]->at = completes_at_leave;
	for (unsigned int armed = 0; armed < 2; armed++) {
		for (unsigned int i = 0; i < 4; i++) {
			snprintf(what, sizeof(what), "at %u, %s", i, armed ? "armed" : "not armed");
			KUNIT_ASSERT_TRUE(test, caller_enter(cq, &caller));
			w->cq[0]->armed = armed;
			w->handled = 0;
			leave_at = i;
			if (i == 0)
				kdp_fake_complete(w->cq[0], &w->cqe, false);
			caller_leave(cq, &caller);
			if (i == 3)
				kdp_fake_complete(w->cq[0], &w->cqe, false);
			expect_handled(w, 1, what);
		}
	}
	w->cq[0]->at = NULL;
}

/* The soft interrupt finds a visitor: it is left to who leaves last. */
static void soft_interrupt_gives_way(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_cq *cq = open_caller(w, 50);
	struct caller caller;
	unsigned int polls;

	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, kdp_cq_trylock(cq));
	local_bh_enable();
	polls = w->cq[0]->polls;
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	msleep(20);
	KUNIT_EXPECT_EQ(test, w->cq[0]->polls, polls);
	KUNIT_EXPECT_TRUE(test, caller_enter(cq, &caller));
	caller_visit(cq);
	KUNIT_EXPECT_EQ(test, w->cq[0]->polls, polls);
	kdp_cq_unlock(cq);
	caller_leave(cq, &caller);
	expect_handled(w, 1, "after the visitor");
}

static void polls_once_more(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if (at == KDP_FAKE_POLL_BEGIN)
		KUNIT_EXPECT_EQ(world->test, kdp_conn_poll(&world->conn[0]), -EBUSY);
}

static void one_visitor_at_a_time(struct kunit *test)
{
	struct poller_world *w = test->priv;

	open_cq_in(w, 0, KDP_CQ_POLLED, 0);
	w->cq[0]->at = polls_once_more;
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	KUNIT_EXPECT_EQ(test, kdp_conn_poll(&w->conn[0]), 1);
	KUNIT_EXPECT_EQ(test, kdp_conn_poll(&w->conn[0]), 0);
	w->cq[0]->at = NULL;
	KUNIT_EXPECT_EQ(test, w->handled, 1);
}

/* A caller of an earlier term, be it of this or of another mode, changes nothing. */
static void stranger_leaves_no_trace(struct kunit *test)
{
	static const enum kdp_cq_mode between[] = {
		KDP_CQ_EVENT, KDP_CQ_POLLED, KDP_CQ_THREAD,
	};
	struct poller_world *w = test->priv;
	struct kdp_cq *cq = open_caller(w, 50);
	struct caller old, new;

	for (unsigned int i = 0; i < ARRAY_SIZE(between); i++) {
		KUNIT_ASSERT_TRUE(test, caller_enter(cq, &old));
		KUNIT_ASSERT_EQ(test, kdp_conn_set_mode(&w->conn[0], between[i], 0), 0);
		caller_leave(cq, &old);
		KUNIT_ASSERT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_CALLER, 50), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&cq->callers), 0);
		KUNIT_ASSERT_TRUE(test, caller_enter(cq, &new));
		w->cq[0]->arms = 0;
		caller_leave(cq, &old);
		KUNIT_EXPECT_EQ(test, atomic_read(&cq->callers), 1);
		KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 0);
		caller_leave(cq, &new);
		KUNIT_EXPECT_EQ(test, atomic_read(&cq->callers), 0);
		KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 1);
	}
	/* the connection is closed and its memory used for another one */
	KUNIT_ASSERT_TRUE(test, caller_enter(cq, &old));
	close_cq(w, 0);
	memset(cq, 0, sizeof(*cq));
	caller_leave(cq, &old);
	open_caller(w, 50);
	caller_leave(cq, &old);
	KUNIT_EXPECT_EQ(test, atomic_read(&cq->callers), 0);
}

/* --- spinning ---------------------------------------------------------------- */

static void spin_takes_the_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;

	open_caller(w, KDP_SPIN_FOREVER);
	for (unsigned int i = 1; i <= 3; i++) {
		w->cq[0]->armed = false;
		kdp_fake_complete(w->cq[0], &w->cqe, false);
		kdp_conn_spin(&w->conn[0], &w->handled_one);
		expect_handled(w, i, "spin");
	}
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_SLEEPS), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->conn[0].cq.callers), 0);
	KUNIT_EXPECT_TRUE(test, w->cq[0]->armed);
}

static void spin_ends_with_its_time(struct kunit *test)
{
	struct poller_world *w = test->priv;
	DECLARE_COMPLETION_ONSTACK(never);

	open_caller(w, 1000);
	kdp_conn_spin(&w->conn[0], &never);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_SLEEPS), 1);
	KUNIT_EXPECT_TRUE(test, w->cq[0]->armed);
	/* and then the soft interrupt serves it */
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	expect_handled(w, 1, "after the spin");
}

static void spin_gives_way_to_others(struct kunit *test)
{
	struct poller_world *w = test->priv;
	DECLARE_COMPLETION_ONSTACK(never);

	open_caller(w, S32_MAX);
	w->told = true;
	w->alone = false;
	kdp_conn_spin(&w->conn[0], &never);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_SLEEPS), 1);
}

static void spin_is_for_callers(struct kunit *test)
{
	static const enum kdp_cq_mode others[] = {
		KDP_CQ_EVENT, KDP_CQ_THREAD,
	};
	struct poller_world *w = test->priv;
	DECLARE_COMPLETION_ONSTACK(never);

	kdp_conn_spin(&w->conn[0], &never);	/* never opened */
	open_caller(w, 0);
	kdp_conn_spin(&w->conn[0], &never);	/* no spin time */
	KUNIT_EXPECT_EQ(test, w->cq[0]->polls, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_ASSERT_EQ(test, kdp_conn_set_mode(&w->conn[0], others[i], -1), 0);
		kdp_conn_spin(&w->conn[0], &never);
	}
}

/* Somebody else does something while the test spins. */
struct helper {
	struct work_struct	work;
	struct poller_world	*w;
	bool			changes;	/* the mode, else a work request completes */
};

static void help(struct work_struct *work)
{
	struct helper *h = container_of(work, struct helper, work);

	msleep(20);
	if (h->changes)
		kdp_conn_set_mode(&h->w->conn[0], KDP_CQ_EVENT, 0);
	else
		kdp_fake_complete(h->w->cq[0], &h->w->cqe, false);
}

static void polled_spins_until_done(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct helper h = { .w = w };

	INIT_WORK_ONSTACK(&h.work, help);
	open_cq_in(w, 0, KDP_CQ_POLLED, 0);
	schedule_work(&h.work);
	kdp_conn_spin(&w->conn[0], &w->handled_one);
	expect_handled(w, 1, "spin");
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_EVENTS), 0);
	flush_work(&h.work);
	destroy_work_on_stack(&h.work);
}

static void spin_ends_with_the_mode(struct kunit *test)
{
	static const enum kdp_cq_mode begins[] = {
		KDP_CQ_POLLED, KDP_CQ_CALLER,
	};
	struct poller_world *w = test->priv;
	struct helper h = { .w = w, .changes = true };
	DECLARE_COMPLETION_ONSTACK(never);

	INIT_WORK_ONSTACK(&h.work, help);
	open_cq_in(w, 0, KDP_CQ_EVENT, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(begins); i++) {
		KUNIT_ASSERT_EQ(test, kdp_conn_set_mode(&w->conn[0], begins[i], -1), 0);
		schedule_work(&h.work);
		kdp_conn_spin(&w->conn[0], &never);
		flush_work(&h.work);
		kdp_fake_complete(w->cq[0], &w->cqe, false);
		expect_handled(w, i + 1, "after the change");
	}
	destroy_work_on_stack(&h.work);
}

static struct kunit_case caller_cases[] = {
	KUNIT_CASE(nobody_in_is_as_event),
	KUNIT_CASE(events_do_nothing_while_somebody_is_in),
	KUNIT_CASE(leaving_loses_no_completion),
	KUNIT_CASE(soft_interrupt_gives_way),
	KUNIT_CASE(one_visitor_at_a_time),
	KUNIT_CASE(stranger_leaves_no_trace),
	KUNIT_CASE(spin_takes_the_completion),
	KUNIT_CASE(spin_ends_with_its_time),
	KUNIT_CASE(spin_gives_way_to_others),
	KUNIT_CASE(spin_is_for_callers),
	KUNIT_CASE(polled_spins_until_done),
	KUNIT_CASE(spin_ends_with_the_mode),
	{}
};

static struct kunit_suite caller_suite = {
	.name		= "kdp_caller",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= caller_cases,
};

kunit_test_suite(caller_suite);
