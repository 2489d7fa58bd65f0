// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The parts of the page, as HTML.
#pragma once

#include <string>
#include <vector>

#include "advise/advise.hpp"
#include "document/tables.hpp"
#include "html/charts.hpp"

namespace kdp::tool::html {

[[nodiscard]] std::string table_html(const document::Table& table);
[[nodiscard]] std::string facts_html(const std::vector<document::Fact>& facts);
/// A list of sentences; empty for none.
[[nodiscard]] std::string notes_html(const std::vector<std::string>& sentences);
/// The places that html/report.js draws into.
[[nodiscard]] std::string charts_html(const std::vector<Chart>& charts);
[[nodiscard]] std::string callout_html(bool bad, const std::string& headline,
                                       const std::string& text);
/// Name of a path, with its sign from the charts.
[[nodiscard]] std::string path_html(const document::Bench& bench, std::size_t path);

/// Which path, where, how sure.
[[nodiscard]] std::string advice_html(const document::Bench& bench, const advise::Advice& advice);

}  // namespace kdp::tool::html
