// SPDX-License-Identifier: GPL-2.0-only
/*
 * Poller threads: one a CPU that has CQs to serve, named kdp_poll/<cpu>. It runs there
 * unless an administrator puts it elsewhere (taskset).
 *
 * A thread polls its CQs in turn. After the last completion it goes on spinning
 * for the longest spin time that one of its CQs asks for, as long as it is alone
 * on its CPU (a provider in software needs the CPU to make progress); then it arms
 * every CQ and sleeps. A thread that spins for ever does not sleep but yields.
 *
 * Why no wake-up is lost. The thread, in this order:
 *   1. clears ->kicked
 *   2. arms each CQ with IB_CQ_REPORT_MISSED_EVENTS: a completion that came after
 *      the last poll is reported, and the thread polls again instead of sleeping;
 *      one that comes later raises an event
 *   3. sets its task state (a full barrier)
 *   4. sleeps unless ->kicked is set
 * The event handler sets ->kicked, then wakes the thread. So either step 4 sees
 * ->kicked, or the wake-up finds the task state of step 3 and undoes it.
 *
 * Only the thread polls a CQ, hence completions of one CQ are handled one at a
 * time. They are handled with bottom halves disabled: a handler may not sleep, and
 * soft interrupts that it raises (blk-mq) run when a batch is through.
 */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "internal.h"

/* Completions of one CQ that are taken before the others have their turn. */
#define KDP_POLLER_BUDGET	64

struct kdp_poller {
	struct task_struct	*task;
	int			cpu;
	unsigned int		users;		/* under kdp_pollers_lock */
	bool			kicked;
	struct mutex		lock;		/* cqs, spin_us; held while the CQs are polled */
	struct list_head	cqs;
	s32			spin_us;	/* the longest of the CQs' */
};

static struct kdp_poller *kdp_pollers[NR_CPUS];
static DEFINE_MUTEX(kdp_pollers_lock);

static unsigned int kdp_poller_pass(struct kdp_poller *poller)
{
	unsigned int found = 0;
	struct kdp_cq *cq;

	mutex_lock(&poller->lock);
	list_for_each_entry(cq, &poller->cqs, entry)
		found += kdp_cq_drain(cq, KDP_POLLER_BUDGET);
	mutex_unlock(&poller->lock);
	return found;
}

/*
 * @idle_since: ktime_get_ns(). Whether somebody else wants the CPU is a hint: a task that may
 * run on several may have been moved since it looked.
 */
enum kdp_idle kdp_idle(s32 spin_us, u64 idle_since)
{
	bool alone = single_task_running() && !need_resched();

	if (spin_us < 0)
		return alone ? KDP_IDLE_SPIN : KDP_IDLE_YIELD;
	if (!alone || ktime_get_ns() - idle_since >= (u64)spin_us * NSEC_PER_USEC)
		return KDP_IDLE_SLEEP;
	return KDP_IDLE_SPIN;
}

static void kdp_poller_sleep(struct kdp_poller *poller)
{
	struct kdp_cq *cq;
	bool missed = false;

	WRITE_ONCE(poller->kicked, false);
	mutex_lock(&poller->lock);
	list_for_each_entry(cq, &poller->cqs, entry)
		missed |= kdp_cq_arm(cq) != 0;
	if (!missed) {
		list_for_each_entry(cq, &poller->cqs, entry)
			this_cpu_inc(cq->stats->v[KDP_CS_SLEEPS]);
	}
	mutex_unlock(&poller->lock);
	if (missed)
		return;

	set_current_state(TASK_IDLE);
	if (!READ_ONCE(poller->kicked) && !kthread_should_stop())
		schedule();
	__set_current_state(TASK_RUNNING);
}

static int kdp_poller_main(void *data)
{
	struct kdp_poller *poller = data;
	u64 idle_since = ktime_get_ns();

	while (!kthread_should_stop()) {
		if (kdp_poller_pass(poller)) {
			idle_since = ktime_get_ns();
			cond_resched();
			continue;
		}
		switch (kdp_idle(READ_ONCE(poller->spin_us), idle_since)) {
		case KDP_IDLE_SPIN:
			cpu_relax();
			break;
		case KDP_IDLE_YIELD:
			schedule();	/* still runnable: the others first */
			break;
		case KDP_IDLE_SLEEP:
			kdp_poller_sleep(poller);
			cond_resched();		/* if there was a reason not to */
			idle_since = ktime_get_ns();
			break;
		}
	}
	return 0;
}

/* From the CQ's event handler: any context. */
void kdp_poller_kick(struct kdp_poller *poller)
{
	WRITE_ONCE(poller->kicked, true);
	wake_up_process(poller->task);
}

static void kdp_poller_update_spin(struct kdp_poller *poller)
{
	struct kdp_cq *cq;
	s32 spin_us = 0;

	lockdep_assert_held(&poller->lock);
	list_for_each_entry(cq, &poller->cqs, entry) {
		if (cq->spin_us < 0) {
			spin_us = KDP_SPIN_FOREVER;
			break;
		}
		spin_us = max(spin_us, cq->spin_us);
	}
	WRITE_ONCE(poller->spin_us, spin_us);
}

void kdp_poller_add(struct kdp_poller *poller, struct kdp_cq *cq)
{
	mutex_lock(&poller->lock);
	list_add_tail(&cq->entry, &poller->cqs);
	kdp_poller_update_spin(poller);
	mutex_unlock(&poller->lock);
	/* a sleeping thread has not armed this CQ */
	kdp_poller_kick(poller);
}

/* When this returns, the thread does not touch @cq any more. */
void kdp_poller_del(struct kdp_poller *poller, struct kdp_cq *cq)
{
	mutex_lock(&poller->lock);
	list_del(&cq->entry);
	kdp_poller_update_spin(poller);
	mutex_unlock(&poller->lock);
}

/* Another spin time for @cq. */
void kdp_poller_respin(struct kdp_poller *poller, struct kdp_cq *cq, s32 spin_us)
{
	mutex_lock(&poller->lock);
	WRITE_ONCE(cq->spin_us, spin_us);
	kdp_poller_update_spin(poller);
	mutex_unlock(&poller->lock);
	/* a sleeping thread may have to spin now */
	kdp_poller_kick(poller);
}

struct kdp_poller *kdp_poller_get(int cpu)
{
	struct kdp_poller *poller;
	struct task_struct *task;

	mutex_lock(&kdp_pollers_lock);
	poller = kdp_pollers[cpu];
	if (poller) {
		poller->users++;
		goto out;
	}
	poller = kzalloc(sizeof(*poller), GFP_KERNEL);
	if (!poller) {
		poller = ERR_PTR(-ENOMEM);
		goto out;
	}
	poller->cpu = cpu;
	poller->users = 1;
	mutex_init(&poller->lock);
	INIT_LIST_HEAD(&poller->cqs);
	task = kthread_create_on_node(kdp_poller_main, poller, cpu_to_node(cpu), "kdp_poll/%d",
				      cpu);
	if (IS_ERR(task)) {
		kfree(poller);
		poller = ERR_CAST(task);
		goto out;
	}
	/* its place to begin with: unlike with kthread_bind(), an administrator may choose another */
	set_cpus_allowed_ptr(task, cpumask_of(cpu));
	poller->task = task;
	kdp_pollers[cpu] = poller;
	wake_up_process(task);
out:
	mutex_unlock(&kdp_pollers_lock);
	return poller;
}

/* No CQ of the caller is on the poller's list, or can raise an event, any more. */
void kdp_poller_put(struct kdp_poller *poller)
{
	mutex_lock(&kdp_pollers_lock);
	if (--poller->users == 0) {
		kdp_pollers[poller->cpu] = NULL;
		kthread_stop(poller->task);
		WARN_ON(!list_empty(&poller->cqs));
		kfree(poller);
	}
	mutex_unlock(&kdp_pollers_lock);
}
