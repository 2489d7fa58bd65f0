// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

#include <cerrno>

#include <fmt/format.h>

#include "block_path.hpp"
#include "kernel/kernel_path.hpp"
#include "tcp/tcp_path.hpp"
#include "verbs/verbs_path.hpp"

namespace kdp {
namespace {

/// As many as one controller can have I/O queues; for no path is it sensible.
constexpr unsigned paths_at_most = 65534;

/// A path that shares nothing with others, @p count times.
template <typename Open>
Result<std::vector<std::unique_ptr<DataPath>>> open_each(unsigned count, Open&& open)
{
    std::vector<std::unique_ptr<DataPath>> paths;
    while (paths.size() < count) {
        Result<std::unique_ptr<DataPath>> path = open();
        if (!path)
            return path.error();
        paths.push_back(std::move(*path));
    }
    return paths;
}

}  // namespace

Result<std::unique_ptr<DataPath>> open_path(const std::string& text, const OpenOptions& options)
{
    const auto parsed = parse_uri(text);
    if (!parsed)
        return parsed.error();
    return open_path(parsed.value(), options);
}

Result<std::unique_ptr<DataPath>> open_path(const PathUri& uri, const OpenOptions& options)
{
    auto paths = open_paths(uri, options, 1);
    if (!paths)
        return paths.error();
    return std::move(paths->front());
}

Result<std::vector<std::unique_ptr<DataPath>>> open_paths(const PathUri& uri,
                                                          const OpenOptions& options,
                                                          unsigned count)
{
    if (const Status fits = check_together(uri); !fits)
        return fits.error();
    if (count == 0 || count > paths_at_most)
        return Error{EINVAL, fmt::format("{} paths: 1 to {} are possible", count, paths_at_most)};
    switch (uri.scheme) {
        case Scheme::kernel:
            return open_each(count, [&] { return open_kernel_path(uri, options); });
        case Scheme::block:
            return open_each(count,
                             [&] { return open_block_path(uri.device, options, uri.polled); });
        case Scheme::verbs:
            return open_verbs_paths(uri, options, count);
        case Scheme::tcp:
            return open_tcp_paths(uri, options, count);
    }
    return error_from_errno(EINVAL, "the scheme of a path");
}

}  // namespace kdp
