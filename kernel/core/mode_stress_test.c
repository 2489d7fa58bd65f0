// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit test of mode.c, caller.c, event.c and poller.c together: modes change while a device
 * completes work requests and callers wait for them, all in threads of their own. Each work
 * request must be handled, once, by one context at a time, and every mode gets on.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>

#include "poller_world.h"

#define NR_WRS		64
#define NR_CALLERS	2
#define NR_CHANGES	80
#define PROGRESS	(NR_WRS / 4)	/* handled in each mode before the next */

struct stress_wr {
	struct ib_cqe		cqe;
	atomic_t		out;	/* completed and not handled */
};

struct stress {
	struct poller_world	*w;
	struct stress_wr	wrs[NR_WRS];
	atomic_t		handled;
	atomic_t		twice;		/* handled without having been completed */
	atomic_t		inside;		/* contexts that poll or handle */
	atomic_t		crowds;		/* more than one of them */
	struct completion	waits[NR_CALLERS];
	unsigned int		completed;	/* by the device's thread */
};

static struct stress *stress;

static void come_in(struct stress *s)
{
	if (atomic_inc_return(&s->inside) != 1)
		atomic_inc(&s->crowds);
}

static void go_out(struct stress *s)
{
	atomic_dec(&s->inside);
}

static void polling(struct kdp_fake_cq *cq, enum kdp_fake_at at)
{
	if (at == KDP_FAKE_POLL_BEGIN)
		come_in(stress);
	else if (at == KDP_FAKE_POLL_END)
		go_out(stress);
}

static void wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct stress_wr *wr = container_of(wc->wr_cqe, struct stress_wr, cqe);
	struct stress *s = stress;

	come_in(s);
	if (atomic_xchg(&wr->out, 0) != 1)
		atomic_inc(&s->twice);
	atomic_inc(&s->handled);
	for (unsigned int i = 0; i < NR_CALLERS; i++)
		complete(&s->waits[i]);
	go_out(s);
}

/* Events come at once, or after the next completion, or much later. */
static int device_main(void *data)
{
	struct stress *s = data;
	struct kdp_fake_cq *cq = s->w->cq[0];
	unsigned int next = 0;

	while (!kthread_should_stop()) {
		struct stress_wr *wr = &s->wrs[next % NR_WRS];

		if (!atomic_cmpxchg(&wr->out, 0, 1)) {
			next++;
			s->completed++;
			kdp_fake_complete(cq, &wr->cqe, get_random_u32_below(2));
		} else {
			kdp_fake_deliver(cq);
			usleep_range(50, 100);
		}
		if (!get_random_u32_below(4))
			usleep_range(10, 200);
	}
	kdp_fake_deliver(cq);
	return 0;
}

static int caller_main(void *data)
{
	struct completion *wait = data;

	while (!kthread_should_stop()) {
		reinit_completion(wait);
		kdp_conn_spin(&stress->w->conn[0], wait);
		usleep_range(10, 100);
	}
	return 0;
}

static bool gets_on(struct stress *s)
{
	int want = atomic_read(&s->handled) + PROGRESS;
	unsigned long end = jiffies + 10 * HZ;

	while (atomic_read(&s->handled) < want) {
		if (time_after(jiffies, end))
			return false;
		usleep_range(100, 200);
	}
	return true;
}

static void change_at_random(struct stress *s)
{
	static const s32 spins[] = { 0, 20, 200, KDP_SPIN_FOREVER };
	struct kunit *test = s->w->test;

	for (unsigned int i = 0; i < NR_CHANGES; i++) {
		enum kdp_cq_mode mode = KDP_CQ_THREAD + get_random_u32_below(4);
		s32 spin_us = spins[get_random_u32_below(ARRAY_SIZE(spins))];

		KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&s->w->conn[0], mode, spin_us), 0);
		if (!gets_on(s)) {
			KUNIT_FAIL(test, "change %u, to mode %u with spin %d: stuck after %d of %u",
				   i, mode, spin_us, atomic_read(&s->handled), s->completed);
			return;
		}
	}
}

static void modes_change_under_load(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct task_struct *device, *callers[NR_CALLERS];
	struct stress *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->w = w;
	stress = s;
	for (unsigned int i = 0; i < NR_WRS; i++)
		s->wrs[i].cqe.done = wr_done;
	open_cq_in(w, 0, KDP_CQ_EVENT, 0);
	w->cq[0]->at = polling;

	for (unsigned int i = 0; i < NR_CALLERS; i++) {
		init_completion(&s->waits[i]);
		callers[i] = kthread_run(caller_main, &s->waits[i], "kdp_test_caller");
	}
	device = kthread_run(device_main, s, "kdp_test_device");
	KUNIT_EXPECT_FALSE(test, IS_ERR(device));
	if (!IS_ERR(device))
		change_at_random(s);
	/* who waits needs the device to get away */
	for (unsigned int i = 0; i < NR_CALLERS; i++)
		if (!IS_ERR(callers[i]))
			kthread_stop(callers[i]);
	if (!IS_ERR(device))
		kthread_stop(device);

	KUNIT_EXPECT_EQ(test, kdp_conn_set_mode(&w->conn[0], KDP_CQ_POLLED, 0), 0);
	while (kdp_conn_poll(&w->conn[0]))
		;
	KUNIT_EXPECT_EQ(test, atomic_read(&s->handled), s->completed);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->twice), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->crowds), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->inside), 0);
	KUNIT_EXPECT_EQ(test, stat_of(w, 0, KDP_CS_CQES), s->completed);
	w->cq[0]->at = NULL;
}

static struct kunit_case stress_cases[] = {
	KUNIT_CASE(modes_change_under_load),
	{}
};

static struct kunit_suite stress_suite = {
	.name		= "kdp_mode_stress",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= stress_cases,
};

kunit_test_suite(stress_suite);
