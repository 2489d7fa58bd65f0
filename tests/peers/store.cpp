// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "store.hpp"

#include <algorithm>
#include <cstring>

namespace kdp::peer {

void Store::read(std::uint64_t offset, std::span<std::byte> out) const
{
    while (!out.empty()) {
        const std::size_t at = offset % page_bytes;
        const std::size_t part = std::min(page_bytes - at, out.size());
        const auto page = pages_.find(offset / page_bytes);

        if (page == pages_.end())
            std::memset(out.data(), 0, part);
        else
            std::memcpy(out.data(), page->second.data() + at, part);
        out = out.subspan(part);
        offset += part;
    }
}

void Store::write(std::uint64_t offset, std::span<const std::byte> in)
{
    while (!in.empty()) {
        const std::size_t at = offset % page_bytes;
        const std::size_t part = std::min(page_bytes - at, in.size());
        Page& page = pages_[offset / page_bytes];  // a new one is zeroes

        std::memcpy(page.data() + at, in.data(), part);
        in = in.subspan(part);
        offset += part;
    }
}

void Store::zero(std::uint64_t offset, std::uint64_t bytes)
{
    while (bytes) {
        const std::size_t at = offset % page_bytes;
        const std::size_t part = std::min<std::uint64_t>(page_bytes - at, bytes);
        const auto page = pages_.find(offset / page_bytes);

        if (page != pages_.end())
            std::memset(page->second.data() + at, 0, part);
        bytes -= part;
        offset += part;
    }
}

}  // namespace kdp::peer
