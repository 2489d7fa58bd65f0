// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue sets: which I/O goes to which queues.
 *
 *   default	everything that the others do not take. With separate write queues they are
 *		this set
 *   read	reads, where there are separate write queues
 *   poll	I/O whose issuer polls (RWF_HIPRI by io_uring): nobody else takes its completions
 *
 * Queues are numbered set by set: 1 to n are the default ones, then those for reading,
 * then the polled ones; hardware context i of blk-mq is queue i + 1. So when only the first
 * few come up, they are the more needed ones.
 */
#include <linux/blkdev.h>
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "host.h"

struct kdp_sets kdp_sets_wanted(const struct kdp_options *opts)
{
	struct kdp_sets sets = {};

	if (opts->nr_write_queues) {
		sets.nr[HCTX_TYPE_DEFAULT] = opts->nr_write_queues;
		sets.nr[HCTX_TYPE_READ] = opts->nr_io_queues;
	} else {
		sets.nr[HCTX_TYPE_DEFAULT] = opts->nr_io_queues;
	}
	sets.nr[HCTX_TYPE_POLL] = opts->nr_poll_queues;
	return sets;
}

/* What the sets get of @nr queues: one after the other what it wants. */
struct kdp_sets kdp_sets_divide(const struct kdp_sets *wanted, unsigned int nr)
{
	struct kdp_sets sets;
	unsigned int type;

	for (type = 0; type < HCTX_MAX_TYPES; type++) {
		sets.nr[type] = min(wanted->nr[type], nr);
		nr -= sets.nr[type];
	}
	return sets;
}

unsigned int kdp_sets_total(const struct kdp_sets *sets)
{
	unsigned int type, total = 0;

	for (type = 0; type < HCTX_MAX_TYPES; type++)
		total += sets->nr[type];
	return total;
}

/* How many queues there are before those of @type. */
static unsigned int kdp_sets_offset(const struct kdp_sets *sets, enum hctx_type type)
{
	unsigned int before, offset = 0;

	for (before = 0; before < type; before++)
		offset += sets->nr[before];
	return offset;
}

/* Of I/O queue @qid, which is one of the sets'. */
enum hctx_type kdp_sets_type(const struct kdp_sets *sets, u16 qid)
{
	unsigned int type = HCTX_MAX_TYPES - 1;

	while (type && qid <= kdp_sets_offset(sets, type))
		type--;
	return type;
}

/* For blk_mq_tag_set.nr_maps: up to the last set that has queues. */
unsigned int kdp_sets_maps(const struct kdp_sets *sets)
{
	unsigned int maps = HCTX_MAX_TYPES;

	while (maps > 1 && !sets->nr[maps - 1])
		maps--;
	return maps;
}

/* Say so when fewer came up than @wanted, because of @why. */
void kdp_sets_log(const struct kdp_ctrl *ctrl, const struct kdp_sets *wanted, const char *why)
{
	const unsigned int *got = ctrl->sets.nr, *want = wanted->nr;

	if (kdp_sets_total(&ctrl->sets) == kdp_sets_total(wanted))
		return;
	dev_info(&ctrl->dev, "%u of %u I/O queues (default %u of %u, read %u of %u, poll %u of %u): %s\n",
		 kdp_sets_total(&ctrl->sets), kdp_sets_total(wanted),
		 got[HCTX_TYPE_DEFAULT], want[HCTX_TYPE_DEFAULT],
		 got[HCTX_TYPE_READ], want[HCTX_TYPE_READ],
		 got[HCTX_TYPE_POLL], want[HCTX_TYPE_POLL], why);
}

static int kdp_first_cpu_of(const struct blk_mq_queue_map *map, unsigned int index)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (map->mq_map[cpu] == index)
			return cpu;
	return cpumask_first(cpu_online_mask);
}

/*
 * Where completions of queue @qid are wanted: on one of the CPUs whose I/O goes to it. If fewer
 * queues come up than @sets has, that CPU's I/O may go to another queue after all. May
 * sleep.
 */
int kdp_sets_cpu(const struct kdp_sets *sets, u16 qid)
{
	struct blk_mq_queue_map map = {};
	enum hctx_type type;
	int cpu;

	if (!qid)
		return cpumask_first(cpu_online_mask);
	type = kdp_sets_type(sets, qid);
	map.nr_queues = sets->nr[type];
	map.mq_map = kcalloc(nr_cpu_ids, sizeof(*map.mq_map), GFP_KERNEL);
	if (!map.mq_map)
		return cpumask_first(cpu_online_mask);
	blk_mq_map_queues(&map);
	cpu = kdp_first_cpu_of(&map, qid - 1 - kdp_sets_offset(sets, type));
	kfree(map.mq_map);
	return cpu;
}

/* ->map_queues: blk-mq takes a set without queues for the default one. */
void kdp_map_queues(struct blk_mq_tag_set *set)
{
	const struct kdp_ctrl *ctrl = set->driver_data;
	unsigned int type;

	for (type = 0; type < set->nr_maps; type++) {
		struct blk_mq_queue_map *map = &set->map[type];

		map->nr_queues = ctrl->sets.nr[type];
		map->queue_offset = kdp_sets_offset(&ctrl->sets, type);
		if (map->nr_queues)
			blk_mq_map_queues(map);
	}
}
