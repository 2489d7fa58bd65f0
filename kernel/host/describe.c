// SPDX-License-Identifier: GPL-2.0-only
/* A controller as netlink attributes: the answer to KDP_CMD_GET. */
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
};

static void kdp_queue_stats_sum(const struct kdp_queue *queue, u64 sum[KDP_QS_NR])
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct kdp_queue_stats *s = per_cpu_ptr(queue->stats, cpu);

		for (i = 0; i < KDP_QS_NR; i++)
			sum[i] += READ_ONCE(s->v[i]);
	}
}

/* The sums over @nr queues from @queue on. */
static int kdp_put_stats(struct sk_buff *skb, const struct kdp_queue *queue, unsigned int nr)
{
	u64 conn[KDP_CS_NR] = {}, host[KDP_QS_NR] = {};
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		kdp_conn_stats_sum(queue[i].conn.stats, conn);
		kdp_queue_stats_sum(&queue[i], host);
	}
	nest = nla_nest_start(skb, KDP_A_STATS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(kdp_conn_counters); i++)
		if (nla_put_u64_64bit(skb, kdp_conn_counters[i].attr,
				      conn[kdp_conn_counters[i].from], KDP_S_PAD))
			return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(kdp_queue_counters); i++)
		if (nla_put_u64_64bit(skb, kdp_queue_counters[i].attr,
				      host[kdp_queue_counters[i].from], KDP_S_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u32 kdp_set_attr(const struct kdp_ctrl *ctrl, unsigned int qid)
{
	static const enum kdp_queue_set sets[] = {
		[HCTX_TYPE_DEFAULT]	= KDP_SET_DEFAULT,
		[HCTX_TYPE_READ]	= KDP_SET_READ,
		[HCTX_TYPE_POLL]	= KDP_SET_POLL,
	};

	return qid ? sets[kdp_sets_type(&ctrl->sets, qid)] : KDP_SET_ADMIN;
}

static int kdp_put_namespace(struct sk_buff *skb, const struct kdp_ns *ns)
{
	struct nlattr *nest = nla_nest_start(skb, KDP_A_NAMESPACE);

	if (!nest ||
	    nla_put_u32(skb, KDP_A_NSID, ns->nsid) ||
	    nla_put_string(skb, KDP_A_NAME, ns->disk->disk_name) ||
	    nla_put_string(skb, KDP_A_NS_CHAR_NAME, dev_name(&ns->dev)) ||
	    nla_put_u64_64bit(skb, KDP_A_NS_BLOCKS, ns->info.blocks, KDP_A_PAD) ||
	    nla_put_u32(skb, KDP_A_NS_BLOCK_SIZE, 1U << ns->info.lba_shift))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int kdp_put_namespaces(struct sk_buff *skb, struct kdp_ctrl *ctrl)
{
	struct nlattr *nest = nla_nest_start(skb, KDP_A_NAMESPACES);
	const struct kdp_ns *ns;
	int err = 0;

	if (!nest)
		return -EMSGSIZE;
	mutex_lock(&ctrl->ns_lock);
	list_for_each_entry(ns, &ctrl->namespaces, entry) {
		err = kdp_put_namespace(skb, ns);
		if (err)
			break;
	}
	mutex_unlock(&ctrl->ns_lock);
	nla_nest_end(skb, nest);
	return err;
}

static int kdp_put_address(struct sk_buff *skb, const struct sockaddr_storage *addr)
{
	size_t len = addr->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
						  sizeof(struct sockaddr_in6);

	return nla_put(skb, KDP_A_TRADDR, len, addr);
}

/* Is there a connection to be described? ctrl->lock is held. */
static bool kdp_is_connected(const struct kdp_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->lock);
	return ctrl->queues[0].conn.dev && ctrl->nr_io_queues && ctrl->io_set_ready;
}

/*
 * Queue @qid of @ctrl, whose lock is held. Returns 0, -EMSGSIZE, or -ENOENT when there
 * is no such queue now.
 */
int kdp_describe_queue(struct sk_buff *skb, struct kdp_ctrl *ctrl, unsigned int qid)
{
	const struct kdp_queue *queue = &ctrl->queues[qid];
	struct kdp_counts counts;

	if (!kdp_is_connected(ctrl) || qid > ctrl->nr_io_queues)
		return -ENOENT;
	if (nla_put_u32(skb, KDP_A_INSTANCE, ctrl->instance) ||
	    nla_put_string(skb, KDP_A_NAME, dev_name(&ctrl->dev)) ||
	    nla_put_u32(skb, KDP_A_QID, qid) ||
	    nla_put_u32(skb, KDP_A_CPU, queue->conn.params.cpu) ||
	    nla_put_u32(skb, KDP_A_CQ_MODE, kdp_mode_attr(queue->conn.params.cq_mode)) ||
	    nla_put_u32(skb, KDP_A_QUEUE_SET, kdp_set_attr(ctrl, qid)) ||
	    nla_put_u32(skb, KDP_A_QUEUE_SIZE, queue->depth))
		return -EMSGSIZE;
	counts = ctrl->past[qid];
	kdp_counts_add(&counts, queue);
	return kdp_put_counts(skb, &counts);
}

/* The sums over the I/O queues; ctrl->lock is held. */
static int kdp_put_stats(struct sk_buff *skb, const struct kdp_ctrl *ctrl)
{
	struct kdp_counts sum = {};
	unsigned int qid, i;

	for (qid = 1; qid <= ctrl->nr_io_queues; qid++) {
		for (i = 0; i < KDP_CS_NR; i++)
			sum.conn[i] += ctrl->past[qid].conn[i];
		for (i = 0; i < KDP_QS_NR; i++)
			sum.queue[i] += ctrl->past[qid].queue[i];
		kdp_counts_add(&sum, &ctrl->queues[qid]);
	}
	return kdp_put_counts(skb, &sum);
}

/* What is known of one that has been connected: ctrl->lock is held. */
static int kdp_describe_connection(struct sk_buff *skb, const struct kdp_ctrl *ctrl)
{
	const struct kdp_device *dev = ctrl->queues[0].conn.dev;

	if (!ctrl->io_set_ready)
		return 0;
	if (nla_put_u32(skb, KDP_A_CNTLID, ctrl->cntlid) ||
	    nla_put_string(skb, KDP_A_SERIAL, ctrl->info.serial) ||
	    nla_put_string(skb, KDP_A_MODEL, ctrl->info.model) ||
	    nla_put_string(skb, KDP_A_FIRMWARE, ctrl->info.firmware) ||
	    (dev && nla_put_string(skb, KDP_A_RDMA_DEVICE, dev->ib->name)) ||
	    nla_put_u32(skb, KDP_A_NR_IO_QUEUES, ctrl->nr_io_queues) ||
	    nla_put_u32(skb, KDP_A_NR_WRITE_QUEUES,
			ctrl->sets.nr[HCTX_TYPE_READ] ? ctrl->sets.nr[HCTX_TYPE_DEFAULT] : 0) ||
	    nla_put_u32(skb, KDP_A_NR_POLL_QUEUES, ctrl->sets.nr[HCTX_TYPE_POLL]) ||
	    nla_put_u32(skb, KDP_A_QUEUE_SIZE, ctrl->io_set.queue_depth) ||
	    nla_put_u32(skb, KDP_A_MAX_TRANSFER, ctrl->max_transfer) ||
	    nla_put_u32(skb, KDP_A_INLINE_SIZE, ctrl->inline_size))
		return -EMSGSIZE;
	return kdp_put_stats(skb, ctrl);
}

/*
 * A controller whose connection is just being made or taken down is described by its
 * name, state, options and namespaces alone. Returns 0 or -EMSGSIZE.
 */
int kdp_describe(struct sk_buff *skb, struct kdp_ctrl *ctrl)
{
	const char *reason = READ_ONCE(ctrl->reason);
	int err = 0;

	if (nla_put_u32(skb, KDP_A_INSTANCE, ctrl->instance) ||
	    nla_put_string(skb, KDP_A_NAME, dev_name(&ctrl->dev)) ||
	    nla_put_u32(skb, KDP_A_STATE, kdp_ctrl_state(ctrl)) ||
	    kdp_put_address(skb, &ctrl->opts.traddr) ||
	    nla_put_string(skb, KDP_A_SUBNQN, ctrl->opts.subnqn) ||
	    nla_put_string(skb, KDP_A_HOSTNQN, ctrl->opts.hostnqn) ||
	    nla_put_u32(skb, KDP_A_KATO_MS, ctrl->opts.kato_ms) ||
	    nla_put_u32(skb, KDP_A_CQ_MODE, kdp_mode_attr(ctrl->opts.cq_mode)) ||
	    nla_put_s32(skb, KDP_A_SPIN_US, ctrl->opts.spin_us) ||
	    nla_put_s32(skb, KDP_A_CTRL_LOSS_TMO, ctrl->opts.ctrl_loss_tmo) ||
	    nla_put_s32(skb, KDP_A_FAST_IO_FAIL_TMO, ctrl->opts.fast_io_fail_tmo) ||
	    nla_put_u32(skb, KDP_A_RECONNECT_DELAY, ctrl->opts.reconnect_delay) ||
	    nla_put_u32(skb, KDP_A_RECONNECTS, READ_ONCE(ctrl->reconnects)) ||
	    (reason && nla_put_string(skb, KDP_A_REASON, reason)))
		return -EMSGSIZE;
	if (mutex_trylock(&ctrl->lock)) {
		err = kdp_describe_connection(skb, ctrl);
		mutex_unlock(&ctrl->lock);
	}
	return err ?: kdp_put_namespaces(skb, ctrl);
}
