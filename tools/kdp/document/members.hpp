// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Reading a JSON document whose every member may be missing, or be something else.
///
/// A Members is one object of the document together with where it stands. Reading what is not
/// there, or is of another type, leaves a default and a sentence in the Problem that all Members
/// of a document share; only the first one counts. So a reader is written straight down, and asks
/// once, at its end, whether all of it was there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kdp::tool::document {

using Json = nlohmann::ordered_json;

/// The first thing that was wrong: "points[0].bs: missing".
class Problem {
public:
    void set(std::string sentence);
    [[nodiscard]] const std::optional<std::string>& first() const noexcept { return first_; }

private:
    std::optional<std::string> first_;
};

class Members {
public:
    /// @p json is to outlive this, unless it is no object: that is a problem.
    Members(const Json& json, std::string where, Problem& problem);

    [[nodiscard]] Members object(std::string_view key) const;
    [[nodiscard]] std::optional<Members> object_or_null(std::string_view key) const;
    /// Of an array of objects each.
    [[nodiscard]] std::vector<Members> objects(std::string_view key) const;
    [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
    /// Of an array of pairs of numbers; none for null.
    [[nodiscard]] std::vector<std::pair<double, double>> pairs(std::string_view key) const;

    [[nodiscard]] double number(std::string_view key) const;
    [[nodiscard]] std::optional<double> number_or_null(std::string_view key) const;
    /// A whole number, not negative, that fits 64 bits.
    [[nodiscard]] std::uint64_t count(std::string_view key) const;
    [[nodiscard]] bool boolean(std::string_view key) const;
    [[nodiscard]] std::string text(std::string_view key) const;
    /// Empty for null.
    [[nodiscard]] std::string text_or_null(std::string_view key) const;
    /// Empty for null and for a member that is not there.
    [[nodiscard]] std::string text_if_any(std::string_view key) const;

    [[nodiscard]] const Json& json() const noexcept { return *json_; }
    [[nodiscard]] std::string place(std::string_view key) const;
    void wrong(std::string_view key, std::string_view what) const;

private:
    /// nullptr, and a problem, when it is not there.
    [[nodiscard]] const Json* find(std::string_view key) const;
    /// The same for null; a problem only when it is not there.
    [[nodiscard]] const Json* find_not_null(std::string_view key) const;
    [[nodiscard]] double finite(std::string_view key, const Json& value) const;

    const Json* json_;
    std::string where_;  ///< empty: the document itself
    Problem* problem_;
};

}  // namespace kdp::tool::document
