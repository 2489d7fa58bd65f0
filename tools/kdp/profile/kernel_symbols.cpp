// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/kernel_symbols.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "profile/files.hpp"

namespace kdp::tool::profile {
namespace {

bool is_function(char type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

}  // namespace

Result<KernelSymbols> KernelSymbols::load()
{
    auto text = read_whole("/proc/kallsyms");
    if (!text)
        return text.error();
    return parse(std::move(text).value());
}

Result<KernelSymbols> KernelSymbols::parse(std::string kallsyms)
{
    KernelSymbols symbols;
    symbols.text_ = std::move(kallsyms);
    symbols.functions_.reserve(symbols.text_.size() / 90);
    const char* const begin = symbols.text_.data();
    const char* const end = begin + symbols.text_.size();
    for (const char* at = begin; at < end;) {
        const char* const line_end = std::find(at, end, '\n');
        std::uint64_t address = 0;
        const auto [next, error] = std::from_chars(at, line_end, address, 16);
        // " t name"
        if (error == std::errc() && line_end - next > 3 && is_function(next[1]) && address != 0) {
            const char* const name = next + 3;
            const char* const name_end = std::find(name, line_end, '\t');
            const bool has_module = line_end - name_end > 3;  // "\t[m]"
            symbols.functions_.push_back(
                {address, static_cast<std::uint32_t>(name - begin),
                 static_cast<std::uint16_t>(name_end - name),
                 static_cast<std::uint16_t>(has_module ? line_end - name_end - 3 : 0)});
        }
        at = line_end + 1;
    }
    if (symbols.functions_.empty())
        return Error{EACCES,
                     "/proc/kallsyms shows no addresses: it needs CAP_SYSLOG, or "
                     "kernel.kptr_restrict=0"};
    const auto before = [](const Function& a, const Function& b) { return a.address < b.address; };
    // The first name of an address stays: kallsyms has a section's begin behind its function.
    std::stable_sort(symbols.functions_.begin(), symbols.functions_.end(), before);
    const auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
    symbols.functions_.erase(
        std::unique(symbols.functions_.begin(), symbols.functions_.end(), same),
        symbols.functions_.end());
    return symbols;
}

Frame KernelSymbols::find(std::uint64_t address) const
{
    const auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint64_t wanted, const Function& f) { return wanted < f.address; });
    if (after == functions_.begin())
        return {};
    const Function& f = *std::prev(after);
    const std::string_view text = text_;
    Frame frame{text.substr(f.name, f.name_length), {}};
    if (f.module_length > 0)
        frame.module = text.substr(f.name + f.name_length + 2, f.module_length);
    return frame;
}

}  // namespace kdp::tool::profile
