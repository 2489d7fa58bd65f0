// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Registered regions of kdp's character devices: memory, or a range of a file's page cache, that
/// is pinned and registered once. What a region is and promises: <kdp/kdp_ioctl.h>.
///
///     auto region = Region::add(device, memory, Access::both);
///     // from now on, passthrough commands on the same open file whose data lie in it cost no
///     // mapping and no registration
///
/// Most programs need none of this: a kernel: path with buffers=region adds them itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <kdp/export.hpp>
#include <kdp/result.hpp>

namespace kdp {

/// What the commands that use a region do with it.
enum class Access : std::uint8_t {
    send = 1,     ///< writes take data from it
    receive = 2,  ///< reads put data into it
    both = 3,
};

/// One region of one open device file; deleted with its owner, when the commands that use it have
/// ended. The file must stay open that long.
class KDP_API Region {
public:
    /// Add @p memory of this process. @p device: a namespace's character device, open.
    ///
    /// Errors, each with a sentence: those that KDP_IOC_REGION_ADD has, and ENOTTY for a device
    /// that has no regions, such as the in-tree driver's. Sleeps; thread safe.
    [[nodiscard]] static Result<Region> add(int device, std::span<std::byte> memory, Access access);

    /// Add @p length bytes from @p offset of the regular file @p file, without mapping it: the
    /// pages of its page cache. @p file must be open for reading (send), or writing (receive), and
    /// can be closed afterwards. Its data have the addresses of data(), at which there is no
    /// memory: they make sense in an Io only.
    [[nodiscard]] static Result<Region> add_file(int device, int file, std::uint64_t offset,
                                                 std::uint64_t length, Access access);

    /// Own a region that was added by other means.
    [[nodiscard]] static Region adopt(int device, std::uint64_t base, std::uint64_t length,
                                      std::uint32_t registrations) noexcept;

    /// @p other owns nothing afterwards.
    Region(Region&& other) noexcept
        : device_(std::exchange(other.device_, -1)),
          base_(std::exchange(other.base_, 0)),
          length_(std::exchange(other.length_, 0)),
          registrations_(std::exchange(other.registrations_, 0))
    {
    }
    /// @p other gets what this one had.
    Region& operator=(Region&& other) noexcept
    {
        std::swap(device_, other.device_);
        std::swap(base_, other.base_);
        std::swap(length_, other.length_);
        std::swap(registrations_, other.registrations_);
        return *this;
    }
    /// Deletes it; sleeps until the commands that use it have ended.
    ~Region();

    /// What commands call its first byte.
    [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t length() const noexcept { return length_; }  ///< bytes
    /// Memory registrations of the RDMA device that it took.
    [[nodiscard]] std::uint32_t registrations() const noexcept { return registrations_; }

    /// All of it, as Io::data wants it.
    [[nodiscard]] std::span<std::byte> data() const noexcept
    {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gave a number
        return {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(base_)),
                static_cast<std::size_t>(length_)};
    }
    /// Does all of @p memory lie in it?
    [[nodiscard]] bool holds(std::span<const std::byte> memory) const noexcept
    {
        const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
        return address >= base_ && address - base_ <= length_ &&
               memory.size() <= length_ - (address - base_);
    }

    /// Delete it now, and know whether that worked: ENOENT when it was gone, with its device.
    [[nodiscard]] Status remove();

private:
    Region(int device, std::uint64_t base, std::uint64_t length, std::uint32_t registrations)
        : device_(device), base_(base), length_(length), registrations_(registrations)
    {
    }

    int device_;  // -1: nothing to delete
    std::uint64_t base_;
    std::uint64_t length_;
    std::uint32_t registrations_;
};

}  // namespace kdp
