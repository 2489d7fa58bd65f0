// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Documents as tables: the same ones for the terminal and for the page.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/bench.hpp"
#include "document/experiment.hpp"

namespace kdp::tool::document {

/// "12.35" and "0.41"; "–" and empty where nothing is known.
struct Cell {
    std::string mean;
    std::string half_width;       ///< empty: none
    std::optional<double> value;  ///< the mean; nullopt: not known
    std::optional<double> half;
};

[[nodiscard]] Cell cell_of(double mean, std::optional<double> half_width);

/// Print the values anew, all of one unit, with as many decimals each, so that they stand one below
/// the other: four significant digits of the largest, and at least two of the smallest; none if all
/// are whole numbers.
void align_decimals(std::span<Cell* const> cells);

struct Table {
    std::string title;
    std::string unit;                  ///< empty: none, or one a row
    std::vector<std::string> heads;    ///< headings of what stands down: "bs", "depth"
    std::vector<std::string> columns;  ///< headings of what stands across: paths, series
    struct Row {
        std::vector<std::string> heads;
        std::vector<Cell> cells;
    };
    std::vector<Row> rows;
    bool main = false;  ///< one of the few that are looked at first
};

/// The tables of one load: with one point figures down and paths across, with more a table a
/// figure, points down. Figures that no path knows are left out.
[[nodiscard]] std::vector<Table> tables_of(const Bench& bench, const Load& load);

/// Latency percentiles of one load: point and path down, percents across.
[[nodiscard]] Table percentile_table(const Bench& bench, const Load& load);

/// Projections of one load, if there are any: points down, paths across.
[[nodiscard]] std::vector<Table> projection_tables(const Bench& bench, const Load& load);

/// One for each chart.
[[nodiscard]] std::vector<Table> tables_of(const Experiment& experiment);

/// The document for a terminal: where it was measured, what, and its tables.
[[nodiscard]] std::string to_text(const Bench& bench);
[[nodiscard]] std::string to_text(const Experiment& experiment);

/// What was asked for, as names and values: rounds, runtime, seed.
[[nodiscard]] std::vector<Fact> option_facts(const Bench& bench);

}  // namespace kdp::tool::document
