// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Completions that wait to be collected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <kdp/data_path.hpp>

namespace kdp::fabrics {

/// First in, first out; never more than the depth that it is made for.
class Ready {
public:
    explicit Ready(std::size_t depth) : ring_(depth) {}

    void push(const Completion& completion) noexcept
    {
        ring_[(head_ + count_++) % ring_.size()] = completion;
    }
    std::size_t pop(std::span<Completion> out) noexcept
    {
        const std::size_t n = std::min(count_, out.size());

        for (std::size_t i = 0; i < n; i++) {
            out[i] = ring_[head_];
            head_ = (head_ + 1) % ring_.size();
        }
        count_ -= n;
        return n;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    std::vector<Completion> ring_;
    std::size_t head_ = 0;
    std::size_t count_ = 0;
};

}  // namespace kdp::fabrics
