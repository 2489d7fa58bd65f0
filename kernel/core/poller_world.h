/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of poller.c, cq.c, event.c, caller.c and mode.c: what they run in, a fake device
 * and a machine whose scheduler the test has a hand in.
 *
 * What may go wrong between polling and sleeping goes wrong when something happens
 * at one certain place. So the thread calls at_step() wherever it is, and there the
 * test has a work request complete. The places are reached through the fake CQ
 * (polling, arming) and through what poller.c calls of the scheduler, which is
 * renamed for it: the tested code has no hook and is what kdp_core is made of.
 *
 * Each such event is tried twice: in a model, where the test plays the thread and
 * going to sleep is a call that tells whether it would have been for ever
 * (poller_model_test.c); and in a poller thread that really sleeps
 * (poller_thread_test.c).
 *
 * What one CPU sees of another's stores is beyond these tests: what happens at a step
 * happens on the thread's own CPU. (Barriers: see the top of poller.c.)
 */
#ifndef KDP_POLLER_WORLD_H
#define KDP_POLLER_WORLD_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "fake_ib.h"
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

/* While a mode changes, in this order; see mode.c. */
enum mode_step {
	MODE_BEFORE,
	MODE_NOBODY,		/* no RCU grace period since the old mode is gone */
	MODE_WAITED,		/* there was one */
	MODE_ENDING,		/* the soft interrupt may still run */
	MODE_ENDED,
	MODE_NEW,		/* the new mode is to be seen, the CQ not armed */
	MODE_ARMED,
	MODE_AFTER,
	MODE_STEPS
};

#define NR_CQS		2

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

	/* the same for whoever changes a mode; @target is not NULL */
	struct task_struct	*changer;
	enum mode_step		completes_at;
	enum mode_step		delivers_at;
	unsigned long		steps;		/* reached */
	enum kdp_cq_mode	between;	/* what is to be seen while waiting for RCU */
	bool			no_threads;	/* there is no memory for one */

	/* of the model */
	struct kdp_poller	*poller;
	unsigned int		slept;
	bool			lost;		/* it went to sleep with work to do */

	/* completions of the tests */
	struct ib_cqe		cqe;
	unsigned int		handled;
	unsigned int		batches;
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

/* The one of the test that runs. */
extern struct poller_world *world;

int poller_world_init(struct kunit *test);
void poller_world_exit(struct kunit *test);

/* CQ @i of @spin_us, with the poller of w->cpu. */
void open_cq(struct poller_world *w, unsigned int i, s32 spin_us);
void open_cq_in(struct poller_world *w, unsigned int i, enum kdp_cq_mode mode, s32 spin_us);
void close_cq(struct poller_world *w, unsigned int i);
/* The same by somebody else, who may have to wait; then w->closed. */
void begin_close(struct poller_world *w, unsigned int i);

/* Both CQs are served by the test itself, which is w->poller's thread. */
void begin_model(struct poller_world *w);
/* Both CQs are served by a thread, which sleeps when this returns. */
struct kdp_poller *begin_thread(struct poller_world *w);

/* For KUNIT_ARRAY_PARAM(): a case for each step. */
extern const char * const step_names[STEP_NR];
void describe_step(const char * const *name, char *text);
enum step step_of(const struct kunit *test);

/*
 * A work request completes on @target at one step, the event is delivered at the same or a
 * later one (STEP_NR: in the sleep of the model); for w->task, and CQs whose ->at is this.
 */
void arrange(struct poller_world *w, struct kdp_fake_cq *target, enum step complete_at,
	     enum step deliver_at);
void at_fake_cq(struct kdp_fake_cq *cq, enum kdp_fake_at at);
void mode_at(enum mode_step step);

/* Waiting, with patience. */
bool comes(struct completion *what);
bool comes_to_rest(struct task_struct *task);
/* Fully asleep, not on its way. */
bool is_asleep(struct task_struct *task);

u64 stat_of(const struct poller_world *w, unsigned int i, enum kdp_conn_stat stat);

/* What is static there: the only copy of those files is poller_world.c's. */
unsigned int poller_pass(struct kdp_poller *poller);
void poller_sleep(struct kdp_poller *poller);
const char *poller_idle(s32 spin_us, u64 idle_since);	/* "spin", "yield" or "sleep" */
struct kdp_poller *poller_of_cpu(int cpu);
struct task_struct *poller_task(const struct kdp_poller *poller);
unsigned int poller_users(const struct kdp_poller *poller);
s32 poller_spin_us(const struct kdp_poller *poller);
unsigned int cq_budget(void);
struct caller {
	unsigned long	term;
};
bool caller_enter(struct kdp_cq *cq, struct caller *caller);
void caller_visit(struct kdp_cq *cq);
void caller_leave(struct kdp_cq *cq, const struct caller *caller);

#endif /* KDP_POLLER_WORLD_H */
