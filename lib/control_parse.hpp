// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The attributes of a KDP_CMD_GET answer, to a Controller.
#pragma once

#include <netlink/attr.h>

#include <kdp/control.hpp>

namespace kdp::control {

/// @p attributes: an array of KDP_A_MAX + 1, null for what did not come. Attributes that are
/// missing leave the default; instance and name must be there, and whatever is there must have
/// its length: else EPROTO.
[[nodiscard]] Result<Controller> parse_controller(nlattr** attributes);

/// The same for an answer to KDP_CMD_GET_QUEUES.
[[nodiscard]] Result<Queue> parse_queue(nlattr** attributes);

/// A KDP_CMD_EVENT. Instance, name and state must be there.
[[nodiscard]] Result<Event> parse_event(nlattr** attributes);

/// KDP_A_INSTANCE and KDP_A_NAME of a KDP_CMD_CONNECT answer. EPROTO without them.
[[nodiscard]] Result<Connected> parse_connected(nlattr** attributes);

}  // namespace kdp::control
