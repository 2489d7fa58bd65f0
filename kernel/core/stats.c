// SPDX-License-Identifier: GPL-2.0-only
/* Counters of a connection: one copy a CPU, summed up when somebody asks. */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(kdp_provider_timed);

static int kdp_set_time_provider(const char *text, const struct kernel_param *param)
{
	bool on;
	int err = kstrtobool(text, &on);

	if (err)
		return err;
	if (on)
		static_branch_enable(&kdp_provider_timed);
	else
		static_branch_disable(&kdp_provider_timed);
	return 0;
}

static int kdp_get_time_provider(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%c\n", static_key_enabled(&kdp_provider_timed) ? 'Y' : 'N');
}

static const struct kernel_param_ops kdp_time_provider_ops = {
	.set	= kdp_set_time_provider,
	.get	= kdp_get_time_provider,
};

module_param_cb(time_provider, &kdp_time_provider_ops, NULL, 0644);
MODULE_PARM_DESC(time_provider, "Measure the time inside the RDMA provider's calls (N)");

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
