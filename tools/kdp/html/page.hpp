// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Documents as one HTML page that needs nothing else: no network, no other file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <kdp/result.hpp>

#include "advise/needs.hpp"
#include "document/load.hpp"

namespace kdp::tool::html {

struct NamedDocument {
    std::string name;  ///< of the file; empty: it comes from this run
    document::Document document;
};

/// The whole page, UTF-8. @p needs restrict the advice on each benchmark.
[[nodiscard]] std::string page(std::span<const NamedDocument> documents,
                               const std::vector<advise::Need>& needs);

/// The page of one benchmark's JSON (schema 2), as bench::to_json() makes it. EINVAL: the JSON is
/// none of a benchmark.
[[nodiscard]] Result<std::string> bench_page(const document::Json& bench,
                                             const std::vector<advise::Need>& needs = {});

}  // namespace kdp::tool::html
