// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/stacks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace kdp::tool::profile {
namespace {

constexpr std::array<std::pair<std::string_view, Task>, 3> tasks{
    {{"idle", Task::idle}, {"path", Task::path}, {"other", Task::other}}};
constexpr std::array<std::pair<std::string_view, UserCode>, 3> user_codes{
    {{"[application]", UserCode::application},
     {"[provider]", UserCode::provider},
     {"[polling]", UserCode::polling}}};

template <typename Names, typename Value>
std::string_view name_of(const Names& names, Value value)
{
    for (const auto& [name, of] : names)
        if (of == value)
            return name;
    return {};
}

template <typename Value, std::size_t size>
std::optional<Value> value_of(const std::array<std::pair<std::string_view, Value>, size>& names,
                              std::string_view text)
{
    for (const auto& [name, value] : names)
        if (name == text)
            return value;
    return std::nullopt;
}

template <typename Number>
bool parse_number(std::string_view text, Number& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

/// The first piece of @p text up to a semicolon, which goes with it.
std::string_view take_piece(std::string_view& text)
{
    const auto end = std::min(text.find(';'), text.size());
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return piece;
}

Frame parse_frame(std::string_view text)
{
    const auto bracket = text.find('[');
    if (bracket == std::string_view::npos || !text.ends_with(']'))
        return {text, {}};
    return {text.substr(0, bracket), text.substr(bracket + 1, text.size() - bracket - 2)};
}

}  // namespace

std::string stack_line(const Sample& sample, std::optional<Class> is)
{
    std::string line = fmt::format("{};{} {}", is ? class_name(*is) : "between",
                                   name_of(tasks, sample.task), sample.thread);
    if (sample.user != UserCode::none)
        line += fmt::format(";{}", name_of(user_codes, sample.user));
    for (auto frame = sample.kernel.rbegin(); frame != sample.kernel.rend(); ++frame) {
        line += fmt::format(";{}", frame->symbol.empty() ? "?" : frame->symbol);
        if (!frame->module.empty())
            line += fmt::format("[{}]", frame->module);
    }
    return line;
}

std::optional<ParsedStack> parse_stack(std::string_view line)
{
    const auto blank = line.rfind(' ');
    ParsedStack parsed;
    if (blank == std::string_view::npos || !parse_number(line.substr(blank + 1), parsed.count))
        return std::nullopt;
    std::string_view rest = line.substr(0, blank);
    parsed.is = take_piece(rest);
    const std::string_view who = take_piece(rest);
    const auto gap = who.find(' ');
    if (gap == std::string_view::npos || !parse_number(who.substr(gap + 1), parsed.sample.thread))
        return std::nullopt;
    const auto task = value_of(tasks, who.substr(0, gap));
    if (!task)
        return std::nullopt;
    parsed.sample.task = *task;
    if (rest.starts_with('[')) {
        const auto user = value_of(user_codes, take_piece(rest));
        if (!user)
            return std::nullopt;
        parsed.sample.user = *user;
    }
    while (!rest.empty())
        parsed.sample.kernel.push_back(parse_frame(take_piece(rest)));
    std::reverse(parsed.sample.kernel.begin(), parsed.sample.kernel.end());
    return parsed;
}

}  // namespace kdp::tool::profile
