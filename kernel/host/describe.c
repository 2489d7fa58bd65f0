// SPDX-License-Identifier: GPL-2.0-only
/* A controller as netlink attributes: the answer to KDP_CMD_GET. */
#include <net/netlink.h>

#include "host.h"

static u32 kdp_set_attr(const struct kdp_ctrl *ctrl, unsigned int qid)
{
	static const enum kdp_queue_set sets[] = {
		[HCTX_TYPE_DEFAULT]	= KDP_SET_DEFAULT,
		[HCTX_TYPE_READ]	= KDP_SET_READ,
		[HCTX_TYPE_POLL]	= KDP_SET_POLL,
	};

	return qid ? sets[kdp_sets_type(&ctrl->sets, qid)] : KDP_SET_ADMIN;
}

/* An identifier, where it is known. */
static int kdp_put_id(struct sk_buff *skb, int attr, const u8 *id, size_t len)
{
	return nvmf_all_zero(id, len) ? 0 : nla_put(skb, attr, len, id);
}

static int kdp_put_namespace(struct sk_buff *skb, const struct kdp_ns *ns)
{
	struct nlattr *nest = nla_nest_start(skb, KDP_A_NAMESPACE);

	if (!nest ||
	    nla_put_u32(skb, KDP_A_NSID, ns->nsid) ||
	    nla_put_string(skb, KDP_A_NAME, ns->disk->disk_name) ||
	    nla_put_string(skb, KDP_A_NS_CHAR_NAME, dev_name(&ns->dev)) ||
	    nla_put_u64_64bit(skb, KDP_A_NS_BLOCKS, ns->info.blocks, KDP_A_PAD) ||
	    nla_put_u32(skb, KDP_A_NS_BLOCK_SIZE, 1U << ns->info.lba_shift) ||
	    kdp_put_id(skb, KDP_A_NS_UUID, ns->info.uuid, sizeof(ns->info.uuid)) ||
	    kdp_put_id(skb, KDP_A_NS_NGUID, ns->info.nguid, sizeof(ns->info.nguid)) ||
	    kdp_put_id(skb, KDP_A_NS_EUI64, ns->info.eui64, sizeof(ns->info.eui64)))
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
