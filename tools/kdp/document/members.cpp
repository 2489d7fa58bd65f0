// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/members.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace kdp::tool::document {
namespace {

const Json& no_members()
{
    static const Json empty = Json::object();
    return empty;
}

}  // namespace

void Problem::set(std::string sentence)
{
    if (!first_)
        first_ = std::move(sentence);
}

Members::Members(const Json& json, std::string where, Problem& problem)
    : json_(&json), where_(std::move(where)), problem_(&problem)
{
    if (json.is_object())
        return;
    problem_->set(
        fmt::format("{}: an object is expected", where_.empty() ? "the document" : where_));
    json_ = &no_members();
}

std::string Members::place(std::string_view key) const
{
    return where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
}

void Members::wrong(std::string_view key, std::string_view what) const
{
    problem_->set(fmt::format("{}: {}", place(key), what));
}

const Json* Members::find(std::string_view key) const
{
    const auto it = json_->find(key);
    if (it != json_->end())
        return &*it;
    wrong(key, "missing");
    return nullptr;
}

const Json* Members::find_not_null(std::string_view key) const
{
    const Json* value = find(key);
    return value && value->is_null() ? nullptr : value;
}

Members Members::object(std::string_view key) const
{
    const Json* value = find(key);
    return {value ? *value : no_members(), place(key), *problem_};
}

std::optional<Members> Members::object_or_null(std::string_view key) const
{
    const Json* value = find_not_null(key);
    if (!value)
        return std::nullopt;
    return Members(*value, place(key), *problem_);
}

std::vector<Members> Members::objects(std::string_view key) const
{
    std::vector<Members> all;
    const Json* value = find(key);
    if (!value)
        return all;
    if (!value->is_array()) {
        wrong(key, "an array is expected");
        return all;
    }
    for (const Json& element : *value)
        all.emplace_back(element, fmt::format("{}[{}]", place(key), all.size()), *problem_);
    return all;
}

std::vector<std::string> Members::texts(std::string_view key) const
{
    std::vector<std::string> all;
    const Json* value = find(key);
    if (!value)
        return all;
    if (!value->is_array()) {
        wrong(key, "an array is expected");
        return all;
    }
    for (const Json& element : *value) {
        if (!element.is_string()) {
            wrong(fmt::format("{}[{}]", key, all.size()), "a string is expected");
            return {};
        }
        all.push_back(element.get<std::string>());
    }
    return all;
}

std::vector<std::pair<double, double>> Members::pairs(std::string_view key) const
{
    std::vector<std::pair<double, double>> all;
    const Json* value = find_not_null(key);
    if (!value)
        return all;
    if (!value->is_array()) {
        wrong(key, "an array is expected");
        return all;
    }
    for (const Json& element : *value) {
        const std::string name = fmt::format("{}[{}]", key, all.size());
        if (!element.is_array() || element.size() != 2) {
            wrong(name, "a pair of numbers is expected");
            return {};
        }
        all.emplace_back(finite(name, element[0]), finite(name, element[1]));
    }
    return all;
}

double Members::finite(std::string_view key, const Json& value) const
{
    if (value.is_number() && std::isfinite(value.get<double>()))
        return value.get<double>();
    wrong(key, "a number is expected");
    return 0;
}

double Members::number(std::string_view key) const
{
    const Json* value = find(key);
    return value ? finite(key, *value) : 0;
}

std::optional<double> Members::number_or_null(std::string_view key) const
{
    const Json* value = find_not_null(key);
    if (!value)
        return std::nullopt;
    return finite(key, *value);
}

std::uint64_t Members::count(std::string_view key) const
{
    const Json* value = find(key);
    if (!value)
        return 0;
    // What was written by hand is signed, what was parsed is not.
    if (value->is_number_unsigned() ||
        (value->is_number_integer() && value->get<std::int64_t>() >= 0))
        return value->get<std::uint64_t>();
    wrong(key, "a whole number, not negative, is expected");
    return 0;
}

bool Members::boolean(std::string_view key) const
{
    const Json* value = find(key);
    if (value && !value->is_boolean())
        wrong(key, "true or false is expected");
    return value && value->is_boolean() && value->get<bool>();
}

std::string Members::text(std::string_view key) const
{
    const Json* value = find(key);
    if (value && !value->is_string())
        wrong(key, "a string is expected");
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::string Members::text_or_null(std::string_view key) const
{
    const Json* value = find_not_null(key);
    return value ? text(key) : std::string();
}

std::string Members::text_if_any(std::string_view key) const
{
    return json_->contains(key) ? text_or_null(key) : std::string();
}

}  // namespace kdp::tool::document
