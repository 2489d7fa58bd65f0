// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Zeroed pages of our own, for memory that a device or a peer reads and writes.
#pragma once

#include <cstddef>
#include <utility>

#include <kdp/result.hpp>

namespace kdp::fabrics {

class Pages {
public:
    static Result<Pages> allocate(std::size_t bytes);

    Pages() = default;
    Pages(Pages&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {
    }
    Pages& operator=(Pages&& other) noexcept
    {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Pages();

    [[nodiscard]] std::byte* data() const noexcept { return base_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    Pages(std::byte* base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace kdp::fabrics
