// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "report.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "command.hpp"

namespace kdp::tool {

std::string errno_name(int code)
{
    const char* name = strerrorname_np(code);
    return name ? name : fmt::format("errno {}", code);
}

std::string error_line(std::string_view command, std::string_view subject, const Error& error)
{
    std::string line = fmt::format("kdp {}: ", command);
    if (!subject.empty())
        line += fmt::format("{}: ", subject);
    line += fmt::format("{} ({}", error.text, errno_name(error.code));
    if (error.nvme_status != 0)
        line += fmt::format(", NVMe status {:#06x}", error.nvme_status);
    return line + ")";
}

int report(std::string_view command, std::string_view subject, const Error& error)
{
    fmt::print(stderr, "{}\n", error_line(command, subject, error));
    return exit_failed;
}

int finish_output(std::string_view command)
{
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
        return exit_ok;
    return report(command, "standard output", error_from_errno(errno, "cannot be written"));
}

int report_usage(std::string_view command, std::string_view sentence)
{
    const std::string self = command.empty() ? "kdp" : fmt::format("kdp {}", command);
    fmt::print(stderr, "{}: {}\nRun {} --help for the usage.\n", self, sentence, self);
    return exit_usage;
}

}  // namespace kdp::tool
