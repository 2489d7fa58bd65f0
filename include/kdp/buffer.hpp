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

class KDP_API Buffer {
public:
    Buffer() = default;

    /// Map @p size bytes (rounded up to pages), filled with zeroes and resident, so that no
    /// page fault falls into the first I/O. From 2 MiB on aligned to, and if the kernel likes
    /// made of, huge pages. ENOMEM; EINVAL for size 0.
    [[nodiscard]] static Result<Buffer> allocate(std::size_t size);

    Buffer(Buffer&& other) noexcept
        : map_(std::exchange(other.map_, {})), memory_(std::exchange(other.memory_, {}))
    {
    }
    Buffer& operator=(Buffer&& other) noexcept
    {
        std::swap(map_, other.map_);
        std::swap(memory_, other.memory_);
        return *this;
    }
    ~Buffer();

    [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
    [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }
    [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

private:
    std::span<std::byte> map_;     // what munmap() takes
    std::span<std::byte> memory_;  // the aligned part
};

}  // namespace kdp
