// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Advice for the terminal.
#pragma once

#include <string>

#include "advise/advise.hpp"

namespace kdp::tool::advise {

[[nodiscard]] std::string to_text(const document::Bench& bench, const Advice& advice);

}  // namespace kdp::tool::advise
