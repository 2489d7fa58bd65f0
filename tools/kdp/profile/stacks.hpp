// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Samples as lines of text, a line a call chain: the form that flame graphs are drawn from.
///
///     CLASS;TASK THREAD;USER;FUNCTION;…;FUNCTION[MODULE] COUNT
///
/// CLASS is that of classes.hpp, or "between" for a kernel thread between its works. TASK is idle,
/// path or other. USER is there if known: [application], [provider], [polling]. Functions follow,
/// outermost first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profile/classes.hpp"
#include "profile/sample.hpp"

namespace kdp::tool::profile {

/// How often each line was seen.
using Stacks = std::map<std::string, std::uint64_t>;

/// A line without its count.
[[nodiscard]] std::string stack_line(const Sample& sample, std::optional<Class> is);

struct ParsedStack {
    Sample sample;
    std::string_view is;  ///< the class as it stands there
    std::uint64_t count = 0;
};

/// nullopt for what is no such line. The texts are parts of @p line.
[[nodiscard]] std::optional<ParsedStack> parse_stack(std::string_view line);

}  // namespace kdp::tool::profile
