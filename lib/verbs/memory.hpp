// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The user's memory, as the RDMA device knows it: registered once for long, or for each I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <kdp/data_path.hpp>

#include "resources.hpp"

namespace kdp::verbs {

/// By which keys an I/O's memory goes; what was registered for the I/O alone ends with it.
struct Keys {
    std::uint32_t lkey = 0;
    std::uint32_t rkey = 0;
    Mr own;
};

class Memory {
public:
    /// @p each: every I/O has its own registration, and regions are not needed.
    explicit Memory(bool each) : each_(each) {}

    /// Register @p memory for good, unless it is. With no device now (@p pd null) that is put
    /// off until attach(). ENOMEM: there is a limit (RLIMIT_MEMLOCK); EFAULT: not all of it is
    /// mapped.
    Status add(ibv_pd* pd, std::span<std::byte> memory);
    /// Whether I/O may use @p memory.
    [[nodiscard]] bool covers(std::span<const std::byte> memory) noexcept;

    /// 0 and @p keys for the data of @p io, which lie in the capsule or are fetched or stored by
    /// the controller; else the errno of its registration. covers() must have said yes.
    int keys_for(const Io& io, bool in_capsule, ibv_pd* pd, Keys& keys) noexcept;

    /// The device is given up: nothing is registered any more, nor may it be used by a QP.
    void detach() noexcept;
    /// Register all of it with the protection domain of a new connection.
    Status attach(ibv_pd* pd);

    [[nodiscard]] std::uint64_t registrations() const noexcept { return registrations_; }

private:
    struct Region {
        std::span<std::byte> memory;
        Mr mr;
    };
    Status enter(Region& region, ibv_pd* pd);
    Region* find(std::span<const std::byte> memory) noexcept;

    bool each_;
    std::vector<Region> regions_;
    std::size_t last_ = 0;
    std::uint64_t registrations_ = 0;
};

}  // namespace kdp::verbs
