// SPDX-License-Identifier: GPL-2.0-only
/* KDP_CMD_SET: what can be changed of a controller that is connected. */
#include <net/netlink.h>

#include "host.h"

const struct nla_policy kdp_set_policy[KDP_SET_MAXATTR + 1] = {
	[KDP_A_INSTANCE]	= NLA_POLICY_MAX(NLA_U32, KDP_MAX_INSTANCE),
	[KDP_A_SPIN_US]		= NLA_POLICY_MIN(NLA_S32, KDP_SPIN_FOREVER),
	[KDP_A_CQ_MODE]		= NLA_POLICY_MAX(NLA_U32, KDP_MODE_CALLER),
};

static int kdp_set(struct kdp_ctrl *ctrl, struct nlattr **a, struct netlink_ext_ack *extack)
{
	enum kdp_cq_mode mode;
	s32 spin_us;
	int err;

	lockdep_assert_held(&ctrl->lock);
	if (kdp_ctrl_state(ctrl) == KDP_STATE_DELETING) {
		NL_SET_ERR_MSG(extack, "the controller is just being disconnected");
		return -ENODEV;
	}
	mode = a[KDP_A_CQ_MODE] ? kdp_mode_of_attr(nla_get_u32(a[KDP_A_CQ_MODE])) :
				  ctrl->opts.cq_mode;
	spin_us = a[KDP_A_SPIN_US] ? nla_get_s32(a[KDP_A_SPIN_US]) : ctrl->opts.spin_us;
	err = kdp_ctrl_set_modes(ctrl, mode, spin_us);
	if (err)
		NL_SET_ERR_MSG(extack, "no memory for a poller thread; nothing has changed");
	return err;
}

int kdp_do_set(struct sk_buff *skb, struct genl_info *info)
{
	struct kdp_ctrl *ctrl;
	int err;

	ctrl = kdp_ctrl_to_control(skb, info);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	if (info->attrs[KDP_A_CQ_MODE] || info->attrs[KDP_A_SPIN_US]) {
		/* a reconnect in progress ends first */
		err = mutex_lock_interruptible(&ctrl->lock);
		if (!err) {
			err = kdp_set(ctrl, info->attrs, info->extack);
			mutex_unlock(&ctrl->lock);
		}
	} else {
		NL_SET_ERR_MSG(info->extack, "there is nothing to set");
		err = -EINVAL;
	}
	kdp_ctrl_put(ctrl);
	return err;
}
