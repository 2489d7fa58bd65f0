// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "text_table.hpp"

#include <algorithm>

#include "lines.hpp"

namespace kdp::tool {
std::string TextTable::to_string() const
{
    std::vector<std::size_t> widths;
    for (const Column& column : columns_)
        widths.push_back(places(column.heading));
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size() && i < widths.size(); i++)
            widths[i] = std::max(widths[i], places(row[i]));

    std::string out;
    const auto put_row = [&](const auto& cell_of) {
        std::string line;
        for (std::size_t i = 0; i < columns_.size(); i++) {
            const std::string cell = cell_of(i);
            const std::string padding(widths[i] - places(cell), ' ');
            if (i != 0)
                line += "  ";
            line += columns_[i].align == Align::left ? cell + padding : padding + cell;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    put_row([&](std::size_t i) { return columns_[i].heading; });
    put_row([&](std::size_t i) { return std::string(widths[i], '-'); });
    for (const auto& row : rows_)
        put_row([&](std::size_t i) { return i < row.size() ? row[i] : std::string(); });
    return out;
}

}  // namespace kdp::tool
