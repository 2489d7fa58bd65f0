// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of poller.c and cq.c, included below, on a fake device.
 *
 * What may go wrong between polling and sleeping goes wrong when something happens
 * at one certain place. So the thread calls at_step() wherever it is, and there the
 * test has a work request complete. The places are reached through the fake CQ
 * (polling, arming) and through what poller.c calls of the scheduler, which is
 * renamed for it: the tested code has no hook and is what kdp_core is made of.
 *
 * Each such event is tried twice: in a model, where the test plays the thread and
 * going to sleep is a call that tells whether it would have been for ever; and in a
 * poller thread that really sleeps.
 *
 * What one CPU sees of another's stores is beyond these tests: what happens at a step
 * happens on the thread's own CPU. (Barriers: see the top of poller.c.)
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fake_ib.h"
#include "fault.h"
#include "internal.h"

/* On the way to sleep, in this order. */
enum step {
	STEP_POLLED,		/* nothing was found */
	STEP_CLEARED,		/* ->kicked is false, no CQ is armed */
	STEP_ARMED_FIRST,
	STEP_ARMED_ALL,
	STEP_BEFORE_STATE,
	STEP_AFTER_STATE,	/* ->kicked not looked at */
	STEP_SCHEDULE,		/* about to sleep */
	STEP_WOKEN,
	STEP_NR
};

static const char * const step_names[] = {
	[STEP_POLLED]		= "polled, nothing found",
	[STEP_CLEARED]		= "kicked cleared, nothing armed",
	[STEP_ARMED_FIRST]	= "first CQ armed",
	[STEP_ARMED_ALL]	= "all CQs armed",
	[STEP_BEFORE_STATE]	= "unlocked, before the task state",
	[STEP_AFTER_STATE]	= "task state set, before looking at kicked",
	[STEP_SCHEDULE]		= "about to sleep",
	[STEP_WOKEN]		= "woken",
};

#define NR_CQS		2
/* An event that is lost never comes; one that is not may be late on a slow machine. */
#define PATIENCE	(10 * HZ)

struct poller_world {
	struct kunit		*test;
	struct kdp_device	dev;
	struct kdp_fake_ib	*fake;
	struct kdp_conn		conn[NR_CQS];
	struct kdp_fake_cq	*cq[NR_CQS];
	int			cpu;
	const char		*broken;	/* the reason of kdp_conn_break() */

	/* what happens at which step; written while @task sleeps, or is the test */
	struct task_struct	*task;
	bool			model;
	struct kdp_fake_cq	*target;	/* NULL: an event without a completion */
	enum step		complete_at;
	enum step		deliver_at;
	bool			completed;
	bool			delivered;
	unsigned long		reached;	/* steps */
	unsigned int		rescheds;	/* calls of cond_resched() */

	/* of the model */
	struct kdp_poller	*poller;
	unsigned int		slept;
	bool			lost;		/* it went to sleep with work to do */

	/* completions of the tests */
	struct ib_cqe		cqe;
	unsigned int		handled;
	bool			handled_in_bh;
	struct completion	handled_one;

	/* what poller.c is told of the machine, if @told */
	bool			told;
	bool			alone;
	bool			resched;
	u64			now;

	/* a thread held in the middle of something, and who closes a CQ meanwhile */
	enum step		hold_at;	/* until it is told to stop */
	struct completion	held;
	struct completion	let_go;
	struct work_struct	work;
	unsigned int		closes;
	struct completion	closed;
};

static struct poller_world *world;

static bool in_thread(const struct poller_world *w)
{
	return w && READ_ONCE(w->task) == current;
}

static void at_step(enum step step)
{
	struct poller_world *w = world;

	if (!in_thread(w))
		return;
	w->reached |= BIT(step);
	if (step == w->hold_at && !completion_done(&w->held)) {
		complete_all(&w->held);
		while (!kthread_should_stop())
			usleep_range(1000, 2000);
	}
	if (step == w->complete_at && !w->completed) {
		w->completed = true;
		if (w->target)
			kdp_fake_complete(w->target, &w->cqe, true);
	}
	if (step == w->deliver_at && w->completed && !w->delivered) {
		w->delivered = true;
		if (w->target)
			kdp_fake_deliver(w->target);
		else
			w->cq[0]->ib.comp_handler(&w->cq[0]->ib, w->cq[0]->ib.cq_context);
	}
}

static void at_fake_cq(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	const struct poller_world *w = world;
	bool first = cq == w->cq[0];

	if (at == KDP_FAKE_POLL_END && !first && !kdp_fake_backlog(cq))
		at_step(STEP_POLLED);
	else if (at == KDP_FAKE_ARM_BEGIN && first)
		at_step(STEP_CLEARED);
	else if (at == KDP_FAKE_ARM_END)
		at_step(first ? STEP_ARMED_FIRST : STEP_ARMED_ALL);
}

/* The model's sleep: would anything ever wake it up? */
static void model_sleep(struct poller_world *w)
{
	if (get_current_state() == TASK_RUNNING)
		return;
	w->slept++;
	/* what is on its way arrives */
	for (unsigned int i = 0; i < NR_CQS; i++)
		kdp_fake_deliver(w->cq[i]);
	if (get_current_state() == TASK_RUNNING)
		return;
	for (unsigned int i = 0; i < NR_CQS; i++)
		if (kdp_fake_backlog(w->cq[i]))
			w->lost = true;
	__set_current_state(TASK_RUNNING);
}

static void test_schedule(void)
{
	at_step(STEP_SCHEDULE);
	if (in_thread(world) && world->model)
		model_sleep(world);
	else
		schedule();
	at_step(STEP_WOKEN);
}

static void test_set_current_state(unsigned int state)
{
	at_step(STEP_BEFORE_STATE);
	set_current_state(state);
	at_step(STEP_AFTER_STATE);
}

static void test_cond_resched(void)
{
	if (in_thread(world))
		world->rescheds++;
	cond_resched();
}

static bool test_single_task_running(void)
{
	return world->told ? world->alone : single_task_running();
}

static bool test_need_resched(void)
{
	return world->told ? world->resched : need_resched();
}

static u64 test_ktime_get_ns(void)
{
	return world->told ? world->now : ktime_get_ns();
}

#undef set_current_state
#define set_current_state(state)	test_set_current_state(state)
#undef cond_resched
#define cond_resched()			test_cond_resched()
#define schedule()			test_schedule()
#define single_task_running()		test_single_task_running()
#define need_resched()			test_need_resched()
#define ktime_get_ns()			test_ktime_get_ns()

#include "poller.c"
#include "cq.c"

#undef ktime_get_ns
#undef need_resched
#undef single_task_running
#undef schedule

/* cm.c's */
void kdp_conn_break(struct kdp_conn *conn, const char *why)
{
	world->broken = why;
}

/* --- the world ------------------------------------------------------------- */

static void count_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct poller_world *w = container_of(wc->wr_cqe, struct poller_world, cqe);

	w->handled_in_bh = in_softirq() && !in_serving_softirq();
	WRITE_ONCE(w->handled, w->handled + 1);
	complete(&w->handled_one);
}

static void close_cq_work(struct work_struct *work);

static int poller_test_init(struct kunit *test)
{
	struct poller_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->fake = kdp_fake_create(&w->dev);
	KUNIT_ASSERT_NOT_NULL(test, w->fake);
	w->test = test;
	w->cpu = cpumask_last(cpu_online_mask);
	w->cqe.done = count_done;
	w->complete_at = STEP_NR;
	w->deliver_at = STEP_NR;
	w->hold_at = STEP_NR;
	init_completion(&w->handled_one);
	init_completion(&w->held);
	init_completion(&w->let_go);
	init_completion(&w->closed);
	INIT_WORK(&w->work, close_cq_work);
	test->priv = w;
	world = w;
	for (unsigned int i = 0; i < NR_CQS; i++) {
		w->conn[i].dev = &w->dev;
		w->conn[i].params.cpu = w->cpu;
		w->conn[i].stats = alloc_percpu(struct kdp_conn_stats);
		KUNIT_ASSERT_TRUE(test, w->conn[i].stats);
	}
	return 0;
}

/* CQ @i of @spin_us, with the poller of w->cpu. */
static void open_cq(struct poller_world *w, unsigned int i, s32 spin_us)
{
	w->conn[i].params.spin_us = spin_us;
	KUNIT_ASSERT_EQ(w->test, kdp_cq_create(&w->conn[i], KDP_FAKE_CQES), 0);
	w->cq[i] = to_kdp_fake_cq(w->conn[i].cq.ib);
}

static void close_cq(struct poller_world *w, unsigned int i)
{
	kdp_cq_detach(&w->conn[i].cq);
	kdp_cq_destroy(&w->conn[i].cq);
}

static void close_cq_work(struct work_struct *work)
{
	struct poller_world *w = container_of(work, struct poller_world, work);

	close_cq(w, w->closes);
	complete_all(&w->closed);
}

static void begin_close(struct poller_world *w, unsigned int i)
{
	w->closes = i;
	schedule_work(&w->work);
}

static void poller_test_exit(struct kunit *test)
{
	struct poller_world *w = test->priv;

	if (!w)
		return;
	complete_all(&w->let_go);
	flush_work(&w->work);
	for (unsigned int i = 0; i < NR_CQS; i++) {
		close_cq(w, i);
		free_percpu(w->conn[i].stats);
	}
	if (w->model) {
		KUNIT_EXPECT_EQ(test, w->poller->users, 1);
		kdp_pollers[w->cpu] = NULL;
	}
	KUNIT_EXPECT_NULL(test, kdp_pollers[w->cpu]);
	if (w->dev.ib)
		kdp_fake_destroy(&w->dev);
	world = NULL;
}

/* Both CQs are served by the test itself, which is w->poller's thread. */
static void begin_model(struct poller_world *w)
{
	w->poller = kunit_kzalloc(w->test, sizeof(*w->poller), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(w->test, w->poller);
	w->model = true;
	mutex_init(&w->poller->lock);
	INIT_LIST_HEAD(&w->poller->cqs);
	w->poller->cpu = w->cpu;
	w->poller->users = 1;
	w->poller->task = current;
	kdp_pollers[w->cpu] = w->poller;
	for (unsigned int i = 0; i < NR_CQS; i++) {
		open_cq(w, i, 0);
		w->cq[i]->at = at_fake_cq;
	}
	w->task = current;
}

/* Once something did not come, the others are not waited for so long. */
static unsigned long patience = PATIENCE;

static bool comes(struct completion *what)
{
	if (wait_for_completion_timeout(what, patience))
		return true;
	patience = HZ;
	return false;
}

/* Fully asleep, not on its way. */
static bool is_asleep(struct task_struct *task)
{
	return READ_ONCE(task->__state) == TASK_IDLE && !READ_ONCE(task->on_rq);
}

static bool comes_to_rest(struct task_struct *task)
{
	unsigned long end = jiffies + patience;

	while (!is_asleep(task)) {
		if (time_after(jiffies, end)) {
			patience = HZ;
			return false;
		}
		usleep_range(1000, 2000);
	}
	return true;
}

/* Both CQs are served by a thread, which sleeps when this returns. */
static struct kdp_poller *begin_thread(struct poller_world *w)
{
	struct kdp_poller *poller;

	for (unsigned int i = 0; i < NR_CQS; i++)
		open_cq(w, i, 0);
	poller = w->conn[0].cq.poller;
	KUNIT_ASSERT_TRUE(w->test, comes_to_rest(poller->task));
	return poller;
}

static u64 stat_of(const struct poller_world *w, unsigned int i, enum kdp_conn_stat stat)
{
	u64 sum[KDP_CS_NR] = {};
	int cpu;

	for_each_possible_cpu(cpu)
		sum[stat] += per_cpu_ptr(w->conn[i].stats, cpu)->v[stat];
	return sum[stat];
}

/* --- no wake-up is lost ---------------------------------------------------- */

static void describe_step(const char * const *name, char *text)
{
	strscpy(text, *name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(steps, step_names, describe_step);

static enum step step_of(const struct kunit *test)
{
	return (const char * const *)test->param_value - step_names;
}

static void arrange(struct poller_world *w, struct kdp_fake_cq *target, enum step complete_at,
		    enum step deliver_at)
{
	w->target = target;
	w->complete_at = complete_at;
	w->deliver_at = deliver_at;
	w->completed = false;
	w->delivered = false;
	w->reached = 0;
	w->slept = 0;
	w->handled = 0;
}

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
		if (kdp_poller_pass(w->poller))
			continue;
		if (w->lost || (w->completed && w->handled == want && w->slept))
			return;
		kdp_poller_sleep(w->poller);
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
			kdp_poller_sleep(w->poller);
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
		kdp_poller_sleep(w->poller);
		KUNIT_EXPECT_EQ_MSG(test, w->slept, 0, "event at step %u", at);
		KUNIT_EXPECT_EQ(test, get_current_state(), TASK_RUNNING);
	}
	/* without one it does sleep, each CQ armed once */
	arrange(w, NULL, STEP_NR, STEP_NR);
	for (unsigned int i = 0; i < NR_CQS; i++)
		w->cq[i]->arms = 0;
	kdp_poller_sleep(w->poller);
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
		kdp_poller_sleep(w->poller);
		KUNIT_EXPECT_EQ(test, w->slept, 0);
		KUNIT_EXPECT_EQ(test, w->reached & BIT(STEP_SCHEDULE), 0);
		KUNIT_EXPECT_EQ(test, stat_of(w, i, KDP_CS_SLEEPS), sleeps);
		KUNIT_EXPECT_EQ(test, kdp_poller_pass(w->poller), 1);
		kdp_poller_sleep(w->poller);
		KUNIT_EXPECT_EQ(test, w->slept, 1);
		KUNIT_EXPECT_EQ(test, stat_of(w, i, KDP_CS_SLEEPS), sleeps + 1);
	}
}

/* The same steps, in a thread that sleeps, for each CQ. */
static void thread_loses_no_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;
	enum step at = step_of(test);
	struct kdp_poller *poller = begin_thread(w);

	for (unsigned int i = 0; i < NR_CQS; i++) {
		arrange(w, w->cq[i], at, at);
		w->cq[0]->at = at_fake_cq;
		w->cq[1]->at = at_fake_cq;
		WRITE_ONCE(w->task, poller->task);
		kdp_poller_kick(poller);
		KUNIT_ASSERT_TRUE_MSG(test, comes(&w->handled_one), "CQ %u: lost", i);
		KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
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
	WRITE_ONCE(w->task, poller->task);
	kdp_poller_kick(poller);
	KUNIT_ASSERT_TRUE(test, comes(&w->held));
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
	KUNIT_EXPECT_GE(test, w->rescheds, ARM_FAILURES - 1);
}

static void thread_wakes_at_every_completion(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);
	u64 sleeps = stat_of(w, 0, KDP_CS_SLEEPS);

	for (unsigned int i = 0; i < 50; i++) {
		KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
		kdp_fake_complete(w->cq[i % NR_CQS], &w->cqe, false);
		KUNIT_ASSERT_TRUE(test, comes(&w->handled_one));
	}
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
	KUNIT_EXPECT_EQ(test, w->handled, 50);
	KUNIT_EXPECT_GE(test, stat_of(w, 0, KDP_CS_SLEEPS), sleeps + 50);
}

/* --- spinning or sleeping -------------------------------------------------- */

struct idle_case {
	s32			spin_us;
	bool			alone;
	bool			resched;
	u64			idle_ns;
	enum kdp_poller_idle	want;
};

static const struct idle_case idle_cases[] = {
	{ 0, true, false, 0, KDP_IDLE_SLEEP },
	{ 0, false, false, 0, KDP_IDLE_SLEEP },
	{ 50, true, false, 0, KDP_IDLE_SPIN },
	{ 50, true, false, 49999, KDP_IDLE_SPIN },
	{ 50, true, false, 50000, KDP_IDLE_SLEEP },
	{ 50, true, false, 1ULL << 40, KDP_IDLE_SLEEP },
	{ 50, false, false, 0, KDP_IDLE_SLEEP },
	{ 50, true, true, 0, KDP_IDLE_SLEEP },
	{ S32_MAX, true, false, (u64)S32_MAX * NSEC_PER_USEC - 1, KDP_IDLE_SPIN },
	{ S32_MAX, true, false, (u64)S32_MAX * NSEC_PER_USEC, KDP_IDLE_SLEEP },
	{ KDP_SPIN_FOREVER, true, false, 1ULL << 40, KDP_IDLE_SPIN },
	{ KDP_SPIN_FOREVER, false, false, 0, KDP_IDLE_YIELD },
	{ KDP_SPIN_FOREVER, true, true, 1ULL << 40, KDP_IDLE_YIELD },
};

static void describe_idle(const struct idle_case *c, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "spin %d us, idle %llu ns, %s%s", c->spin_us,
		 c->idle_ns, c->alone ? "alone" : "not alone", c->resched ? ", resched" : "");
}

KUNIT_ARRAY_PARAM(idle, idle_cases, describe_idle);

static void idle_choice(struct kunit *test)
{
	const struct idle_case *c = test->param_value;
	struct poller_world *w = test->priv;
	struct kdp_poller poller = { .spin_us = c->spin_us };
	const u64 since = 1ULL << 42;

	w->told = true;
	w->alone = c->alone;
	w->resched = c->resched;
	w->now = since + c->idle_ns;
	KUNIT_EXPECT_EQ(test, kdp_poller_idle(&poller, since), c->want);
}

struct spin_times {
	s32	a;
	s32	b;
	s32	want;
};

static const struct spin_times spin_times[] = {
	{ 0, 0, 0 },
	{ 0, 50, 50 },
	{ 50, 0, 50 },
	{ 50, 100, 100 },
	{ KDP_SPIN_FOREVER, 0, KDP_SPIN_FOREVER },
	{ 100, KDP_SPIN_FOREVER, KDP_SPIN_FOREVER },
	{ S32_MAX, KDP_SPIN_FOREVER, KDP_SPIN_FOREVER },
};

/* The longest of the CQs that are there. */
static void spin_time_is_the_longest(struct kunit *test)
{
	struct poller_world *w = test->priv;

	begin_model(w);
	close_cq(w, 0);
	close_cq(w, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(spin_times); i++) {
		KUNIT_EXPECT_EQ(test, w->poller->spin_us, 0);
		open_cq(w, 0, spin_times[i].a);
		KUNIT_EXPECT_EQ(test, w->poller->spin_us, spin_times[i].a);
		open_cq(w, 1, spin_times[i].b);
		KUNIT_EXPECT_EQ(test, w->poller->spin_us, spin_times[i].want);
		close_cq(w, 0);
		KUNIT_EXPECT_EQ(test, w->poller->spin_us, spin_times[i].b);
		close_cq(w, 1);
	}
}

/* A thread that spins for ever never arms, nor needs an event; then it may sleep. */
static void thread_spins_for_ever(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller;

	open_cq(w, 1, 0);
	poller = w->conn[1].cq.poller;
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
	open_cq(w, 0, KDP_SPIN_FOREVER);
	for (unsigned int i = 0; i < 3; i++) {
		kdp_fake_complete(w->cq[i % NR_CQS], &w->cqe, true);
		KUNIT_ASSERT_TRUE(test, comes(&w->handled_one));
	}
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, 0);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_SLEEPS), 0);
	KUNIT_EXPECT_FALSE(test, is_asleep(poller->task));
	close_cq(w, 0);
	KUNIT_EXPECT_TRUE(test, comes_to_rest(poller->task));
}

/* --- CQs that come and go, the thread's life --------------------------------- */

static void thread_asleep_notices_a_new_cq(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller;

	open_cq(w, 0, 0);
	poller = w->conn[0].cq.poller;
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
	open_cq(w, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, w->conn[1].cq.poller, poller);
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
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
		KUNIT_EXPECT_TRUE(test, comes_to_rest(poller->task));
		kdp_fake_complete(w->cq[1], &w->cqe, false);
		KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
	}
	KUNIT_EXPECT_TRUE(test, comes_to_rest(poller->task));
	KUNIT_EXPECT_EQ(test, w->cq[0]->polls, polls);
	KUNIT_EXPECT_EQ(test, w->cq[0]->arms, arms);
	KUNIT_EXPECT_EQ(test, w->handled, 5);
	/* no assertion before this: it cannot be detached again */
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

static void pollers_are_shared_and_counted(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller, *same;

	poller = kdp_poller_get(w->cpu);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, poller);
	KUNIT_EXPECT_EQ(test, poller->users, 1);
	same = kdp_poller_get(w->cpu);
	KUNIT_EXPECT_PTR_EQ(test, same, poller);
	KUNIT_EXPECT_EQ(test, poller->users, 2);
	kdp_poller_put(same);
	KUNIT_EXPECT_EQ(test, poller->users, 1);
	KUNIT_EXPECT_PTR_EQ(test, kdp_pollers[w->cpu], poller);
	/* and it works */
	open_cq(w, 0, 0);
	KUNIT_EXPECT_EQ(test, poller->users, 2);
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
	close_cq(w, 0);
	KUNIT_EXPECT_EQ(test, poller->users, 1);
	kdp_poller_put(poller);
	KUNIT_EXPECT_NULL(test, kdp_pollers[w->cpu]);
}

static void thread_is_bound_to_its_cpu(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);
	char name[TASK_COMM_LEN];

	KUNIT_EXPECT_EQ(test, task_cpu(poller->task), w->cpu);
	KUNIT_EXPECT_EQ(test, poller->task->nr_cpus_allowed, 1);
	KUNIT_EXPECT_TRUE(test, poller->task->flags & PF_NO_SETAFFINITY);
	snprintf(name, sizeof(name), "kdp_poll/%d", w->cpu);
	KUNIT_EXPECT_STREQ(test, poller->task->comm, name);
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
	KUNIT_ASSERT_TRUE(test, comes_to_rest(poller->task));
	expect_stops(w, poller->task);
}

/* Told to stop between arming and the task state: the wake-up comes too early. */
static void thread_stops_on_its_way_to_sleep(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller = begin_thread(w);

	w->hold_at = STEP_BEFORE_STATE;
	WRITE_ONCE(w->task, poller->task);
	kdp_poller_kick(poller);
	KUNIT_ASSERT_TRUE(test, comes(&w->held));
	close_cq(w, 0);
	expect_stops(w, poller->task);
}

/* --- draining a CQ --------------------------------------------------------- */

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
	KUNIT_EXPECT_EQ(test, kdp_poller_pass(w->poller), KDP_CQ_BUDGET + 1);
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(cq), KDP_CQ_BUDGET);
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(cq), 150 - 2 * KDP_CQ_BUDGET);
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(cq), 0);
	KUNIT_EXPECT_EQ(test, w->handled, 151);
	KUNIT_EXPECT_TRUE(test, w->handled_in_bh);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_CQES), 150);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_POLLS_FULL), 3);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_POLLS_EMPTY), 1);
}

static void drain_takes_an_error_for_nothing_found(struct kunit *test)
{
	struct poller_world *w = test->priv;

	begin_model(w);
	w->cq[0]->poll_error = -EIO;
	KUNIT_EXPECT_EQ(test, kdp_cq_drain(&w->conn[0].cq), 0);
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

static struct kunit_case poller_cases[] = {
	KUNIT_CASE_PARAM(model_loses_no_completion, steps_gen_params),
	KUNIT_CASE_PARAM(model_survives_a_stray_event, steps_gen_params),
	KUNIT_CASE(model_does_not_sleep_when_kicked),
	KUNIT_CASE(model_does_not_sleep_when_arming_says_so),
	KUNIT_CASE_PARAM(thread_loses_no_completion, steps_gen_params),
	KUNIT_CASE(thread_wakes_at_every_completion),
	KUNIT_CASE(thread_that_cannot_sleep_yields),
	KUNIT_CASE_PARAM(idle_choice, idle_gen_params),
	KUNIT_CASE(spin_time_is_the_longest),
	KUNIT_CASE(thread_spins_for_ever),
	KUNIT_CASE(thread_asleep_notices_a_new_cq),
	KUNIT_CASE(thread_leaves_a_detached_cq_alone),
	KUNIT_CASE(deletion_waits_for_the_thread),
	KUNIT_CASE(pollers_are_shared_and_counted),
	KUNIT_CASE(thread_is_bound_to_its_cpu),
	KUNIT_CASE(thread_stops_while_asleep),
	KUNIT_CASE(thread_stops_on_its_way_to_sleep),
	KUNIT_CASE(drain_has_a_budget),
	KUNIT_CASE(drain_takes_an_error_for_nothing_found),
	KUNIT_CASE(cq_error_breaks_the_connection),
	{}
};

static struct kunit_suite poller_suite = {
	.name		= "kdp_poller",
	.init		= poller_test_init,
	.exit		= poller_test_exit,
	.test_cases	= poller_cases,
};

kunit_test_suite(poller_suite);
