// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/needs.hpp"

#include <fmt/format.h>

namespace kdp::tool::advise {
namespace {

/// A URI, as far as needs are concerned. Not parse_uri(): a document may name parameters that
/// this kdp does not know yet, or no more.
class Uri {
public:
    explicit Uri(std::string_view text)
    {
        const auto colon = text.find(':');
        scheme_ = text.substr(0, colon == std::string_view::npos ? text.size() : colon);
        const auto mark = text.find('?');
        if (mark != std::string_view::npos)
            query_ = text.substr(mark + 1);
    }

    [[nodiscard]] bool is(std::string_view scheme) const noexcept { return scheme_ == scheme; }
    [[nodiscard]] std::string_view scheme() const noexcept { return scheme_; }
    [[nodiscard]] bool known() const noexcept
    {
        return is("kernel") || is("block") || is("verbs") || is("tcp");
    }
    /// Of a parameter that is given twice the last value; empty if it is not given.
    [[nodiscard]] std::string_view parameter(std::string_view key) const noexcept
    {
        std::string_view value;
        for (std::string_view rest = query_; !rest.empty();) {
            const auto end = rest.find('&');
            const std::string_view one = rest.substr(0, end);
            if (one.starts_with(key) && one.substr(key.size()).starts_with('='))
                value = one.substr(key.size() + 1);
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        }
        return value;
    }

private:
    std::string_view scheme_;
    std::string_view query_;
};

std::optional<std::string> why_polls(const Uri& uri)
{
    if (uri.parameter("wait") == "poll")
        return "wait=poll spins on a core while anything is in flight";
    if (uri.parameter("mode") == "uring-poll")
        return "mode=uring-poll spins on a core while anything is in flight";
    if (uri.parameter("sqpoll") == "1")
        return "sqpoll=1 keeps a kernel thread spinning on a core";
    return std::nullopt;
}

std::optional<std::string> why_not_isolated(const Uri& uri)
{
    const std::string_view buffers = uri.parameter("buffers");
    if (uri.is("kernel") && buffers == "region")
        return "buffers=region leaves the memory registered between I/Os, open to the target";
    if (uri.is("verbs") && buffers != "plain")
        return "its buffers stay registered between I/Os, open to the target (buffers=plain would "
               "register for each)";
    return std::nullopt;
}

}  // namespace

std::string_view need_name(Need need) noexcept
{
    switch (need) {
        case Need::filesystem:
            return "filesystem";
        case Need::sharing:
            return "sharing";
        case Need::crash_safe:
            return "crash-safe";
        case Need::no_spare_core:
            return "no-spare-core";
        case Need::isolation:
            return "isolation";
    }
    return "";
}

std::optional<Need> parse_need(std::string_view text) noexcept
{
    for (const Need need : all_needs)
        if (need_name(need) == text)
            return need;
    return std::nullopt;
}

std::string_view need_condition(Need need) noexcept
{
    switch (need) {
        case Need::filesystem:
            return "a filesystem or the page cache is needed";
        case Need::sharing:
            return "several processes use the namespace at once";
        case Need::crash_safe:
            return "the application may crash";
        case Need::no_spare_core:
            return "no core can be spared for polling";
        case Need::isolation:
            return "the target may touch memory during an I/O only";
    }
    return "";
}

std::string_view need_caveat(Need need) noexcept
{
    switch (need) {
        case Need::filesystem:
            return "A block device has both; the figures here are of direct I/O and say nothing of "
                   "what the page cache adds or saves.";
        case Need::sharing:
            return "A device is one connection that all its openers share. With verbs: and tcp: "
                   "each "
                   "process is a host of its own, with its own connection and queues at the "
                   "target, and "
                   "nobody arbitrates between them.";
        case Need::crash_safe:
            return "The module keeps its connection when an application dies, and the next one "
                   "goes on "
                   "at once. With verbs: and tcp: connection and commands in flight die with the "
                   "application; whether its last writes arrived nobody can say.";
        case Need::no_spare_core:
            return "A path that polls is fast because a core does nothing else. Then the CPU time "
                   "per "
                   "I/O decides, and adaptive waiting still spins for a while before it sleeps.";
        case Need::isolation:
            return "Memory that stays registered can be read or written by the target at any time. "
                   "A registration for each I/O, invalidated at its end, closes that, and over TCP "
                   "there is no such access. Of a block device the driver decides.";
    }
    return "";
}

std::optional<std::string> why_not(Need need, std::string_view text)
{
    const Uri uri(text);
    if (!uri.known())
        return fmt::format("what a path of the kind \"{}:\" does is not known", uri.scheme());
    switch (need) {
        case Need::filesystem:
            if (!uri.is("block"))
                return fmt::format("{}: has neither filesystem nor page cache: block: has",
                                   uri.scheme());
            break;
        case Need::sharing:
            if (uri.is("verbs") || uri.is("tcp"))
                return fmt::format("{}: belongs to one process; another would be a host of its own",
                                   uri.scheme());
            break;
        case Need::crash_safe:
            if (uri.is("verbs") || uri.is("tcp"))
                return fmt::format("the connection of {}: dies with the application", uri.scheme());
            break;
        case Need::no_spare_core:
            return why_polls(uri);
        case Need::isolation:
            return why_not_isolated(uri);
    }
    return std::nullopt;
}

}  // namespace kdp::tool::advise
