// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

#include "block_path.hpp"
#include "kernel/kernel_path.hpp"
#include "verbs/verbs_path.hpp"

namespace kdp {

Result<std::unique_ptr<DataPath>> open_path(const std::string& text, const OpenOptions& options)
{
    const auto parsed = parse_uri(text);
    if (!parsed)
        return parsed.error();
    return open_path(parsed.value(), options);
}

Result<std::unique_ptr<DataPath>> open_path(const PathUri& uri, const OpenOptions& options)
{
    if (const Status fits = check_together(uri); !fits)
        return fits.error();
    switch (uri.scheme) {
        case Scheme::kernel:
            return open_kernel_path(uri, options);
        case Scheme::block:
            return open_block_path(uri.device, options, uri.polled);
        case Scheme::verbs:
            return open_verbs_path(uri.host, uri.port, uri.nqn, uri.nsid, options);
    }
    return error_from_errno(EINVAL, "the scheme of a path");
}

}  // namespace kdp
