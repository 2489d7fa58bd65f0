// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What the keys of a benchmark's figures mean, for headings.
#pragma once

#include <string>
#include <string_view>

namespace kdp::tool::document {

struct FigureName {
    std::string name;
    std::string unit;  ///< empty: a number of something per I/O
};

/// Of a key that is not known here (a newer kdp wrote it): the key itself.
[[nodiscard]] FigureName figure_name(std::string_view key);

}  // namespace kdp::tool::document
