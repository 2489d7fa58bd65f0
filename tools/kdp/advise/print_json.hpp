// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Advice as JSON; Documentation/advisor.md is the schema.
#pragma once

#include "advise/advise.hpp"
#include "document/members.hpp"

namespace kdp::tool::advise {

/// Grows when a member changes its meaning or goes; new members leave it.
inline constexpr int advice_schema = 1;

[[nodiscard]] document::Json to_json(const document::Bench& bench, const Advice& advice);

}  // namespace kdp::tool::advise
