// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// An experiment's JSON (Documentation/benchmarking/README.md), read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kdp/result.hpp>

#include "document/environment.hpp"
#include "document/members.hpp"

namespace kdp::tool::document {

inline constexpr std::uint64_t experiment_schema_read = 1;

/// A place on the x axis: a number or, where the axis has names, a name.
struct ExperimentX {
    std::optional<double> number;
    std::string name;  ///< of a number: as it is printed

    bool operator==(const ExperimentX&) const = default;
};

struct ExperimentPoint {
    ExperimentX x;
    std::optional<double> mean;  ///< nullopt: nothing was measured there
    std::optional<double> half_width;
};

struct ExperimentSeries {
    std::string name;
    std::vector<ExperimentPoint> points;

    /// nullptr: no point there.
    [[nodiscard]] const ExperimentPoint* find(const ExperimentX& x) const noexcept;
};

struct ExperimentChart {
    std::string title;
    std::string unit;
    bool log = false;
    std::vector<ExperimentSeries> series;

    /// Every place of any series: numbers ascending, names in the order of their first mention.
    [[nodiscard]] std::vector<ExperimentX> places() const;
    /// x are names.
    [[nodiscard]] bool named() const noexcept;
};

struct Experiment {
    std::string name;  ///< "lossy"
    std::string title;
    std::optional<Environment> environment;
    std::vector<std::string> notes;
    std::string x_label;
    std::string x_unit;  ///< empty: none
    bool x_log = false;
    std::vector<ExperimentChart> charts;
};

/// EINVAL with a sentence that names the member, and for another schema what to do.
[[nodiscard]] Result<Experiment> read_experiment(const Json& json);

}  // namespace kdp::tool::document
