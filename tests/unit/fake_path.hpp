// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A data path over plain memory that can be told to misbehave.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include <kdp/data_path.hpp>

namespace kdp::test {

class FakePath final : public DataPath {
public:
    FakePath(std::uint64_t blocks, unsigned depth) : depth_(depth), store(blocks * block_size)
    {
        info_.blocks = blocks;
        info_.block_size = block_size;
        info_.max_transfer = 1 << 20;
        info_.device = "memory";
    }

    [[nodiscard]] const NamespaceInfo& info() const noexcept override { return info_; }
    Status register_buffer(std::span<std::byte>) override { return ok(); }

    /// A mapping stands in for the region. It stays: nobody tells that the region has gone.
    Result<Region> register_file(int file, std::uint64_t offset, std::uint64_t length,
                                 Access access) override
    {
        const int refused = refuses_region ? refuses_region(length) : 0;
        if (refused)
            return Error{refused, "refused"};
        const int protection = access == Access::send ? PROT_READ : PROT_READ | PROT_WRITE;
        void* at = mmap(nullptr, length, protection, MAP_SHARED, file, static_cast<off_t>(offset));
        if (at == MAP_FAILED)
            return error_from_errno(errno, "mmap");
        region_lengths.push_back(length);
        return Region::adopt(-1, reinterpret_cast<std::uintptr_t>(at), length, 2);
    }

    Result<std::size_t> submit(std::span<const Io> batch) override
    {
        std::size_t taken = 0;
        for (const Io& io : batch) {
            if (done_.size() >= depth_ || taken >= most_a_submit)
                break;
            std::byte* at = store.data() + io.lba * block_size;
            if (io.op == Op::read)
                std::memcpy(io.data.data(), at, io.data.size());
            else if (io.op == Op::write && keeps_writes)
                std::memcpy(at, io.data.data(), io.data.size());
            done_.push_back(completion_of ? completion_of(io) : Completion{io.tag, 0, 0});
            ios++;
            taken++;
        }
        deepest = std::max(deepest, done_.size());
        return taken;
    }

    Result<std::size_t> poll(std::span<Completion> out) override
    {
        const std::size_t n = std::min({out.size(), done_.size(), most_a_poll});
        for (std::size_t i = 0; i < n; i++) {  // the latest first: order is promised to nobody
            out[i] = done_.back();
            done_.pop_back();
        }
        return n;
    }

    Result<std::size_t> wait(std::span<Completion> out, int) override { return poll(out); }

    static constexpr std::uint32_t block_size = 512;

private:
    NamespaceInfo info_;
    unsigned depth_;
    std::deque<Completion> done_;

public:
    std::vector<std::byte> store;
    std::function<Completion(const Io&)> completion_of;       ///< what becomes of an I/O
    std::function<int(std::uint64_t length)> refuses_region;  ///< an errno, or 0
    std::vector<std::uint64_t> region_lengths;                ///< those that were added
    bool keeps_writes = true;
    std::size_t most_a_submit = SIZE_MAX;
    std::size_t most_a_poll = SIZE_MAX;
    std::size_t deepest = 0;  ///< in flight at most
    std::uint64_t ios = 0;
};

}  // namespace kdp::test
