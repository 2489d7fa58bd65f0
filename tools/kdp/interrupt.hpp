// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Ctrl-C ends a run early and in order.
#pragma once

namespace kdp::tool {

/// From now on SIGINT and SIGTERM only set a flag; a second one kills as usual.
void catch_interrupts();
[[nodiscard]] bool interrupted() noexcept;

}  // namespace kdp::tool
