// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What queues of every transport have in common beyond CommandQueue: slots for commands, and
/// an end.
#pragma once

#include <cstdint>
#include <utility>

#include "command_queue.hpp"
#include "slots.hpp"

namespace kdp::fabrics {

class SlotQueue : public CommandQueue {
public:
    [[nodiscard]] bool has_slot() const noexcept { return slots_.any_free(); }
    /// Take a free slot. Only when the queue has room.
    std::uint16_t acquire() { return slots_.acquire(); }
    [[nodiscard]] unsigned in_flight() const noexcept { return slots_.taken(); }

    /// What time it is, in seconds since any beginning, now and then: a command's age is
    /// counted by it.
    void tell_time(unsigned now) noexcept { slots_.tell_time(now); }
    [[nodiscard]] unsigned time() const noexcept { return slots_.time(); }
    /// Whether a command is in flight for more than @p seconds.
    [[nodiscard]] bool overdue(unsigned seconds) const noexcept { return slots_.overdue(seconds); }

    [[nodiscard]] bool broken() const noexcept final { return broken_; }
    [[nodiscard]] const Error& error() const noexcept final { return error_; }
    void break_with(Error why) final
    {
        if (broken_)
            return;
        broken_ = true;
        error_ = std::move(why);
        end_connection();
    }
    /// Of a broken queue: hand the cookie of each command in flight to @p each, and free it.
    template <typename Each>
    void cancel_all(Each&& each)
    {
        slots_.cancel_all(std::forward<Each>(each));
    }

protected:
    explicit SlotQueue(std::size_t slots) : slots_(slots) {}
    /// When it returns, no memory is touched any more on the queue's behalf.
    virtual void end_connection() = 0;

    Slots slots_;

private:
    bool broken_ = false;
    Error error_;
};

}  // namespace kdp::fabrics
