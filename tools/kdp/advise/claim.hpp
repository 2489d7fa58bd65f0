// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// How far figures carry: what the environment does to any advice that comes from them.
#pragma once

#include <string>
#include <vector>

#include "document/bench.hpp"

namespace kdp::tool::advise {

struct Claim {
    /// The ranking holds for this machine only: a provider in software, or an emulated CPU.
    bool here_only = false;
    /// "Measured on soft-RoCE under emulation: this says nothing of your fabric." Empty on plain
    /// hardware.
    std::string headline;
    std::string explanation;  ///< empty with an empty headline
};

[[nodiscard]] Claim claim_of(const document::Bench& bench);

}  // namespace kdp::tool::advise
