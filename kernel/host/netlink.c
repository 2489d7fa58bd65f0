// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control by generic netlink, as <kdp/kdp_netlink.h> documents it. Doit handlers run
 * in the sender's context and may sleep; they run in parallel.
 */
#include <linux/capability.h>
#include <linux/netlink.h>

#include "host.h"

/* Room to describe one controller: some 240 namespaces, more if they have few identifiers. */
#define KDP_DESCRIPTION_SIZE	(32 * 1024)

#define KDP_DEFAULT_QUEUE_SIZE	128
#define KDP_DEFAULT_KATO_MS	15000
#define KDP_DEFAULT_SPIN_US	50
#define KDP_DEFAULT_LOSS_TMO	600
#define KDP_DEFAULT_RECONNECT	10

/* Seconds; more than that is "for ever". */
#define KDP_MAX_TMO		86400
#define KDP_MAX_RECONNECT	3600

static const struct nla_policy kdp_connect_policy[KDP_A_RECONNECT_DELAY + 1] = {
	[KDP_A_TRADDR]		= { .type = NLA_BINARY, .len = sizeof(struct sockaddr_in6) },
	[KDP_A_HOST_TRADDR]	= { .type = NLA_BINARY, .len = sizeof(struct sockaddr_in6) },
	[KDP_A_SUBNQN]		= { .type = NLA_NUL_STRING, .len = NVMF_NQN_SIZE },
	[KDP_A_HOSTNQN]		= { .type = NLA_NUL_STRING, .len = NVMF_NQN_SIZE },
	[KDP_A_HOSTID]		= NLA_POLICY_EXACT_LEN(NVMF_HOSTID_SIZE),
	[KDP_A_INSTANCE]	= NLA_POLICY_MAX(NLA_U32, KDP_MAX_INSTANCE),
	[KDP_A_NR_IO_QUEUES]	= NLA_POLICY_RANGE(NLA_U32, 1, KDP_MAX_IO_QUEUES),
	[KDP_A_QUEUE_SIZE]	= NLA_POLICY_RANGE(NLA_U32, 16, KDP_MAX_QUEUE_SIZE),
	[KDP_A_KATO_MS]		= { .type = NLA_U32 },	/* its range does not fit a policy */
	[KDP_A_SPIN_US]		= NLA_POLICY_MIN(NLA_S32, KDP_SPIN_FOREVER),
	[KDP_A_DUPLICATE]	= { .type = NLA_FLAG },
	[KDP_A_CTRL_LOSS_TMO]	= { .type = NLA_S32 },
	[KDP_A_FAST_IO_FAIL_TMO] = { .type = NLA_S32 },
	[KDP_A_RECONNECT_DELAY]	= NLA_POLICY_RANGE(NLA_U32, 1, KDP_MAX_RECONNECT),
	[KDP_A_CQ_MODE]		= NLA_POLICY_MAX(NLA_U32, KDP_MODE_CALLER),
	[KDP_A_NR_WRITE_QUEUES]	= NLA_POLICY_MAX(NLA_U32, KDP_MAX_IO_QUEUES),
	[KDP_A_NR_POLL_QUEUES]	= NLA_POLICY_MAX(NLA_U32, KDP_MAX_IO_QUEUES),
};

static const struct nla_policy kdp_instance_policy[KDP_A_INSTANCE + 1] = {
	[KDP_A_INSTANCE]	= NLA_POLICY_MAX(NLA_U32, KDP_MAX_INSTANCE),
};

static int kdp_parse_address(const struct nlattr *attr, struct sockaddr_storage *addr,
			     bool needs_port, struct netlink_ext_ack *extack)
{
	const struct sockaddr *sa = nla_data(attr);
	size_t want = 0;
	__be16 port;

	if (nla_len(attr) >= (int)sizeof(sa->sa_family)) {
		if (sa->sa_family == AF_INET)
			want = sizeof(struct sockaddr_in);
		else if (sa->sa_family == AF_INET6)
			want = sizeof(struct sockaddr_in6);
	}
	if (!want || nla_len(attr) != want) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "not an IPv4 or IPv6 socket address");
		return -EINVAL;
	}
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, sa, want);
	port = sa->sa_family == AF_INET ? ((struct sockaddr_in *)addr)->sin_port :
					  ((struct sockaddr_in6 *)addr)->sin6_port;
	if (needs_port && !port) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "the port may not be 0");
		return -EINVAL;
	}
	return 0;
}

static int kdp_parse_name(const struct nlattr *attr, char *name, struct netlink_ext_ack *extack)
{
	if (nla_strscpy(name, attr, NVMF_NQN_FIELD) > 0)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "the name is empty");
	return -EINVAL;
}

static u32 kdp_get_u32(const struct nlattr *attr, u32 absent)
{
	return attr ? nla_get_u32(attr) : absent;
}

static int kdp_parse_timeout(const struct nlattr *attr, s32 absent, s32 *seconds,
			     struct netlink_ext_ack *extack)
{
	*seconds = attr ? nla_get_s32(attr) : absent;
	if (*seconds >= -1 && *seconds <= KDP_MAX_TMO)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "a timeout is -1 (never), or 0 to 86400 s");
	return -ERANGE;
}

static int kdp_parse_recovery(struct genl_info *info, struct kdp_options *opts)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr **a = info->attrs;
	int err;

	err = kdp_parse_timeout(a[KDP_A_CTRL_LOSS_TMO], KDP_DEFAULT_LOSS_TMO,
				&opts->ctrl_loss_tmo, extack);
	if (!err)
		err = kdp_parse_timeout(a[KDP_A_FAST_IO_FAIL_TMO], -1, &opts->fast_io_fail_tmo,
					extack);
	opts->reconnect_delay = kdp_get_u32(a[KDP_A_RECONNECT_DELAY], KDP_DEFAULT_RECONNECT);
	return err;
}

static int kdp_parse_options(struct genl_info *info, struct kdp_options *opts)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr **a = info->attrs;
	int err;

	if (!a[KDP_A_TRADDR] || !a[KDP_A_SUBNQN] || !a[KDP_A_HOSTNQN] || !a[KDP_A_HOSTID]) {
		NL_SET_ERR_MSG(extack, "address, subsystem NQN, host NQN and host ID are required");
		return -EINVAL;
	}
	memset(opts, 0, sizeof(*opts));
	err = kdp_parse_address(a[KDP_A_TRADDR], &opts->traddr, true, extack);
	if (!err && a[KDP_A_HOST_TRADDR])
		err = kdp_parse_address(a[KDP_A_HOST_TRADDR], &opts->host_traddr, false, extack);
	if (!err)
		err = kdp_parse_name(a[KDP_A_SUBNQN], opts->subnqn, extack);
	if (!err)
		err = kdp_parse_name(a[KDP_A_HOSTNQN], opts->hostnqn, extack);
	if (err)
		return err;
	if (opts->host_traddr.ss_family && opts->host_traddr.ss_family != opts->traddr.ss_family) {
		NL_SET_ERR_MSG_ATTR(extack, a[KDP_A_HOST_TRADDR],
				    "the local and the target's address are of different families");
		return -EINVAL;
	}
	nla_memcpy(opts->hostid, a[KDP_A_HOSTID], sizeof(opts->hostid));
	opts->net = genl_info_net(info);
	opts->instance = a[KDP_A_INSTANCE] ? (int)nla_get_u32(a[KDP_A_INSTANCE]) : -1;
	opts->nr_io_queues = min_t(u32, num_online_cpus(), KDP_MAX_IO_QUEUES);
	opts->nr_io_queues = kdp_get_u32(a[KDP_A_NR_IO_QUEUES], opts->nr_io_queues);
	/* in each set: more queues than CPUs would have nobody to use them */
	opts->nr_io_queues = min_t(u32, opts->nr_io_queues, num_online_cpus());
	opts->nr_write_queues = min_t(u32, kdp_get_u32(a[KDP_A_NR_WRITE_QUEUES], 0),
				      num_online_cpus());
	opts->nr_poll_queues = min_t(u32, kdp_get_u32(a[KDP_A_NR_POLL_QUEUES], 0),
				     num_online_cpus());
	opts->queue_size = kdp_get_u32(a[KDP_A_QUEUE_SIZE], KDP_DEFAULT_QUEUE_SIZE);
	opts->kato_ms = kdp_get_u32(a[KDP_A_KATO_MS], KDP_DEFAULT_KATO_MS);
	if (opts->kato_ms < 1000 || opts->kato_ms > 3600000) {
		NL_SET_ERR_MSG_ATTR(extack, a[KDP_A_KATO_MS],
				    "the keep-alive timeout must be 1000 to 3600000 ms");
		return -ERANGE;
	}
	opts->cq_mode = kdp_mode_of_attr(kdp_get_u32(a[KDP_A_CQ_MODE], KDP_MODE_THREAD));
	opts->spin_us = a[KDP_A_SPIN_US] ? nla_get_s32(a[KDP_A_SPIN_US]) : KDP_DEFAULT_SPIN_US;
	opts->duplicate = nla_get_flag(a[KDP_A_DUPLICATE]);
	return kdp_parse_recovery(info, opts);
}

static bool kdp_may_control(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return true;
	NL_SET_ERR_MSG(extack, "needs CAP_SYS_ADMIN and CAP_NET_ADMIN");
	return false;
}

static int kdp_reply_name(struct genl_info *info, const struct kdp_ctrl *ctrl)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *header;

	if (!msg)
		return -ENOMEM;
	header = genlmsg_put_reply(msg, info, &kdp_genl_family, 0, KDP_CMD_CONNECT);
	if (!header || nla_put_u32(msg, KDP_A_INSTANCE, ctrl->instance) ||
	    nla_put_string(msg, KDP_A_NAME, dev_name(&ctrl->dev))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, header);
	return genlmsg_reply(msg, info);
}

static int kdp_do_connect(struct sk_buff *skb, struct genl_info *info)
{
	const char *text = NULL;
	struct kdp_options *opts;
	struct kdp_ctrl *ctrl;
	int err;

	if (!kdp_may_control(skb, info->extack))
		return -EPERM;
	opts = kmalloc(sizeof(*opts), GFP_KERNEL);
	if (!opts)
		return -ENOMEM;
	err = kdp_parse_options(info, opts);
	if (err)
		goto free;
	ctrl = kdp_ctrl_create(opts, &text);
	if (IS_ERR(ctrl)) {
		err = PTR_ERR(ctrl);
		goto text;
	}
	err = kdp_ctrl_connect(ctrl);
	if (err)
		text = ctrl->error_text;
	else
		err = kdp_reply_name(info, ctrl);
	kdp_ctrl_put(ctrl);
text:
	if (err && text && info->extack)
		info->extack->_msg = text;
free:
	kfree(opts);
	return err;
}

/* The controller of KDP_A_INSTANCE, with a reference, or an ERR_PTR. */
static struct kdp_ctrl *kdp_ctrl_of(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[KDP_A_INSTANCE];
	struct kdp_ctrl *ctrl;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "which controller?");
		return ERR_PTR(-EINVAL);
	}
	ctrl = kdp_ctrl_find(genl_info_net(info), nla_get_u32(attr));
	if (!ctrl) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "there is no such controller");
		return ERR_PTR(-ENODEV);
	}
	return ctrl;
}

/* The same for somebody who may control it. */
struct kdp_ctrl *kdp_ctrl_to_control(struct sk_buff *skb, struct genl_info *info)
{
	return kdp_may_control(skb, info->extack) ? kdp_ctrl_of(info) : ERR_PTR(-EPERM);
}

static int kdp_do_disconnect(struct sk_buff *skb, struct genl_info *info)
{
	struct kdp_ctrl *ctrl;
	bool mine;

	ctrl = kdp_ctrl_to_control(skb, info);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	mine = kdp_ctrl_disconnect(ctrl);
	kdp_ctrl_put(ctrl);
	return mine ? 0 : -ENODEV;
}

static int kdp_do_reset(struct sk_buff *skb, struct genl_info *info)
{
	struct kdp_ctrl *ctrl;
	int err;

	ctrl = kdp_ctrl_to_control(skb, info);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	err = kdp_ctrl_reset(ctrl);
	if (err)
		NL_SET_ERR_MSG(info->extack, "the controller is being disconnected");
	kdp_ctrl_put(ctrl);
	return err;
}

static int kdp_do_rescan(struct sk_buff *skb, struct genl_info *info)
{
	struct kdp_ctrl *ctrl;
	int err;

	ctrl = kdp_ctrl_to_control(skb, info);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	err = kdp_check_live(ctrl);
	if (err)
		NL_SET_ERR_MSG(info->extack, "the controller is not live");
	else
		err = kdp_ns_scan(ctrl);
	kdp_ctrl_put(ctrl);
	return err;
}

static int kdp_do_get(struct sk_buff *skb, struct genl_info *info)
{
	struct kdp_ctrl *ctrl = kdp_ctrl_of(info);
	struct sk_buff *msg;
	void *header;
	int err = -ENOMEM;

	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	msg = genlmsg_new(KDP_DESCRIPTION_SIZE, GFP_KERNEL);
	if (!msg)
		goto put;
	header = genlmsg_put_reply(msg, info, &kdp_genl_family, 0, KDP_CMD_GET);
	err = header ? kdp_describe(msg, ctrl) : -EMSGSIZE;
	if (err) {
		nlmsg_free(msg);
		goto put;
	}
	genlmsg_end(msg, header);
	err = genlmsg_reply(msg, info);
put:
	kdp_ctrl_put(ctrl);
	return err;
}

static int kdp_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = KDP_DESCRIPTION_SIZE;
	return 0;
}

/* cb->args[0]: the number to go on with. */
static int kdp_dump_get(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kdp_ctrl *ctrl;
	void *header;
	int err = 0;

	while ((ctrl = kdp_ctrl_from(sock_net(skb->sk), cb->args[0]))) {
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				     &kdp_genl_family, NLM_F_MULTI, KDP_CMD_GET);
		err = header ? kdp_describe(skb, ctrl) : -EMSGSIZE;
		if (err) {
			if (header)
				genlmsg_cancel(skb, header);
			kdp_ctrl_put(ctrl);
			/* a full buffer goes out; one that holds nothing is an error */
			return skb->len ? skb->len : err;
		}
		genlmsg_end(skb, header);
		cb->args[0] = ctrl->instance + 1;
		kdp_ctrl_put(ctrl);
	}
	return skb->len;
}

static int kdp_put_queue(struct sk_buff *skb, struct netlink_callback *cb, struct kdp_ctrl *ctrl,
			 unsigned int qid)
{
	void *header;
	int err;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			     &kdp_genl_family, NLM_F_MULTI, KDP_CMD_GET_QUEUES);
	if (!header)
		return -EMSGSIZE;
	err = kdp_describe_queue(skb, ctrl, qid);
	if (err)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return err;
}

/* cb->args: the controller's number and the queue to go on with. */
static int kdp_dump_queues(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kdp_ctrl *ctrl;
	int err = 0;

	while (err != -EMSGSIZE && (ctrl = kdp_ctrl_from(sock_net(skb->sk), cb->args[0]))) {
		if (ctrl->instance != cb->args[0])
			cb->args[1] = 0;
		cb->args[0] = ctrl->instance;
		err = -ENOENT;
		/* one that is just connecting or disconnecting has no queues to speak of */
		if (mutex_trylock(&ctrl->lock)) {
			do {
				err = kdp_put_queue(skb, cb, ctrl, cb->args[1]);
			} while (!err && ++cb->args[1]);
			mutex_unlock(&ctrl->lock);
		}
		kdp_ctrl_put(ctrl);
		if (err == -ENOENT) {
			cb->args[0]++;
			cb->args[1] = 0;
		}
	}
	/* a full buffer goes out; one that holds nothing is an error */
	return skb->len || err != -EMSGSIZE ? skb->len : err;
}

static const struct genl_ops kdp_genl_ops[] = {
	{
		.cmd		= KDP_CMD_CONNECT,
		.flags		= GENL_ADMIN_PERM,
		.policy		= kdp_connect_policy,
		.maxattr	= ARRAY_SIZE(kdp_connect_policy) - 1,
		.doit		= kdp_do_connect,
	},
	{
		.cmd		= KDP_CMD_DISCONNECT,
		.flags		= GENL_ADMIN_PERM,
		.policy		= kdp_instance_policy,
		.maxattr	= ARRAY_SIZE(kdp_instance_policy) - 1,
		.doit		= kdp_do_disconnect,
	},
	{
		.cmd		= KDP_CMD_GET,
		.policy		= kdp_instance_policy,
		.maxattr	= ARRAY_SIZE(kdp_instance_policy) - 1,
		.doit		= kdp_do_get,
		.start		= kdp_dump_start,
		.dumpit		= kdp_dump_get,
	},
	{
		.cmd		= KDP_CMD_SET,
		.flags		= GENL_ADMIN_PERM,
		.policy		= kdp_set_policy,
		.maxattr	= KDP_SET_MAXATTR,
		.doit		= kdp_do_set,
	},
	{
		.cmd		= KDP_CMD_GET_QUEUES,
		.dumpit		= kdp_dump_queues,
	},
	{
		.cmd		= KDP_CMD_RESET,
		.flags		= GENL_ADMIN_PERM,
		.policy		= kdp_instance_policy,
		.maxattr	= ARRAY_SIZE(kdp_instance_policy) - 1,
		.doit		= kdp_do_reset,
	},
	{
		.cmd		= KDP_CMD_RESCAN,
		.flags		= GENL_ADMIN_PERM,
		.policy		= kdp_instance_policy,
		.maxattr	= ARRAY_SIZE(kdp_instance_policy) - 1,
		.doit		= kdp_do_rescan,
	},
};

static const struct genl_multicast_group kdp_genl_groups[] = {
	{ .name = KDP_GENL_GROUP },
};

struct genl_family kdp_genl_family = {
	.name		= KDP_GENL_NAME,
	.version	= KDP_GENL_VERSION,
	.ops		= kdp_genl_ops,
	.n_ops		= ARRAY_SIZE(kdp_genl_ops),
	.mcgrps		= kdp_genl_groups,
	.n_mcgrps	= ARRAY_SIZE(kdp_genl_groups),
	.netnsok	= true,
	.parallel_ops	= true,	/* a connect may take seconds */
	.module		= THIS_MODULE,
};

int kdp_netlink_init(void)
{
	int err = genl_register_family(&kdp_genl_family);

	if (!err)
		kdp_notify_enable(true);
	return err;
}

void kdp_netlink_exit(void)
{
	kdp_notify_enable(false);
	genl_unregister_family(&kdp_genl_family);
}
