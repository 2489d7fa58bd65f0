// SPDX-License-Identifier: GPL-2.0-only
/*
 * A queue's counters, as sums and as netlink attributes. What a closed queue counted is
 * kept in ctrl->past: counters go on over reconnects.
 */
#include <net/netlink.h>

#include "host.h"

/* Where each counter of the UAPI comes from. */
static const struct {
	enum kdp_stat		attr;
	enum kdp_conn_stat	from;
} kdp_conn_counters[] = {
	{ KDP_S_SEND_DOORBELLS,	KDP_CS_SEND_DOORBELLS },
	{ KDP_S_RECV_DOORBELLS,	KDP_CS_RECV_DOORBELLS },
	{ KDP_S_WR_SEND,	KDP_CS_WR_SEND },
	{ KDP_S_WR_RECV,	KDP_CS_WR_RECV },
	{ KDP_S_WR_REG,		KDP_CS_WR_REG },
	{ KDP_S_WR_LOCAL_INV,	KDP_CS_WR_LOCAL_INV },
	{ KDP_S_CQES,		KDP_CS_CQES },
	{ KDP_S_POLLS_FULL,	KDP_CS_POLLS_FULL },
	{ KDP_S_POLLS_EMPTY,	KDP_CS_POLLS_EMPTY },
	{ KDP_S_SLEEPS,		KDP_CS_SLEEPS },
	{ KDP_S_EVENTS,		KDP_CS_EVENTS },
	{ KDP_S_PROVIDER_NS,	KDP_CS_PROVIDER_NS },
};

static const struct {
	enum kdp_stat		attr;
	enum kdp_queue_stat	from;
} kdp_queue_counters[] = {
	{ KDP_S_COMMANDS,	KDP_QS_COMMANDS },
	{ KDP_S_BYTES_READ,	KDP_QS_BYTES_READ },
	{ KDP_S_BYTES_WRITTEN,	KDP_QS_BYTES_WRITTEN },
	{ KDP_S_REMOTE_INV,	KDP_QS_REMOTE_INV },
	{ KDP_S_INLINE,		KDP_QS_INLINE },
	{ KDP_S_BYTES_COPIED,	KDP_QS_BYTES_COPIED },
	{ KDP_S_REGION_COMMANDS, KDP_QS_REGION },
	{ KDP_S_RETRIES,	KDP_QS_RETRIES },
};

static void kdp_queue_stats_sum(const struct kdp_queue_stats __percpu *stats, u64 sum[KDP_QS_NR])
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct kdp_queue_stats *s = per_cpu_ptr(stats, cpu);

		for (i = 0; i < KDP_QS_NR; i++)
			sum[i] += READ_ONCE(s->v[i]);
	}
}

/* What @queue has counted since it was opened; nothing, if it is closed. ctrl->lock is held. */
void kdp_counts_add(struct kdp_counts *sum, const struct kdp_queue *queue)
{
	if (queue->conn.stats)
		kdp_conn_stats_sum(queue->conn.stats, sum->conn);
	if (queue->stats)
		kdp_queue_stats_sum(queue->stats, sum->queue);
}

/* Returns 0 or -EMSGSIZE. */
int kdp_put_counts(struct sk_buff *skb, const struct kdp_counts *counts)
{
	struct nlattr *nest = nla_nest_start(skb, KDP_A_STATS);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(kdp_conn_counters); i++)
		if (nla_put_u64_64bit(skb, kdp_conn_counters[i].attr,
				      counts->conn[kdp_conn_counters[i].from], KDP_S_PAD))
			return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(kdp_queue_counters); i++)
		if (nla_put_u64_64bit(skb, kdp_queue_counters[i].attr,
				      counts->queue[kdp_queue_counters[i].from], KDP_S_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
