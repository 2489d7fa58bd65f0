// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of poller.c: no wake-up is lost. The test plays the thread, and whatever
 * happens at any step, it does not go to sleep with work to do.
 */
#include "poller_world.h"

KUNIT_ARRAY_PARAM(steps, step_names, describe_step);

/* As an earlier sleep, or an earlier event, left the CQs. */
static void set_armed(struct poller_world *w, bool armed)
{
	for (unsigned int i = 0; i < NR_CQS; i++)
		w->cq[i]->armed = armed;
}

/* What kdp_poller_main() does with spin time 0, until everything is handled; bounded. */
static void run_model(struct poller_world *w)
{
	unsigned int want = w->target ? 1 : 0;

	for (unsigned int i = 0; i < 4; i++) {
		if (poller_pass(w->poller))
			continue;
		if (w->lost || (w->completed && w->handled == want && w->slept))
			return;
		poller_sleep(w->poller);
	}
}

static void expect_not_lost(struct poller_world *w, unsigned int handled, const char *what)
{
	struct kunit *test = w->test;

	KUNIT_EXPECT_FALSE_MSG(test, w->lost, "%s: asleep with work to do", what);
	KUNIT_EXPECT_TRUE_MSG(test, w->completed, "%s: the step was not reached", what);
	KUNIT_EXPECT_EQ_MSG(test, w->handled, handled, "%s", what);
	KUNIT_EXPECT_GE_MSG(test, w->slept, 1, "%s: it does not come to rest", what);
	KUNIT_EXPECT_EQ(test, get_current_state(), TASK_RUNNING);
	w->lost = false;
}

/* A work request of either CQ completes at this step, its event comes at this or a later one. */
static void model_loses_no_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;
	enum step at = step_of(test), later;
	char what[64];

	begin_model(w);
	for (unsigned int i = 0; i < 2 * NR_CQS; i++) {
		bool armed = i / NR_CQS;

		/* STEP_NR: when it sleeps */
		for (later = at; later <= STEP_NR; later++) {
			snprintf(what, sizeof(what), "CQ %u, event at step %u, %s before",
				 i % NR_CQS, later, armed ? "armed" : "not armed");
			arrange(w, w->cq[i % NR_CQS], at, later);
			set_armed(w, armed);
			run_model(w);
			expect_not_lost(w, 1, what);
		}
	}
}

/* An event at this step, and then a work request of either CQ completes at any. */
static void model_survives_a_stray_event(struct kunit *test)
{
	struct poller_world *w = test->priv;
	enum step at = step_of(test);
	char what[64];

	begin_model(w);
	arrange(w, NULL, at, at);
	run_model(w);
	expect_not_lost(w, 0, "stray event");
	for (enum step next = 0; next < STEP_NR; next++) {
		for (unsigned int i = 0; i < NR_CQS; i++) {
			snprintf(what, sizeof(what), "CQ %u at step %u after a stray event", i, next);
			arrange(w, NULL, at, at);
			poller_sleep(w->poller);
			arrange(w, w->cq[i], next, next);
			run_model(w);
			expect_not_lost(w, 1, what);
		}
	}
}

/* An event after ->kicked was cleared keeps the thread awake. */
static void model_does_not_sleep_when_kicked(struct kunit *test)
{
	struct poller_world *w = test->priv;

	begin_model(w);
	for (enum step at = STEP_CLEARED; at <= STEP_SCHEDULE; at++) {
		arrange(w, NULL, at, at);
		poller_sleep(w->poller);
		KUNIT_EXPECT_EQ_MSG(test, w->slept, 0, "event at step %u", at);
		KUNIT_EXPECT_EQ(test, get_current_state(), TASK_RUNNING);
	}
	/* without one it does sleep, each CQ armed once */
	arrange(w, NULL, STEP_NR, STEP_NR);
	for (unsigned int i = 0; i < NR_CQS; i++)
		w->cq[i]->arms = 0;
	poller_sleep(w->poller);
	KUNIT_EXPECT_EQ(test, w->slept, 1);
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 1);
	KUNIT_EXPECT_EQ(test, w->cq[1]->arms, 1);
	KUNIT_EXPECT_EQ(test, w->reached, BIT(STEP_NR) - 1 - BIT(STEP_POLLED));
}

/* What arming reports of any CQ is believed. */
static void model_does_not_sleep_when_arming_says_so(struct kunit *test)
{
	struct poller_world *w = test->priv;

	begin_model(w);
	for (unsigned int i = 0; i < NR_CQS; i++) {
		u64 sleeps = stat_of(w, i, KDP_CS_SLEEPS);

		arrange(w, NULL, STEP_NR, STEP_NR);
		kdp_fake_complete(w->cq[i], &w->cqe, true);
		w->cq[i]->owed = 0;
		poller_sleep(w->poller);
		KUNIT_EXPECT_EQ(test, w->slept, 0);
		KUNIT_EXPECT_EQ(test, w->reached & BIT(STEP_SCHEDULE), 0);
		KUNIT_EXPECT_EQ(test, stat_of(w, i, KDP_CS_SLEEPS), sleeps);
		KUNIT_EXPECT_EQ(test, poller_pass(w->poller), 1);
		poller_sleep(w->poller);
		KUNIT_EXPECT_EQ(test, w->slept, 1);
		KUNIT_EXPECT_EQ(test, stat_of(w, i, KDP_CS_SLEEPS), sleeps + 1);
	}
}

static struct kunit_case model_cases[] = {
	KUNIT_CASE_PARAM(model_loses_no_completion, steps_gen_params),
	KUNIT_CASE_PARAM(model_survives_a_stray_event, steps_gen_params),
	KUNIT_CASE(model_does_not_sleep_when_kicked),
	KUNIT_CASE(model_does_not_sleep_when_arming_says_so),
	{}
};

static struct kunit_suite model_suite = {
	.name		= "kdp_poller_model",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= model_cases,
};

kunit_test_suite(model_suite);
