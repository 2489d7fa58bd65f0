// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completions that are taken by whoever waits for them (KDP_CQ_CALLER, KDP_CQ_POLLED).
 *
 * A caller polls in short visits, each with KDP_CQ_BUSY held: one visitor at a time, the
 * others do not wait but come again. Bottom halves are disabled, unless the CQ is a polled
 * one (kdp_cq_handle()). In a visit he handles whatever there is, for others too.
 *
 * A CQ in mode KDP_CQ_POLLED is never armed: that is all. In mode KDP_CQ_CALLER the soft
 * interrupt serves it while nobody polls. A caller enters (cq->callers), visits again and
 * again, and leaves; while somebody is in, events do nothing. Who leaves last arms the
 * CQ and has what is there taken by the soft interrupt.
 *
 * Why no completion is lost:
 *
 *	device, event handler		who leaves last
 *	completion			cq->callers becomes 0
 *	full barrier			(which is one)
 *	read cq->callers		arm, and ask for what was missed
 *
 * Either the handler finds nobody in and raises the soft interrupt, or the completion is
 * reported as missed. And a soft interrupt that finds the CQ busy gives up, because the visitor is
 * in and has yet to leave.
 *
 * The mode may change, or the connection end, while a caller is in, and he may not
 * notice for long, preempted as he may be. So each period of a mode is a term with a number
 * of its own: what he finds changed by his next visit he does not touch. He cannot be in
 * the middle of a visit: those are RCU read-side sections, see mode.c.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "internal.h"

/* Of all CQs, so that memory that was used for another connection has another. */
static atomic_long_t kdp_terms;

struct kdp_caller {
	unsigned long	term;
	s32		spin_us;
};

/* A term begins; nobody is in. */
void kdp_caller_begin(struct kdp_cq *cq)
{
	atomic_set(&cq->callers, 0);
	cq->term = atomic_long_inc_return(&kdp_terms);
}

static int kdp_caller_try_drain(struct kdp_cq *cq)
{
	int n;

	if (!kdp_cq_trylock(cq))
		return -EBUSY;
	n = kdp_cq_drain(cq, KDP_CQ_BATCH);
	kdp_cq_unlock(cq);
	return n;
}

/* Within an RCU read-side section. A polled CQ has no soft interrupt to be kept out. */
static int kdp_caller_visit(struct kdp_cq *cq)
{
	int n;

	if (cq->polled)
		return kdp_caller_try_drain(cq);
	local_bh_disable();
	n = kdp_caller_try_drain(cq);
	local_bh_enable();
	return n;
}

int kdp_conn_poll(struct kdp_conn *conn)
{
	struct kdp_cq *cq = &conn->cq;
	int n = 0;

	rcu_read_lock();
	/* pairs with kdp_mode_begin() */
	if (smp_load_acquire(&cq->mode) == KDP_CQ_POLLED)
		n = kdp_caller_visit(cq);
	rcu_read_unlock();
	return n;
}
EXPORT_SYMBOL_GPL(kdp_conn_poll);

void kdp_give_way(void)
{
	if (kdp_idle(KDP_SPIN_FOREVER, 0) == KDP_IDLE_YIELD)
		schedule();	/* still runnable: the others first */
}
EXPORT_SYMBOL_GPL(kdp_give_way);

static bool kdp_caller_enter(struct kdp_cq *cq, struct kdp_caller *caller)
{
	bool in = false;

	rcu_read_lock();
	/* pairs with kdp_mode_begin() */
	switch (smp_load_acquire(&cq->mode)) {
	case KDP_CQ_POLLED:
		caller->spin_us = KDP_SPIN_FOREVER;
		in = true;
		break;
	case KDP_CQ_CALLER:
		caller->spin_us = READ_ONCE(cq->spin_us);
		in = caller->spin_us != 0;
		if (in)
			atomic_inc(&cq->callers);
		break;
	default:
		break;
	}
	if (in)
		caller->term = cq->term;
	rcu_read_unlock();
	return in;
}

/* Is it still the term in which he came? Within an RCU read-side section. */
static bool kdp_caller_is_in(struct kdp_cq *cq, const struct kdp_caller *caller)
{
	/* pairs with kdp_mode_begin() */
	enum kdp_cq_mode mode = smp_load_acquire(&cq->mode);

	return (mode == KDP_CQ_CALLER || mode == KDP_CQ_POLLED) && cq->term == caller->term;
}

/* Returns false when he need not come again. */
static bool kdp_caller_try(struct kdp_cq *cq, const struct kdp_caller *caller)
{
	bool in;

	rcu_read_lock();
	in = kdp_caller_is_in(cq, caller);
	if (in)
		kdp_caller_visit(cq);
	rcu_read_unlock();
	return in;
}

static void kdp_caller_leave(struct kdp_cq *cq, const struct kdp_caller *caller, bool sleeps)
{
	local_bh_disable();	/* the soft interrupt follows at once */
	rcu_read_lock();
	if (kdp_caller_is_in(cq, caller) && cq->mode == KDP_CQ_CALLER) {
		if (sleeps)
			this_cpu_inc(cq->stats->v[KDP_CS_SLEEPS]);
		/* a full barrier: see above */
		if (atomic_dec_and_test(&cq->callers))
			kdp_event_arm(cq);
	}
	rcu_read_unlock();
	local_bh_enable();
}

void kdp_conn_spin(struct kdp_conn *conn, struct completion *done)
{
	struct kdp_cq *cq = &conn->cq;
	struct kdp_caller caller;
	enum kdp_idle idle = KDP_IDLE_SPIN;
	u64 since;

	if (!kdp_caller_enter(cq, &caller))
		return;
	since = ktime_get_ns();
	while (idle != KDP_IDLE_SLEEP && kdp_caller_try(cq, &caller) && !completion_done(done)) {
		idle = kdp_idle(caller.spin_us, since);
		if (idle == KDP_IDLE_YIELD)
			schedule();	/* still runnable: the others first */
		else
			cpu_relax();
	}
	kdp_caller_leave(cq, &caller, !completion_done(done));
}
EXPORT_SYMBOL_GPL(kdp_conn_spin);
