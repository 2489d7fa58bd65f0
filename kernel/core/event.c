// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues that a soft interrupt serves (KDP_CQ_EVENT): nobody polls until the
 * device raises an event.
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

static int kdp_event_poll(struct irq_poll *irq_poll, int budget)
{
	struct kdp_cq *cq = container_of(irq_poll, struct kdp_cq, irq_poll);
	int done = kdp_cq_drain(cq, budget);

	if (done >= budget)
		return budget;
	irq_poll_complete(irq_poll);
	if (kdp_cq_arm(cq) > 0)
		irq_poll_sched(irq_poll);
	return done;
}

static void kdp_event_work(struct irq_work *work)
{
	irq_poll_sched(&container_of(work, struct kdp_cq, irq_work)->irq_poll);
}

void kdp_event_init(struct kdp_cq *cq)
{
	cq->detached = false;
	irq_poll_init(&cq->irq_poll, KDP_EVENT_BUDGET, kdp_event_poll);
	init_irq_work(&cq->irq_work, kdp_event_work);
}

static bool kdp_event_awaits_many(struct kdp_cq *cq)
{
	struct kdp_conn *conn = container_of(cq, struct kdp_conn, cq);

	return conn->ops->awaited && conn->ops->awaited(conn) > KDP_EVENT_FEW;
}

/* Any context. */
void kdp_event_raise(struct kdp_cq *cq)
{
	if (READ_ONCE(cq->detached))
		return;
	if (in_interrupt() || !arch_irq_work_has_interrupt() || kdp_event_awaits_many(cq))
		irq_poll_sched(&cq->irq_poll);
	else
		irq_work_queue(&cq->irq_work);
}

/* When this returns, nobody polls @cq any more. May sleep. */
void kdp_event_detach(struct kdp_cq *cq)
{
	WRITE_ONCE(cq->detached, true);
	irq_work_sync(&cq->irq_work);
	irq_poll_disable(&cq->irq_poll);
}

/* No event comes any more. May sleep. */
void kdp_event_destroy(struct kdp_cq *cq)
{
	irq_work_sync(&cq->irq_work);
}
