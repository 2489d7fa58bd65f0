// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "unique_fd.hpp"

namespace kdp::tool::profile {

Result<std::string> read_whole(const std::string& path)
{
    constexpr std::size_t piece = std::size_t{1} << 16;
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return error_from_errno(errno, path);
    std::string text;
    for (;;) {
        const std::size_t have = text.size();
        text.resize(have + piece);
        const ssize_t got = read(file.get(), text.data() + have, piece);
        if (got < 0 && errno == EINTR) {
            text.resize(have);
            continue;
        }
        if (got < 0)
            return error_from_errno(errno, path);
        text.resize(have + static_cast<std::size_t>(got));
        if (got == 0)
            return text;
    }
}

}  // namespace kdp::tool::profile
