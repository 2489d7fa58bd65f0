// SPDX-License-Identifier: GPL-2.0-only
/* What poller.c and cq.c, included below, are tested in (poller_world.h). */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "fault.h"
#include "poller_world.h"

/* An event that is lost never comes; one that is not may be late on a slow machine. */
#define PATIENCE	(10 * HZ)

struct poller_world *world;

/* --- steps ------------------------------------------------------------------- */

const char * const step_names[STEP_NR] = {
	[STEP_POLLED]		= "polled, nothing found",
	[STEP_CLEARED]		= "kicked cleared, nothing armed",
	[STEP_ARMED_FIRST]	= "first CQ armed",
	[STEP_ARMED_ALL]	= "all CQs armed",
	[STEP_BEFORE_STATE]	= "unlocked, before the task state",
	[STEP_AFTER_STATE]	= "task state set, before looking at kicked",
	[STEP_SCHEDULE]		= "about to sleep",
	[STEP_WOKEN]		= "woken",
};

void describe_step(const char * const *name, char *text)
{
	strscpy(text, *name, KUNIT_PARAM_DESC_SIZE);
}

enum step step_of(const struct kunit *test)
{
	return (const char * const *)test->param_value - step_names;
}

void arrange(struct poller_world *w, struct kdp_fake_cq *target, enum step complete_at,
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

void at_fake_cq(struct kdp_fake_cq *cq, enum kdp_fake_at at)
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

/* The same for who changes a mode; a step that this change does not have is at the next. */
void mode_at(enum mode_step step)
{
	struct poller_world *w = world;

	if (!w || READ_ONCE(w->changer) != current)
		return;
	w->steps |= BIT(step);
	if (step == MODE_NOBODY)
		w->between = w->conn[0].cq.mode;
	if (step >= w->completes_at && !w->completed) {
		w->completed = true;
		kdp_fake_complete(w->target, &w->cqe, true);
	}
	if (step >= w->delivers_at && w->completed && !w->delivered) {
		w->delivered = true;
		kdp_fake_deliver(w->target);
	}
}

/* --- what is tested ---------------------------------------------------------- */

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

/* While the mode changes, see mode_at(). */
static void test_synchronize_rcu(void)
{
	mode_at(MODE_NOBODY);
	synchronize_rcu_expedited();
	mode_at(MODE_WAITED);
}

static void test_irq_poll_disable(struct irq_poll *irq_poll)
{
	mode_at(MODE_ENDING);
	irq_poll_disable(irq_poll);
	mode_at(MODE_ENDED);
}

#undef set_current_state
#define set_current_state(state)	test_set_current_state(state)
#undef cond_resched
#define cond_resched()			test_cond_resched()
#define schedule()			test_schedule()
#define single_task_running()		test_single_task_running()
#define need_resched()			test_need_resched()
#define ktime_get_ns()			test_ktime_get_ns()
#define synchronize_rcu_expedited()	test_synchronize_rcu()
#define irq_poll_disable(irq_poll)	test_irq_poll_disable(irq_poll)
#define kthread_create_on_node(...) \
	(world->no_threads ? ERR_PTR(-ENOMEM) : kthread_create_on_node(__VA_ARGS__))
/* those of kdp_core are exported */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)	static_assert(true, #symbol)

/* stats.c's */
DEFINE_STATIC_KEY_FALSE(kdp_provider_timed);

#include "poller.c"
#include "cq.c"
#include "event.c"
#include "caller.c"
#include "mode.c"

#undef kthread_create_on_node
#undef irq_poll_disable
#undef synchronize_rcu_expedited
#undef ktime_get_ns
#undef need_resched
#undef single_task_running
#undef schedule

/* cm.c's */
void kdp_conn_break(struct kdp_conn *conn, const char *why)
{
	world->broken = why;
}

/* What else is static there, for other files. */

unsigned int poller_pass(struct kdp_poller *poller)
{
	return kdp_poller_pass(poller);
}

void poller_sleep(struct kdp_poller *poller)
{
	kdp_poller_sleep(poller);
}

const char *poller_idle(s32 spin_us, u64 idle_since)
{
	static const char * const names[] = {
		[KDP_IDLE_SPIN]		= "spin",
		[KDP_IDLE_YIELD]	= "yield",
		[KDP_IDLE_SLEEP]	= "sleep",
	};

	return names[kdp_idle(spin_us, idle_since)];
}

struct kdp_poller *poller_of_cpu(int cpu)
{
	return kdp_pollers[cpu];
}

struct task_struct *poller_task(const struct kdp_poller *poller)
{
	return poller->task;
}

unsigned int poller_users(const struct kdp_poller *poller)
{
	return poller->users;
}

s32 poller_spin_us(const struct kdp_poller *poller)
{
	return poller->spin_us;
}

bool caller_enter(struct kdp_cq *cq, struct caller *caller)
{
	struct kdp_caller in = {};
	bool may = kdp_caller_enter(cq, &in);

	caller->term = in.term;
	return may;
}

void caller_visit(struct kdp_cq *cq)
{
	kdp_caller_visit(cq);
}

void caller_leave(struct kdp_cq *cq, const struct caller *caller)
{
	const struct kdp_caller in = { .term = caller->term };

	kdp_caller_leave(cq, &in, false);
}

unsigned int cq_budget(void)
{
	return KDP_POLLER_BUDGET;
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

int poller_world_init(struct kunit *test)
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

static void conn_handled(struct kdp_conn *conn)
{
	world->batches++;
}

static const struct kdp_conn_ops conn_ops = {
	.handled	= conn_handled,
};

void open_cq(struct poller_world *w, unsigned int i, s32 spin_us)
{
	open_cq_in(w, i, KDP_CQ_THREAD, spin_us);
}

void open_cq_in(struct poller_world *w, unsigned int i, enum kdp_cq_mode mode, s32 spin_us)
{
	w->conn[i].ops = &conn_ops;
	w->conn[i].params.cq_mode = mode;
	w->conn[i].params.spin_us = spin_us;
	KUNIT_ASSERT_EQ(w->test, kdp_cq_create(&w->conn[i], KDP_FAKE_CQES), 0);
	w->cq[i] = to_kdp_fake_cq(w->conn[i].cq.ib);
}

void close_cq(struct poller_world *w, unsigned int i)
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

void begin_close(struct poller_world *w, unsigned int i)
{
	w->closes = i;
	schedule_work(&w->work);
}

void poller_world_exit(struct kunit *test)
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

void begin_model(struct poller_world *w)
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

bool comes(struct completion *what)
{
	if (wait_for_completion_timeout(what, patience))
		return true;
	patience = HZ;
	return false;
}

bool is_asleep(struct task_struct *task)
{
	return READ_ONCE(task->__state) == TASK_IDLE && !READ_ONCE(task->on_rq);
}

bool comes_to_rest(struct task_struct *task)
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

struct kdp_poller *begin_thread(struct poller_world *w)
{
	struct kdp_poller *poller;

	for (unsigned int i = 0; i < NR_CQS; i++)
		open_cq(w, i, 0);
	poller = w->conn[0].cq.poller;
	KUNIT_ASSERT_TRUE(w->test, comes_to_rest(poller->task));
	return poller;
}

u64 stat_of(const struct poller_world *w, unsigned int i, enum kdp_conn_stat stat)
{
	u64 sum[KDP_CS_NR] = {};
	int cpu;

	for_each_possible_cpu(cpu)
		sum[stat] += per_cpu_ptr(w->conn[i].stats, cpu)->v[stat];
	return sum[stat];
}
