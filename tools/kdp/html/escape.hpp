// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Text and data into HTML such that they stay text and data: names come from targets, files and
/// other people's documents.
#pragma once

#include <string>
#include <string_view>

#include "document/members.hpp"

namespace kdp::tool::html {

/// For an element's content and for a quoted attribute. Control characters and what is no UTF-8
/// become U+FFFD.
[[nodiscard]] std::string escape(std::string_view text);

/// JSON for the content of a <script type="application/json">: no '<', '>' or '&' and nothing but
/// ASCII in it, so that no text can end the element or begin a comment.
[[nodiscard]] std::string script_json(const document::Json& json);

}  // namespace kdp::tool::html
