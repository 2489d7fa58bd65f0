// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of poller.c in threads that really sleep: they wake up, they stop, and they
 * let go of CQs that come and go.
 */
#include <linux/delay.h>
#include <linux/sched/task.h>

#include "poller_world.h"

/* --- asleep and awake -------------------------------------------------------- */

KUNIT_ARRAY_PARAM(steps, step_names, describe_step);

/* A work request of either CQ completes at this step, and its event comes. */
static void thread_loses_no_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;
	enum step at = step_of(test);
	struct kdp_poller *poller = begin_thread(w);

	for (unsigned int i = 0; i < NR_CQS; i++) {
		arrange(w, w->cq[i], at, at);
		w->cq[0]->at = at_fake_cq;
		w->cq[1]->at = at_fake_cq;
		WRITE_ONCE(w->task, poller_task(poller));
		kdp_poller_kick(poller);
		KUNIT_ASSERT_TRUE_MSG(test, comes(&w->handled_one), "CQ %u: lost", i);
		KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
		WRITE_ONCE(w->task, NULL);
		KUNIT_EXPECT_EQ(test, w->handled, 1);
	}
}

#define ARM_FAILURES	1000

static void arming_recovers(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if (at == KDP_FAKE_ARM_END && cq->arms == ARM_FAILURES) {
		cq->arm_result = 0;
		complete(&world->held);
	}
}

/* A device that will not be armed keeps its thread awake, but not the CPU from others. */
static void thread_that_cannot_sleep_yields(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);

	w->cq[0]->arms = 0;
	w->cq[0]->arm_result = -EIO;
	w->cq[0]->at = arming_recovers;
	WRITE_ONCE(w->task, poller_task(poller));
	kdp_poller_kick(poller);
	KUNIT_ASSERT_TRUE(test, comes(&w->held));
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	KUNIT_EXPECT_GE(test, w->rescheds, ARM_FAILURES - 1);
}

static void thread_wakes_at_every_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);
	u64 sleeps = stat_of(w, 0, KDP_CS_SLEEPS);

	for (unsigned int i = 0; i < 50; i++) {
		KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
		kdp_fake_complete(w->cq[i % NR_CQS], &w->cqe, false);
		KUNIT_ASSERT_TRUE(test, comes(&w->handled_one));
	}
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	KUNIT_EXPECT_EQ(test, w->handled, 50);
	KUNIT_EXPECT_GE(test, stat_of(w, 0, KDP_CS_SLEEPS), sleeps + 50);
}

/* A thread that spins for ever never arms, nor needs an event; then it may sleep. */
static void thread_spins_for_ever(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller;

	open_cq(w, 1, 0);
	poller = w->conn[1].cq.poller;
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	open_cq(w, 0, KDP_SPIN_FOREVER);
	for (unsigned int i = 0; i < 3; i++) {
		kdp_fake_complete(w->cq[i % NR_CQS], &w->cqe, true);
		KUNIT_ASSERT_TRUE(test, comes(&w->handled_one));
	}
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 0);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_SLEEPS), 0);
	KUNIT_EXPECT_FALSE(test, is_asleep(poller_task(poller)));
	close_cq(w, 0);
	KUNIT_EXPECT_TRUE(test, comes_to_rest(poller_task(poller)));
}

/* --- CQs that come and go ---------------------------------------------------- */

static void thread_asleep_notices_a_new_cq(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller;

	open_cq(w, 0, 0);
	poller = w->conn[0].cq.poller;
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	open_cq(w, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, w->conn[1].cq.poller, poller);
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	KUNIT_EXPECT_TRUE(test, w->cq[1]->armed);
	KUNIT_EXPECT_GE(test, w->cq[1]->polls, 1);
	kdp_fake_complete(w->cq[1], &w->cqe, false);
	KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
}

/* A CQ that is detached is not touched by the passes that follow; the other one is served. */
static void thread_leaves_a_detached_cq_alone(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);
	unsigned int polls, arms;

	kdp_cq_detach(&w->conn[0].cq);
	polls = w->cq[0]->polls;
	arms = w->cq[0]->arms;
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	for (unsigned int i = 0; i < 5; i++) {
		KUNIT_EXPECT_TRUE(test, comes_to_rest(poller_task(poller)));
		kdp_fake_complete(w->cq[1], &w->cqe, false);
		KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
	}
	KUNIT_EXPECT_TRUE(test, comes_to_rest(poller_task(poller)));
	KUNIT_EXPECT_EQ(test, w->cq[0]->polls, polls);
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, arms);
	KUNIT_EXPECT_EQ(test, w->handled, 5);
	kdp_cq_destroy(&w->conn[0].cq);
}

static void hold_at_poll(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	struct poller_world *w = world;

	if (at != KDP_FAKE_POLL_BEGIN || completion_done(&w->held))
		return;
	complete_all(&w->held);
	wait_for_completion(&w->let_go);
}

/* Deletion waits for a thread that is just polling the CQ. */
static void deletion_waits_for_the_thread(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);

	w->cq[0]->at = hold_at_poll;
	kdp_poller_kick(poller);
	KUNIT_ASSERT_TRUE(test, comes(&w->held));
	begin_close(w, 0);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&w->closed, HZ / 5), 0);
	complete_all(&w->let_go);
	KUNIT_EXPECT_TRUE(test, comes(&w->closed));
	kdp_fake_complete(w->cq[1], &w->cqe, false);
	KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
}

/* --- the life of a thread ---------------------------------------------------- */

static void thread_begins_on_its_cpu(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);
	char name[TASK_COMM_LEN];

	KUNIT_EXPECT_EQ(test, task_cpu(poller_task(poller)), w->cpu);
	KUNIT_EXPECT_EQ(test, poller_task(poller)->nr_cpus_allowed, 1);
	/* an administrator may put it elsewhere */
	KUNIT_EXPECT_FALSE(test, poller_task(poller)->flags & PF_NO_SETAFFINITY);
	snprintf(name, sizeof(name), "kdp_poll/%d", w->cpu);
	KUNIT_EXPECT_STREQ(test, poller_task(poller)->comm, name);
}

/* The last CQ goes, and the thread with it. A stuck one is shaken until it does. */
static void expect_stops(struct poller_world *w, struct task_struct *task)
{
	bool stopped;

	get_task_struct(task);
	begin_close(w, 1);
	stopped = comes(&w->closed);
	KUNIT_EXPECT_TRUE(w->test, stopped);
	while (!stopped) {
		wake_up_process(task);
		stopped = wait_for_completion_timeout(&w->closed, 1);
	}
	put_task_struct(task);
}

static void thread_stops_while_asleep(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);

	close_cq(w, 0);
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller_task(poller)));
	expect_stops(w, poller_task(poller));
}

/* Told to stop between arming and the task state: the wake-up comes too early. */
static void thread_stops_on_its_way_to_sleep(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);

	w->hold_at = STEP_BEFORE_STATE;
	WRITE_ONCE(w->task, poller_task(poller));
	kdp_poller_kick(poller);
	KUNIT_ASSERT_TRUE(test, comes(&w->held));
	close_cq(w, 0);
	expect_stops(w, poller_task(poller));
}

static struct kunit_case thread_cases[] = {
	KUNIT_CASE_PARAM(thread_loses_no_completion, steps_gen_params),
	KUNIT_CASE(thread_wakes_at_every_completion),
	KUNIT_CASE(thread_that_cannot_sleep_yields),
	KUNIT_CASE(thread_spins_for_ever),
	KUNIT_CASE(thread_asleep_notices_a_new_cq),
	KUNIT_CASE(thread_leaves_a_detached_cq_alone),
	KUNIT_CASE(deletion_waits_for_the_thread),
	KUNIT_CASE(thread_begins_on_its_cpu),
	KUNIT_CASE(thread_stops_while_asleep),
	KUNIT_CASE(thread_stops_on_its_way_to_sleep),
	{}
};

static struct kunit_suite thread_suite = {
	.name		= "kdp_poller_thread",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= thread_cases,
};

kunit_test_suite(thread_suite);
