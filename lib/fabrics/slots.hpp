// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The command slots of a queue: which are free, whose command is in each, and since when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kdp::fabrics {

/// A slot is free, taken by acquire(), in flight from begin() on, and free again by release().
/// Not thread safe.
class Slots {
public:
    explicit Slots(std::size_t count) : slots_(count)
    {
        free_.reserve(count);
        for (std::size_t i = count; i-- > 0;)
            free_.push_back(static_cast<std::uint16_t>(i));
    }

    [[nodiscard]] std::size_t count() const noexcept { return slots_.size(); }
    [[nodiscard]] bool any_free() const noexcept { return !free_.empty(); }
    [[nodiscard]] unsigned taken() const noexcept
    {
        return static_cast<unsigned>(slots_.size() - free_.size());
    }

    /// Only when any_free().
    std::uint16_t acquire()
    {
        const std::uint16_t slot = free_.back();

        free_.pop_back();
        return slot;
    }
    void begin(std::uint16_t slot, std::uint64_t cookie) noexcept
    {
        slots_[slot] = {cookie, now_, true};
    }
    void release(std::uint16_t slot)
    {
        slots_[slot].in_flight = false;
        free_.push_back(slot);
    }

    /// Of any number that a peer may have said.
    [[nodiscard]] bool in_flight(std::size_t slot) const noexcept
    {
        return slot < slots_.size() && slots_[slot].in_flight;
    }
    [[nodiscard]] std::uint64_t cookie(std::uint16_t slot) const noexcept
    {
        return slots_[slot].cookie;
    }

    /// What time it is, in seconds since any beginning: what begins from now on does so then.
    void tell_time(unsigned now) noexcept { now_ = now; }
    [[nodiscard]] unsigned time() const noexcept { return now_; }
    /// Whether a command is in flight for more than @p seconds. Looks at every slot.
    [[nodiscard]] bool overdue(unsigned seconds) const noexcept
    {
        for (const Slot& slot : slots_)
            if (slot.in_flight && now_ - slot.since > seconds)
                return true;
        return false;
    }

    /// Hand the cookie of each command in flight to @p each, and free its slot.
    template <typename Each>
    void cancel_all(Each&& each)
    {
        for (std::size_t slot = 0; slot < slots_.size(); slot++) {
            if (!slots_[slot].in_flight)
                continue;
            each(slots_[slot].cookie);
            release(static_cast<std::uint16_t>(slot));
        }
    }

private:
    struct Slot {
        std::uint64_t cookie = 0;
        unsigned since = 0;
        bool in_flight = false;
    };

    std::vector<Slot> slots_;
    std::vector<std::uint16_t> free_;
    unsigned now_ = 0;
};

}  // namespace kdp::fabrics
