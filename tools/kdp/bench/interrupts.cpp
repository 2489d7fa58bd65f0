// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/interrupts.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace kdp::tool::bench {
namespace {

constexpr std::string_view blanks = " \t";

/// Cut the next word off @p text; empty at the end.
std::string_view cut_word(std::string_view& text)
{
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

std::string_view cut_line(std::string_view& text)
{
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

}  // namespace

std::optional<std::uint64_t> sum_of_interrupts(std::string_view text)
{
    // "           CPU0       CPU1", then "  24:   0   17  PCI-MSIX-0000:00:03.0   0-edge   eth0"
    std::string_view heading = cut_line(text);
    std::size_t cpus = 0;
    for (std::string_view word = cut_word(heading); !word.empty(); word = cut_word(heading)) {
        if (!word.starts_with("CPU"))
            return std::nullopt;
        cpus++;
    }
    if (cpus == 0)
        return std::nullopt;

    std::uint64_t sum = 0;
    while (!text.empty()) {
        std::string_view line = cut_line(text);
        const std::string_view name = cut_word(line);
        if (name == "ERR:" || name == "MIS:")
            continue;
        for (std::size_t cpu = 0; cpu < cpus; cpu++) {
            const std::string_view word = cut_word(line);
            std::uint64_t count = 0;
            const auto [end, error] = std::from_chars(word.begin(), word.end(), count);
            if (error != std::errc() || end != word.end())
                break;
            sum += count;
        }
    }
    return sum;
}

std::optional<std::uint64_t> interrupts_so_far()
{
    std::ifstream file("/proc/interrupts");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return sum_of_interrupts(text);
}

}  // namespace kdp::tool::bench
