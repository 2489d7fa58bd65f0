// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The I/Os that a path has taken and that are not over, so that they can be sent again when
/// the controller was lost on the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory.hpp"

namespace kdp::verbs {

class InFlight {
public:
    struct Entry {
        Io io;
        Keys keys;
        std::uint64_t sequence = 0;  // in which order they came
        unsigned losses = 0;         // so many connections broke with it on the way
        bool taken = false;
        bool sent = false;
    };

    /// No more than @p depth at a time.
    explicit InFlight(std::size_t depth) : entries_(depth)
    {
        free_.reserve(depth);
        order_.reserve(depth);
        for (std::size_t i = depth; i-- > 0;)
            free_.push_back(static_cast<std::uint32_t>(i));
    }

    std::uint32_t add(const Io& io)
    {
        const std::uint32_t index = free_.back();
        Entry& entry = entries_[index];

        free_.pop_back();
        entry.io = io;
        entry.sequence = next_sequence_++;
        entry.losses = 0;
        entry.taken = true;
        entry.sent = false;
        return index;
    }
    [[nodiscard]] Entry& operator[](std::size_t index) noexcept { return entries_[index]; }
    /// It is over. A registration of its own ends here: before the caller hears of it (H1).
    void remove(std::size_t index)
    {
        entries_[index].keys.own.reset();
        entries_[index].taken = false;
        entries_[index].sent = false;
        free_.push_back(static_cast<std::uint32_t>(index));
    }
    /// Those that are there, as they came. Valid until the next call.
    const std::vector<std::uint32_t>& in_order()
    {
        order_.clear();
        for (std::size_t i = 0; i < entries_.size(); i++)
            if (entries_[i].taken)
                order_.push_back(static_cast<std::uint32_t>(i));
        std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
            return entries_[a].sequence < entries_[b].sequence;
        });
        return order_;
    }

private:
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> order_;
    std::uint64_t next_sequence_ = 0;
};

}  // namespace kdp::verbs
