// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "copy/options.hpp"

#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "units.hpp"

namespace kdp::tool::copy {
namespace {

constexpr std::uint64_t chunk_at_least = std::uint64_t{64} << 10;

Error wrong(std::string sentence)
{
    return Error{EINVAL, std::move(sentence)};
}

bool is_char_device(const std::string& name)
{
    struct stat st;
    return stat(name.c_str(), &st) == 0 && S_ISCHR(st.st_mode);
}

/// @p text into @p size, if there is any.
Status take_size(std::string_view option, const std::string& text,
                 std::optional<std::uint64_t>& size)
{
    if (text.empty())
        return ok();
    size = parse_size(text);
    if (!size)
        return wrong(fmt::format("{} {}: a size, for example 64m", option, text));
    return ok();
}

Status take_places(const RawOptions& raw, Options& options)
{
    auto source = parse_place(raw.source);
    if (!source)
        return source.error();
    auto destination = parse_place(raw.destination);
    if (!destination)
        return destination.error();
    if (source->device == destination->device)
        return wrong(
            fmt::format("{} and {}: one is the character device of a namespace "
                        "(/dev/kdpg0n1), the other a file",
                        raw.source, raw.destination));
    options.to_device = destination->device;
    const Place& device = options.to_device ? destination.value() : source.value();
    options.device = device.name;
    options.offset = device.offset;
    options.file = options.to_device ? source->name : destination->name;
    return ok();
}

}  // namespace

Result<Place> parse_place(const std::string& text)
{
    Place place;
    place.name = text;
    place.device = is_char_device(text);
    const auto at = text.rfind('@');
    struct stat st;
    if (place.device || at == std::string::npos || stat(text.c_str(), &st) == 0 ||
        !is_char_device(text.substr(0, at)))
        return place;
    const std::string offset = text.substr(at + 1);
    const auto bytes = offset == "0" ? std::optional<std::uint64_t>(0) : parse_size(offset);
    if (!bytes)
        return wrong(
            fmt::format("{}: what follows '@' is an offset in bytes, for example 64m", text));
    return Place{text.substr(0, at), *bytes, true};
}

Status complete_options(const RawOptions& raw, Options& options)
{
    if (const Status taken = take_places(raw, options); !taken)
        return taken.error();
    if (const Status taken = take_size("--length", raw.length, options.length); !taken)
        return taken.error();
    if (const Status taken = take_size("--bs", raw.command_bytes, options.command_bytes); !taken)
        return taken.error();
    std::optional<std::uint64_t> chunk;
    if (const Status taken = take_size("--chunk", raw.chunk_bytes, chunk); !taken)
        return taken.error();
    if (!chunk || *chunk < chunk_at_least)
        return wrong(fmt::format("--chunk {}: 64k at least", raw.chunk_bytes));
    options.chunk_bytes = *chunk;

    for (const auto mode : {KernelMode::ioctl, KernelMode::uring, KernelMode::uring_poll})
        if (raw.mode == kernel_mode_name(mode))
            options.mode = mode;
    if (!raw.mode.empty() && !options.mode)
        return wrong(fmt::format("--mode {}: it is ioctl, uring or uring-poll", raw.mode));
    if (options.pad && !options.to_device)
        return wrong("--pad fills up the last block of a device: this copies from one");
    return ok();
}

PathUri path_of(const Options& options, KernelMode mode)
{
    PathUri uri;
    uri.scheme = Scheme::kernel;
    uri.device = options.device;
    uri.mode = mode;
    uri.buffers = options.buffered ? Buffers::plain : Buffers::region;
    return uri;
}

}  // namespace kdp::tool::copy
