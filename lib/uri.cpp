// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/uri.hpp>

#include <cerrno>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include <nvmf/fabrics.h>

namespace kdp {
namespace {

constexpr std::uint32_t nsid_broadcast = 0xffffffff;
constexpr std::uint32_t seconds_max = 1'000'000;

Error wrong(std::string sentence)
{
    return Error{EINVAL, std::move(sentence)};
}

/// The part before @p separator; @p rest keeps what follows it. Without one: all of it.
std::string_view take_until(std::string_view& rest, char separator)
{
    const auto at = rest.find(separator);
    const auto part = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
    return part;
}

Result<std::string> decode(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned char value = 0;
        const char* first = text.data() + i + 1;
        if (i + 2 >= text.size())
            return wrong(fmt::format("\"{}\" ends within %XX", text));
        const auto [end, error] = std::from_chars(first, first + 2, value, 16);
        if (error != std::errc() || end != first + 2 || value == 0)
            return wrong(fmt::format("\"{}\": %{}{} is no byte", text, first[0], first[1]));
        out += static_cast<char>(value);
        i += 2;
    }
    return out;
}

template <typename T>
std::optional<T> number(std::string_view text)
{
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

Error unknown_parameter(Scheme scheme, std::string_view key)
{
    return wrong(fmt::format("\"{}\": {}: knows no such parameter", key, scheme_name(scheme)));
}

Status take_switch(bool& to, std::string_view key, std::string_view value)
{
    if (value != "0" && value != "1")
        return wrong(fmt::format("{}={}: it is 0 or 1", key, value));
    to = value == "1";
    return ok();
}

Status take_seconds(std::uint32_t& to, std::string_view key, std::string_view value)
{
    const auto seconds = number<std::uint32_t>(value);
    if (!seconds || *seconds > seconds_max)
        return wrong(fmt::format("{}={}: it is 0 to {} seconds", key, value, seconds_max));
    to = *seconds;
    return ok();
}

Status take_kernel_parameter(PathUri& uri, std::string_view key, std::string_view value)
{
    if (key == "mode") {
        for (const auto mode : {KernelMode::ioctl, KernelMode::uring, KernelMode::uring_poll})
            if (value == kernel_mode_name(mode)) {
                uri.mode = mode;
                return ok();
            }
        return wrong(fmt::format("mode={}: it is ioctl, uring or uring-poll", value));
    }
    if (key == "buffers") {
        for (const auto buffers : {Buffers::plain, Buffers::fixed, Buffers::region})
            if (value == buffers_name(buffers)) {
                uri.buffers = buffers;
                return ok();
            }
        return wrong(fmt::format("buffers={}: it is plain, fixed or region", value));
    }
    if (key == "sqpoll")
        return take_switch(uri.sqpoll, key, value);
    return unknown_parameter(uri.scheme, key);
}

/// Whether a namespace is named by address and NQN.
bool is_fabric(Scheme scheme)
{
    return scheme == Scheme::verbs || scheme == Scheme::tcp;
}

Status take_nsid(PathUri& uri, std::string_view value)
{
    const auto nsid = number<std::uint32_t>(value);
    if (!nsid || *nsid == 0 || *nsid == nsid_broadcast)
        return wrong(fmt::format("nsid={}: a namespace identifier is 1 to 4294967294", value));
    uri.nsid = *nsid;
    return ok();
}

Status take_tcp_parameter(PathUri& uri, std::string_view key, std::string_view value)
{
    if (key == "hdgst")
        return take_switch(uri.hdgst, key, value);
    if (key == "ddgst")
        return take_switch(uri.ddgst, key, value);
    return unknown_parameter(uri.scheme, key);
}

Status take_verbs_parameter(PathUri& uri, std::string_view key, std::string_view value)
{
    if (key == "wait") {
        for (const auto wait : {Wait::adaptive, Wait::poll, Wait::event})
            if (value == wait_name(wait)) {
                uri.wait = wait;
                return ok();
            }
        return wrong(fmt::format("wait={}: it is poll, event or adaptive", value));
    }
    if (key == "buffers") {
        if (value != "region" && value != "plain")
            return wrong(fmt::format("buffers={}: of verbs: it is region or plain", value));
        uri.register_each = value == "plain";
        return ok();
    }
    if (key == "ctrl_loss_tmo")
        return take_seconds(uri.ctrl_loss_tmo, key, value);
    return unknown_parameter(uri.scheme, key);
}

Status take_parameter(PathUri& uri, std::string_view key, std::string_view value)
{
    if (is_fabric(uri.scheme) && key == "nsid")
        return take_nsid(uri, value);
    if (is_fabric(uri.scheme) && key == "io_timeout")
        return take_seconds(uri.io_timeout, key, value);
    if (uri.scheme == Scheme::tcp)
        return take_tcp_parameter(uri, key, value);
    if (uri.scheme == Scheme::verbs)
        return take_verbs_parameter(uri, key, value);
    if (uri.scheme == Scheme::kernel)
        return take_kernel_parameter(uri, key, value);
    if (uri.scheme == Scheme::block && key == "mode") {
        if (value != "uring" && value != "uring-poll")
            return wrong(fmt::format("mode={}: it is uring or uring-poll", value));
        uri.polled = value == "uring-poll";
        return ok();
    }
    return unknown_parameter(uri.scheme, key);
}

/// "HOST", "HOST:PORT", "[V6]" or "[V6]:PORT"
Status take_authority(PathUri& uri, std::string_view authority)
{
    std::string_view host, port;
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == std::string_view::npos)
            return wrong(fmt::format("\"{}\" lacks the closing bracket", authority));
        host = authority.substr(1, close - 1);
        port = authority.substr(close + 1);
        if (!port.empty() && port.front() != ':')
            return wrong(fmt::format("\"{}\": a port is expected behind the bracket", authority));
    } else {
        const auto colon = authority.find(':');
        host = authority.substr(0, colon);
        port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
        if (port.find(':', 1) != std::string_view::npos)
            return wrong(fmt::format("\"{}\": an IPv6 address stands in brackets", authority));
    }
    if (host.empty())
        return wrong("the address is empty");
    auto decoded = decode(host);
    if (!decoded)
        return decoded.error();
    uri.host = std::move(decoded).value();
    if (!port.empty()) {
        const auto value = number<std::uint16_t>(port.substr(1));
        if (!value || *value == 0)
            return wrong(fmt::format("\"{}\": a port is 1 to 65535", port.substr(1)));
        uri.port = *value;
    }
    return ok();
}

Status take_fabric(PathUri& uri, std::string_view rest)
{
    const std::string_view scheme = scheme_name(uri.scheme);
    if (!rest.starts_with("//"))
        return wrong(fmt::format("{}: is followed by //ADDRESS:PORT/NQN", scheme));
    rest.remove_prefix(2);
    if (Status status = take_authority(uri, take_until(rest, '/')); !status)
        return status;
    auto nqn = decode(rest);
    if (!nqn)
        return nqn.error();
    uri.nqn = std::move(nqn).value();
    if (uri.nqn.empty())
        return wrong(
            fmt::format("the NQN of the subsystem is missing: {}://ADDRESS:PORT/NQN", scheme));
    if (uri.nqn.size() > NVMF_NQN_SIZE)
        return wrong(
            fmt::format("the NQN has {} bytes; {} are allowed", uri.nqn.size(), NVMF_NQN_SIZE));
    return ok();
}

Status take_device(PathUri& uri, std::string_view rest)
{
    auto device = decode(rest);
    if (!device)
        return device.error();
    uri.device = std::move(device).value();
    if (uri.device.empty())
        return wrong(fmt::format("{}: is followed by a device, for example {}:/dev/...",
                                 scheme_name(uri.scheme), scheme_name(uri.scheme)));
    return ok();
}

}  // namespace

std::string_view scheme_name(Scheme scheme) noexcept
{
    switch (scheme) {
        case Scheme::kernel:
            return "kernel";
        case Scheme::block:
            return "block";
        case Scheme::verbs:
            return "verbs";
        case Scheme::tcp:
            return "tcp";
    }
    return "?";
}

std::string_view kernel_mode_name(KernelMode mode) noexcept
{
    switch (mode) {
        case KernelMode::ioctl:
            return "ioctl";
        case KernelMode::uring:
            return "uring";
        case KernelMode::uring_poll:
            return "uring-poll";
    }
    return "?";
}

std::string_view buffers_name(Buffers buffers) noexcept
{
    switch (buffers) {
        case Buffers::plain:
            return "plain";
        case Buffers::fixed:
            return "fixed";
        case Buffers::region:
            return "region";
    }
    return "?";
}

std::string_view wait_name(Wait wait) noexcept
{
    switch (wait) {
        case Wait::adaptive:
            return "adaptive";
        case Wait::poll:
            return "poll";
        case Wait::event:
            return "event";
    }
    return "?";
}

Status check_together(const PathUri& uri)
{
    if (uri.mode != KernelMode::ioctl)
        return ok();
    if (uri.buffers == Buffers::fixed)
        return wrong(
            "buffers=fixed registers memory with io_uring: it needs mode=uring or "
            "mode=uring-poll");
    if (uri.sqpoll)
        return wrong("sqpoll=1 is io_uring's: it needs mode=uring or mode=uring-poll");
    return ok();
}

Result<PathUri> parse_uri(std::string_view text)
{
    const auto colon = text.find(':');
    const auto scheme = text.substr(0, colon);
    PathUri uri;
    if (text.find('\0') != std::string_view::npos)
        return wrong("the name of a path contains a NUL byte");
    if (colon == std::string_view::npos)
        return wrong(
            fmt::format("\"{}\" names no path: kernel:, block:, verbs: or tcp: comes first", text));
    if (scheme == "kernel")
        uri.scheme = Scheme::kernel;
    else if (scheme == "block")
        uri.scheme = Scheme::block;
    else if (scheme == "verbs")
        uri.scheme = Scheme::verbs;
    else if (scheme == "tcp")
        uri.scheme = Scheme::tcp;
    else
        return wrong(fmt::format(
            "\"{}:\" is no path that kdp knows: kernel:, block:, verbs: or tcp:", scheme));

    std::string_view query = text.substr(colon + 1);
    const std::string_view rest = take_until(query, '?');
    const Status status = is_fabric(uri.scheme) ? take_fabric(uri, rest) : take_device(uri, rest);
    if (!status)
        return status.error();
    while (!query.empty()) {
        std::string_view value = take_until(query, '&');
        const std::string_view key = take_until(value, '=');
        auto decoded = decode(value);
        if (!decoded)
            return decoded.error();
        if (const Status taken = take_parameter(uri, key, decoded.value()); !taken)
            return taken.error();
    }
    // not before: they may be given in any order
    if (const Status fits = check_together(uri); !fits)
        return fits.error();
    return uri;
}

}  // namespace kdp
