// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues that a soft interrupt serves (KDP_CQ_EVENT, and KDP_CQ_CALLER while nobody
 * polls): nobody polls until the device raises an event.
 *
 * A device in hardware raises it in its interrupt handler, and the soft interrupt
 * follows at once. A device in software may raise it in a thread; there a soft interrupt
 * is left to ksoftirqd, two context switches away. When few completions are awaited, an
 * interrupt to oneself (irq_work) brings it about at once, where the CPU can do that. When
 * many are, ksoftirqd is in time for several.
 *
 * Why no event is lost. The soft interrupt takes what is there; when it found less than
 * its budget it lets go of the CQ, then arms it and asks for what it missed: a
 * completion that came after the last poll schedules it again. One that comes later
 * raises an event, which finds the CQ let go.
 */
#include <linux/interrupt.h>

#include "internal.h"

/* Completions that are taken before other soft interrupts have their turn. */
#define KDP_EVENT_BUDGET	64

/* Up to so many awaited completions are taken one by one, for the latency. */
#define KDP_EVENT_FEW		2

/* Returns whether there is something already. */
static bool kdp_event_missed(struct kdp_cq *cq)
{
	return kdp_cq_arm(cq) > 0;
}

static int kdp_event_poll(struct irq_poll *irq_poll, int budget)
{
	struct kdp_cq *cq = container_of(irq_poll, struct kdp_cq, irq_poll);
	int done;

	/* somebody who polls for himself arms the CQ when he leaves: caller.c */
	if (!kdp_cq_trylock(cq)) {
		irq_poll_complete(irq_poll);
		return 0;
	}
	done = kdp_cq_drain(cq, budget);
	kdp_cq_unlock(cq);
	if (done >= budget)
		return budget;
	irq_poll_complete(irq_poll);
	if (kdp_event_missed(cq))
		irq_poll_sched(irq_poll);
	return done;
}

static void kdp_event_work(struct irq_work *work)
{
	irq_poll_sched(&container_of(work, struct kdp_cq, irq_work)->irq_poll);
}

/* Nobody serves @cq. */
void kdp_event_begin(struct kdp_cq *cq)
{
	irq_poll_init(&cq->irq_poll, KDP_EVENT_BUDGET, kdp_event_poll);
	init_irq_work(&cq->irq_work, kdp_event_work);
}

static bool kdp_event_awaits_many(struct kdp_cq *cq)
{
	struct kdp_conn *conn = container_of(cq, struct kdp_conn, cq);

	return conn->ops->awaited && conn->ops->awaited(conn) > KDP_EVENT_FEW;
}

/* Any context, between begin and end. */
void kdp_event_raise(struct kdp_cq *cq)
{
	if (in_interrupt() || !arch_irq_work_has_interrupt() || kdp_event_awaits_many(cq))
		irq_poll_sched(&cq->irq_poll);
	else
		irq_work_queue(&cq->irq_work);
}

/* Arm @cq, and have what is there already taken: at once, where bottom halves are disabled. */
void kdp_event_arm(struct kdp_cq *cq)
{
	if (kdp_event_missed(cq))
		irq_poll_sched(&cq->irq_poll);
}

/* When this returns, the soft interrupt is off @cq; nobody raises it any more. May sleep. */
void kdp_event_end(struct kdp_cq *cq)
{
	irq_work_sync(&cq->irq_work);
	irq_poll_disable(&cq->irq_poll);
}
