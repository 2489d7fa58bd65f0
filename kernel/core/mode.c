// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who takes a connection's completions, and how that changes while they come in.
 *
 * cq->mode says who. The event handler goes by it, and so does whoever polls for himself
 * (caller.c): each reads it and acts upon it within one RCU read-side section. It changes
 * in these steps:
 *
 *   1. get what the new mode needs and may not get, a poller: on failure nothing has changed
 *   2. mode = KDP_CQ_NONE: events and callers do nothing from now on. Completions wait in
 *	the CQ, which has room for all that there can be
 *   3. wait for RCU: nobody acts upon the old mode any more. So nobody wakes the old poller or
 *	raises the soft interrupt, and no caller polls
 *   4. end the old mode: the poller lets go of the CQ; the soft interrupt has ended. Now nobody
 *	polls, and nobody has the old poller
 *   5. mode = the new one; a full barrier
 *   6. have the CQ looked at: the new poller is woken, or the CQ is armed and what it reports
 *	as missed is taken. Where only callers poll, they look by themselves
 *
 * Why two contexts never handle completions at once: one mode has ended (4) before the next
 * begins (5), and each has but one context at a time: the poller's thread, or whoever has
 * KDP_CQ_BUSY, be it the soft interrupt or a caller.
 *
 * Why no completion is lost. Of the two, the event handler and step 6, one sees what
 * the other did:
 *
 *	device, event handler		change
 *	completion			mode = the new one
 *	full barrier			full barrier
 *	read the mode			look at the CQ, or have it looked at
 *
 * Either the handler finds the new mode and acts, or step 6 finds the completion, or both.
 * A completion that comes after step 6 armed the CQ raises an event anew. And from arming on
 * each mode has a protocol of its own: poller.c, event.c, caller.c.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "internal.h"

/* The CQ's event handler. Any context. */
void kdp_mode_event(struct kdp_cq *cq)
{
	smp_mb();	/* see above, and caller.c */
	rcu_read_lock();
	/* pairs with kdp_mode_begin(): what the mode needs is there */
	switch (smp_load_acquire(&cq->mode)) {
	case KDP_CQ_THREAD:
		kdp_poller_kick(cq->poller);
		break;
	case KDP_CQ_CALLER:
		if (atomic_read(&cq->callers))
			break;
		fallthrough;
	case KDP_CQ_EVENT:
		kdp_event_raise(cq);
		break;
	case KDP_CQ_POLLED:
	case KDP_CQ_NONE:
		break;
	}
	rcu_read_unlock();
}

/* Steps 2 to 4: when this returns, nobody serves @cq. May sleep. */
void kdp_mode_end(struct kdp_cq *cq)
{
	enum kdp_cq_mode old = cq->mode;

	if (old == KDP_CQ_NONE)
		return;
	WRITE_ONCE(cq->mode, KDP_CQ_NONE);
	/* expedited: an administrator or the end of a connection waits, queue by queue */
	synchronize_rcu_expedited();
	switch (old) {
	case KDP_CQ_THREAD:
		kdp_poller_del(cq->poller, cq);
		kdp_poller_put(cq->poller);
		cq->poller = NULL;
		break;
	case KDP_CQ_EVENT:
	case KDP_CQ_CALLER:
		kdp_event_end(cq);
		break;
	default:
		break;
	}
}

/* Steps 5 and 6. */
static void kdp_mode_begin(struct kdp_cq *cq, enum kdp_cq_mode mode, s32 spin_us,
			   struct kdp_poller *poller)
{
	cq->poller = poller;
	WRITE_ONCE(cq->spin_us, spin_us);
	kdp_event_begin(cq);
	kdp_caller_begin(cq);
	/* pairs with kdp_mode_event() and kdp_caller_enter() */
	smp_store_release(&cq->mode, mode);
	smp_mb();	/* see above */
	switch (mode) {
	case KDP_CQ_THREAD:
		kdp_poller_add(poller, cq);
		break;
	case KDP_CQ_EVENT:
	case KDP_CQ_CALLER:
		local_bh_disable();
		kdp_event_arm(cq);
		local_bh_enable();
		break;
	default:
		break;
	}
}

int kdp_conn_set_mode(struct kdp_conn *conn, enum kdp_cq_mode mode, s32 spin_us)
{
	struct kdp_poller *poller = NULL;
	struct kdp_cq *cq = &conn->cq;

	if (mode == cq->mode) {
		if (mode == KDP_CQ_THREAD)
			kdp_poller_respin(cq->poller, cq, spin_us);
		else
			WRITE_ONCE(cq->spin_us, spin_us);
	} else {
		if (mode == KDP_CQ_THREAD) {
			poller = kdp_poller_get(conn->params.cpu);
			if (IS_ERR(poller))
				return PTR_ERR(poller);
		}
		kdp_mode_end(cq);
		kdp_mode_begin(cq, mode, spin_us, poller);
	}
	conn->params.cq_mode = mode;
	conn->params.spin_us = spin_us;
	return 0;
}
EXPORT_SYMBOL_GPL(kdp_conn_set_mode);

void kdp_conn_stop_polling(struct kdp_conn *conn)
{
	if (conn->cq.mode != KDP_CQ_POLLED)
		return;
	/* the thread, since its bottom halves are enabled: see kdp_cq_handle() */
	if (kdp_conn_set_mode(conn, KDP_CQ_THREAD, 0))
		kdp_conn_set_mode(conn, KDP_CQ_EVENT, 0);	/* cannot fail */
}
EXPORT_SYMBOL_GPL(kdp_conn_stop_polling);
