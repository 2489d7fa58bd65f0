// SPDX-License-Identifier: GPL-2.0-only
/* What happens to controllers, for whoever listens (KDP_CMD_EVENT). */
#include <linux/mutex.h>
#include <linux/netlink.h>

#include "host.h"

/* The family is there, and stays while this is held. */
static DEFINE_MUTEX(kdp_notify_lock);
static bool kdp_may_notify;

void kdp_notify_enable(bool enable)
{
	mutex_lock(&kdp_notify_lock);
	kdp_may_notify = enable;
	mutex_unlock(&kdp_notify_lock);
}

static struct sk_buff *kdp_event_message(struct kdp_ctrl *ctrl, enum kdp_ctrl_state state)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	const char *reason = READ_ONCE(ctrl->reason);
	void *header;

	if (!msg)
		return NULL;
	header = genlmsg_put(msg, 0, 0, &kdp_genl_family, 0, KDP_CMD_EVENT);
	if (!header || nla_put_u32(msg, KDP_A_INSTANCE, ctrl->instance) ||
	    nla_put_string(msg, KDP_A_NAME, dev_name(&ctrl->dev)) ||
	    nla_put_u32(msg, KDP_A_STATE, state) ||
	    nla_put_string(msg, KDP_A_SUBNQN, ctrl->opts.subnqn) ||
	    nla_put_u32(msg, KDP_A_RECONNECTS, READ_ONCE(ctrl->reconnects)) ||
	    (reason && nla_put_string(msg, KDP_A_REASON, reason))) {
		nlmsg_free(msg);
		return NULL;
	}
	genlmsg_end(msg, header);
	return msg;
}

static void kdp_notify_net(struct kdp_ctrl *ctrl, enum kdp_ctrl_state state, struct net *net)
{
	struct sk_buff *msg;

	if (!genl_has_listeners(&kdp_genl_family, net, 0))
		return;
	msg = kdp_event_message(ctrl, state);
	/* who listens without reading loses messages, and is told so */
	if (msg)
		genlmsg_multicast_netns(&kdp_genl_family, net, msg, 0, 0, GFP_KERNEL);
}

/*
 * @ctrl has come to @state. Nobody need listen. May sleep; called in the order in which
 * it happens.
 */
void kdp_notify(struct kdp_ctrl *ctrl, enum kdp_ctrl_state state)
{
	mutex_lock(&kdp_notify_lock);
	if (kdp_may_notify) {
		kdp_notify_net(ctrl, state, ctrl->opts.net);
		if (!net_eq(ctrl->opts.net, &init_net))
			kdp_notify_net(ctrl, state, &init_net);
	}
	mutex_unlock(&kdp_notify_lock);
}
