// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of poller.c: when to spin, yield or sleep; which pollers there are. */
#include "poller_world.h"

struct idle_case {
	s32			spin_us;
	bool			alone;
	bool			resched;
	u64			idle_ns;
	const char		*want;
};

static const struct idle_case idle_cases[] = {
	{ 0, true, false, 0, "sleep" },
	{ 0, false, false, 0, "sleep" },
	{ 50, true, false, 0, "spin" },
	{ 50, true, false, 49999, "spin" },
	{ 50, true, false, 50000, "sleep" },
	{ 50, true, false, 1ULL << 40, "sleep" },
	{ 50, false, false, 0, "sleep" },
	{ 50, true, true, 0, "sleep" },
	{ S32_MAX, true, false, (u64)S32_MAX * NSEC_PER_USEC - 1, "spin" },
	{ S32_MAX, true, false, (u64)S32_MAX * NSEC_PER_USEC, "sleep" },
	{ KDP_SPIN_FOREVER, true, false, 1ULL << 40, "spin" },
	{ KDP_SPIN_FOREVER, false, false, 0, "yield" },
	{ KDP_SPIN_FOREVER, true, true, 1ULL << 40, "yield" },
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
	const u64 since = 1ULL << 42;

	w->told = true;
	w->alone = c->alone;
	w->resched = c->resched;
	w->now = since + c->idle_ns;
	KUNIT_EXPECT_STREQ(test, poller_idle(c->spin_us, since), c->want);
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
		KUNIT_EXPECT_EQ(test, poller_spin_us(w->poller), 0);
		open_cq(w, 0, spin_times[i].a);
		KUNIT_EXPECT_EQ(test, poller_spin_us(w->poller), spin_times[i].a);
		open_cq(w, 1, spin_times[i].b);
		KUNIT_EXPECT_EQ(test, poller_spin_us(w->poller), spin_times[i].want);
		close_cq(w, 0);
		KUNIT_EXPECT_EQ(test, poller_spin_us(w->poller), spin_times[i].b);
		close_cq(w, 1);
	}
}

static void pollers_are_shared_and_counted(struct kunit *test)
{
	struct poller_world *w = test->priv;
	struct kdp_poller *poller, *same;

	poller = kdp_poller_get(w->cpu);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, poller);
	KUNIT_EXPECT_EQ(test, poller_users(poller), 1);
	same = kdp_poller_get(w->cpu);
	KUNIT_EXPECT_PTR_EQ(test, same, poller);
	KUNIT_EXPECT_EQ(test, poller_users(poller), 2);
	kdp_poller_put(same);
	KUNIT_EXPECT_EQ(test, poller_users(poller), 1);
	KUNIT_EXPECT_PTR_EQ(test, poller_of_cpu(w->cpu), poller);
	/* and it works */
	open_cq(w, 0, 0);
	KUNIT_EXPECT_EQ(test, poller_users(poller), 2);
	kdp_fake_complete(w->cq[0], &w->cqe, false);
	KUNIT_EXPECT_TRUE(test, comes(&w->handled_one));
	close_cq(w, 0);
	KUNIT_EXPECT_EQ(test, poller_users(poller), 1);
	kdp_poller_put(poller);
	KUNIT_EXPECT_NULL(test, poller_of_cpu(w->cpu));
}

static struct kunit_case poller_cases[] = {
	KUNIT_CASE_PARAM(idle_choice, idle_gen_params),
	KUNIT_CASE(spin_time_is_the_longest),
	KUNIT_CASE(pollers_are_shared_and_counted),
	{}
};

static struct kunit_suite poller_suite = {
	.name		= "kdp_poller",
	.init		= poller_world_init,
	.exit		= poller_world_exit,
	.test_cases	= poller_cases,
};

kunit_test_suite(poller_suite);
