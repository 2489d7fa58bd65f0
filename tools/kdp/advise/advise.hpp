// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Which path to take, for which block size and depth, and how sure that is.
///
/// Pure: a benchmark's document in, advice out. The rules are told in Documentation/advisor.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/claim.hpp"
#include "advise/needs.hpp"
#include "advise/regions.hpp"
#include "advise/verdict.hpp"
#include "document/bench.hpp"

namespace kdp::tool::advise {

struct Candidate {
    std::size_t path = 0;
    std::vector<std::string> excluded;  ///< a sentence for each need that it does not meet
};

/// One figure of one load.
struct Comparison {
    Figure figure = Figure::latency;
    document::Load load;
    std::vector<Verdict> verdicts;
    std::vector<Region> regions;
    std::vector<Crossing> crossings;
    unsigned winners = 0;           ///< points where a winner is shown
    unsigned ties = 0;              ///< points where none is
    bool process_cpu_only = false;  ///< of Figure::cpu: the machine's is not known at some point
};

struct Advice {
    Claim claim;
    std::vector<Need> needs;              ///< given
    std::vector<Candidate> candidates;    ///< every path of the document
    std::vector<Comparison> comparisons;  ///< by load; the figure that decides first
    /// What limits the advice: failed and missing paths, single rounds, an interrupted run.
    std::vector<std::string> limits;

    /// Indices of the paths that no need excludes.
    [[nodiscard]] std::vector<std::size_t> eligible() const;
};

[[nodiscard]] Advice advise(const document::Bench& bench, const std::vector<Need>& needs);

}  // namespace kdp::tool::advise
