// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// From a file to a document.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <kdp/result.hpp>

#include "document/bench.hpp"
#include "document/experiment.hpp"

namespace kdp::tool::document {

using Document = std::variant<Bench, Experiment>;

/// No document is larger; what is, is something else.
inline constexpr std::size_t largest_document = std::size_t{256} << 20;

/// EINVAL: no JSON (the sentence says where it stops to be), neither of the two, or with
/// something missing.
[[nodiscard]] Result<Document> parse_document(std::string_view text);

/// Of the file @p name; "-": of standard input. The error's text does not repeat the name.
[[nodiscard]] Result<Document> load_document(const std::string& name);

}  // namespace kdp::tool::document
