// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Memory for I/O: aligned to pages, touched, with one owner.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <kdp/export.hpp>
#include <kdp/result.hpp>

namespace kdp {

/// Anonymous memory that a child process does not inherit: its pages stay the ones that were
/// pinned.
///
/// Must outlive every path that was told of it, and the I/O on it. Not thread safe, as a
/// std::vector is not; the memory itself is anybody's.
class KDP_API Buffer {
public:
    /// None: of size 0.
    Buffer() = default;

    /// Map @p size bytes (rounded up to pages), filled with zeroes and resident, so that no
    /// page fault falls into the first I/O. From 2 MiB on aligned to, and if the kernel likes
    /// made of, huge pages. ENOMEM; EINVAL for size 0.
    [[nodiscard]] static Result<Buffer> allocate(std::size_t size);

    /// The memory keeps its address; @p other is left without.
    Buffer(Buffer&& other) noexcept
        : map_(std::exchange(other.map_, {})), memory_(std::exchange(other.memory_, {}))
    {
    }
    /// @p other gets what this one had.
    Buffer& operator=(Buffer&& other) noexcept
    {
        std::swap(map_, other.map_);
        std::swap(memory_, other.memory_);
        return *this;
    }
    /// Unmaps it.
    ~Buffer();

    /// All of it.
    [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
    /// Bytes: what was asked for, rounded up to pages.
    [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }
    /// The first byte; aligned to a page.
    [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

private:
    std::span<std::byte> map_;     // what munmap() takes
    std::span<std::byte> memory_;  // the aligned part
};

}  // namespace kdp
