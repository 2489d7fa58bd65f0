// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Documents as charts: what html/report.js draws.
#pragma once

#include <string>
#include <vector>

#include "document/bench.hpp"
#include "document/experiment.hpp"

namespace kdp::tool::html {

struct Chart {
    std::string id;  ///< of the element; unique in the page
    std::string title;
    std::string hint;                   ///< below the chart; empty: none
    std::vector<std::string> variants;  ///< to choose from, one at a time
    /// For the script, in the form
    ///     {"id", "title", "kind": "line", "x": {"label", "ticks": [{"at", "label"}]},
    ///      "y": {"label", "log"}, "variants": [{"series": [{"name", "color", "x", "y", "half"}]}]}
    /// where x are places on a linear axis, whatever the ticks say, or
    ///     {"id", "title", "kind": "stack", "y": {"label"}, "kinds": [{"index", "name"}],
    ///      "variants": [{"bars": [{"name", "parts": [{"kind", "value"}]}]}]}
    document::Json data;
};

/// Latency percentiles; IOPS against depth and latency against block size where there are at
/// least two of these; CPU time per I/O by its parts. @p prefix begins the ids.
[[nodiscard]] std::vector<Chart> charts_of(const document::Bench& bench, const std::string& prefix);
[[nodiscard]] std::vector<Chart> charts_of(const document::Experiment& experiment,
                                           const std::string& prefix);

}  // namespace kdp::tool::html
