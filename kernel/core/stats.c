// SPDX-License-Identifier: GPL-2.0-only
/* Counters of a connection: one copy a CPU, summed up when somebody asks. */
#include <linux/module.h>

#include "internal.h"

void kdp_conn_stats_sum(const struct kdp_conn_stats __percpu *stats, u64 sum[KDP_CS_NR])
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct kdp_conn_stats *s = per_cpu_ptr(stats, cpu);

		for (i = 0; i < KDP_CS_NR; i++)
			sum[i] += READ_ONCE(s->v[i]);
	}
}
EXPORT_SYMBOL_GPL(kdp_conn_stats_sum);
