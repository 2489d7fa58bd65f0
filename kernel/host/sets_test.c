// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of sets.c: how queues are divided among the sets, and mapped to CPUs. */
#include <linux/cpumask.h>

#include "request_world.h"

struct divide_case {
	u32		io;
	u32		write;
	u32		poll;
	unsigned int	got;
	unsigned int	want[HCTX_MAX_TYPES];	/* default, read, poll */
	unsigned int	maps;
};

static const struct divide_case divide_cases[] = {
	{ 4, 0, 0, 4, { 4, 0, 0 }, 1 },
	{ 4, 0, 0, 1, { 1, 0, 0 }, 1 },
	{ 4, 2, 0, 6, { 2, 4, 0 }, 2 },
	{ 4, 2, 0, 3, { 2, 1, 0 }, 2 },
	{ 4, 2, 0, 2, { 2, 0, 0 }, 1 },
	{ 4, 2, 0, 1, { 1, 0, 0 }, 1 },
	{ 4, 0, 3, 7, { 4, 0, 3 }, 3 },
	{ 4, 0, 3, 5, { 4, 0, 1 }, 3 },
	{ 4, 0, 3, 4, { 4, 0, 0 }, 1 },
	{ 4, 0, 3, 2, { 2, 0, 0 }, 1 },
	{ 4, 2, 3, 9, { 2, 4, 3 }, 3 },
	{ 4, 2, 3, 8, { 2, 4, 2 }, 3 },
	{ 4, 2, 3, 6, { 2, 4, 0 }, 2 },
	{ 4, 2, 3, 5, { 2, 3, 0 }, 2 },
	{ 4, 2, 3, 1, { 1, 0, 0 }, 1 },
	{ 1, 1, 1, 100, { 1, 1, 1 }, 3 },
	{ 128, 128, 128, 384, { 128, 128, 128 }, 3 },
};

static void describe_divide(const struct divide_case *c, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "io %u, write %u, poll %u: got %u", c->io, c->write,
		 c->poll, c->got);
}

KUNIT_ARRAY_PARAM(divisions, divide_cases, describe_divide);

/* The default set first, then reading, then polling; and each queue knows its own. */
static void queues_are_divided(struct kunit *test)
{
	const struct divide_case *c = test->param_value;
	struct kdp_options *opts = kunit_kzalloc(test, sizeof(*opts), GFP_KERNEL);
	unsigned int seen[HCTX_MAX_TYPES] = {}, last = 0;
	struct kdp_sets wanted, sets;

	KUNIT_ASSERT_NOT_NULL(test, opts);
	opts->nr_io_queues = c->io;
	opts->nr_write_queues = c->write;
	opts->nr_poll_queues = c->poll;
	wanted = kdp_sets_wanted(opts);
	sets = kdp_sets_divide(&wanted, c->got);
	KUNIT_EXPECT_EQ(test, kdp_sets_total(&wanted), c->io + c->write + c->poll);
	KUNIT_EXPECT_EQ(test, kdp_max_queues(opts), 1 + kdp_sets_total(&wanted));
	for (unsigned int type = 0; type < HCTX_MAX_TYPES; type++)
		KUNIT_EXPECT_EQ_MSG(test, sets.nr[type], c->want[type], "set %u", type);
	KUNIT_EXPECT_EQ(test, kdp_sets_maps(&sets), c->maps);
	for (u16 qid = 1; qid <= kdp_sets_total(&sets); qid++) {
		unsigned int type = kdp_sets_type(&sets, qid);

		KUNIT_EXPECT_GE(test, type, last);
		last = type;
		seen[type]++;
	}
	for (unsigned int type = 0; type < HCTX_MAX_TYPES; type++)
		KUNIT_EXPECT_EQ_MSG(test, seen[type], c->want[type], "set %u", type);
}

struct map_world {
	struct kdp_ctrl		ctrl;
	struct blk_mq_tag_set	set;
};

static struct map_world *map_sets(struct kunit *test, const struct kdp_sets *sets)
{
	struct map_world *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->ctrl.sets = *sets;
	m->set.driver_data = &m->ctrl;
	m->set.nr_maps = kdp_sets_maps(sets);
	for (unsigned int type = 0; type < m->set.nr_maps; type++) {
		m->set.map[type].mq_map = kunit_kcalloc(test, nr_cpu_ids, sizeof(unsigned int),
							GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, m->set.map[type].mq_map);
	}
	kdp_map_queues(&m->set);
	return m;
}

/* Each CPU's I/O of each kind goes to a queue of that set, which is served on such a CPU. */
static void sets_are_mapped(struct kunit *test)
{
	static const struct kdp_sets all[] = {
		{ { 1, 0, 0 } }, { { 2, 0, 0 } }, { { 1, 1, 0 } }, { { 1, 0, 1 } },
		{ { 2, 1, 1 } }, { { 1, 2, 2 } }, { { 2, 2, 2 } },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		const struct kdp_sets *sets = &all[i];
		struct map_world *m = map_sets(test, sets);
		unsigned int offset = 0, cpu;

		for (unsigned int type = 0; type < m->set.nr_maps; type++) {
			const struct blk_mq_queue_map *map = &m->set.map[type];

			KUNIT_EXPECT_EQ(test, map->nr_queues, sets->nr[type]);
			for_each_possible_cpu(cpu) {
				if (!map->nr_queues)
					break;
				KUNIT_EXPECT_GE(test, map->mq_map[cpu], offset);
				KUNIT_EXPECT_LT(test, map->mq_map[cpu], offset + sets->nr[type]);
			}
			offset += sets->nr[type];
		}
		for (u16 qid = 1; qid <= kdp_sets_total(sets); qid++) {
			const struct blk_mq_queue_map *map = &m->set.map[kdp_sets_type(sets, qid)];
			int at = kdp_sets_cpu(sets, qid);
			bool has_cpu = false;

			KUNIT_EXPECT_TRUE(test, cpu_online(at));
			for_each_online_cpu(cpu)
				has_cpu |= map->mq_map[cpu] == qid - 1;
			/* of more queues than CPUs some have none */
			if (has_cpu)
				KUNIT_EXPECT_EQ_MSG(test, map->mq_map[at], qid - 1, "sets %u", i);
		}
		KUNIT_EXPECT_TRUE(test, cpu_online(kdp_sets_cpu(sets, 0)));
	}
}

static struct kunit_case sets_cases[] = {
	KUNIT_CASE_PARAM(queues_are_divided, divisions_gen_params),
	KUNIT_CASE(sets_are_mapped),
	{}
};

static struct kunit_suite sets_suite = {
	.name		= "kdp_sets",
	.test_cases	= sets_cases,
};

kunit_test_suite(sets_suite);
