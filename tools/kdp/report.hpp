// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Errors, as the tool shows them.
#pragma once

#include <string>
#include <string_view>

#include <kdp/result.hpp>

namespace kdp::tool {

/// "ECONNREFUSED" for 111, "errno 4711" for what has no name.
[[nodiscard]] std::string errno_name(int code);

/// One line: "kdp connect: 192.0.2.1:4420: nobody listens there (ECONNREFUSED)".
/// @p subject may be empty.
[[nodiscard]] std::string error_line(std::string_view command, std::string_view subject,
                                     const Error& error);

/// Print error_line() on stderr. Returns exit_failed.
int report(std::string_view command, std::string_view subject, const Error& error);

/// The same for a command line that makes no sense. Returns exit_usage.
int report_usage(std::string_view command, std::string_view sentence);

/// The last thing of a command that prints: flush stdout. That it could not be written (a full disk
/// behind it) is reported. Returns an Exit.
int finish_output(std::string_view command);

}  // namespace kdp::tool
