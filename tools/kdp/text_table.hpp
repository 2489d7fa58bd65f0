// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A table of text with padded columns.
#pragma once

#include <string>
#include <vector>

namespace kdp::tool {

enum class Align { left, right };

class TextTable {
public:
    struct Column {
        std::string heading;
        Align align = Align::left;
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// One cell a column, missing ones are empty. UTF-8; each code point counts as one place.
    void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// Lines that end in a newline and have no trailing blanks.
    [[nodiscard]] std::string to_string() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace kdp::tool
