// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "lines.hpp"

#include <algorithm>

namespace kdp::tool {

std::size_t places(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not a continuation byte
    }));
}

std::string filled(std::string_view lead, std::size_t indent, std::string_view text)
{
    std::string out = std::string(indent, ' ').append(lead);
    const std::size_t begin = places(out);
    std::size_t column = begin;
    bool first = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!first && column + 1 + places(word) > terminal_width) {
            out += '\n' + std::string(begin, ' ');
            column = begin;
        } else if (!first) {
            out += ' ';
            column++;
        }
        out.append(word);
        column += places(word);
        first = false;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
}

std::string printable(std::string text)
{
    std::replace_if(
        text.begin(), text.end(),
        [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return (byte < 0x20 && c != '\n') || byte == 0x7f;
        },
        '?');
    return text;
}

}  // namespace kdp::tool
