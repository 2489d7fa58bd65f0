// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Which I/O comes next: its kind, its place, and the pattern of its data.
///
/// Each thread has a plan and a slice of the region to itself, so that no two threads meet at one
/// place. Inside a slice a plan that keeps book never has two I/Os at one place at once: which of
/// them came last could not be told.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <kdp/data_path.hpp>

#include "bench/addresses.hpp"
#include "bench/shape.hpp"

namespace kdp::tool::bench {

struct Step {
    Op op = Op::read;
    std::uint64_t lba = 0;
    std::uint64_t seed = 0;  ///< of the pattern that a write carries and a read must find
};

class Plan {
public:
    virtual ~Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    [[nodiscard]] virtual Step next() = 0;
    /// @p step is through.
    virtual void finished(const Step& step) { (void)step; }

protected:
    Plan() = default;
};

/// A part of the region, in places that one I/O fills each.
struct Slice {
    std::uint64_t first_lba = 0;
    std::uint64_t places = 0;
    std::uint64_t blocks_an_io = 1;
};

/// One slice after the other, from the start of each thread's: @p places of one thread.
[[nodiscard]] constexpr Slice slice_of(unsigned thread, std::uint64_t places,
                                       std::uint64_t blocks_an_io) noexcept
{
    return {thread * places * blocks_an_io, places, blocks_an_io};
}

/// From the first place to the last, in order: to fill a slice, or a part of it.
class InOrder final : public Plan {
public:
    InOrder(Op op, std::uint64_t first_lba, std::uint64_t blocks_an_io, std::uint64_t seed) noexcept
        : op_(op), lba_(first_lba), blocks_(blocks_an_io), seed_(seed)
    {
    }
    [[nodiscard]] Step next() override
    {
        const Step step{op_, lba_, seed_};
        lba_ += blocks_;
        return step;
    }

private:
    Op op_;
    std::uint64_t lba_;
    std::uint64_t blocks_;
    std::uint64_t seed_;
};

/// What a Shape asks for: in order or at random, reads, writes or both.
class ShapedPlan final : public Plan {
public:
    /// @p order: the same number gives the same places and kinds. @p pattern_seed: of what is in
    /// the slice now. @p books: writes carry a generation of their own, which reads of the
    /// place look for from then on; the slice must have more places than I/Os are in flight.
    ShapedPlan(const Slice& slice, const Shape& shape, std::uint64_t order,
               std::uint64_t pattern_seed, bool books);

    [[nodiscard]] Step next() override;
    void finished(const Step& step) override;

    [[nodiscard]] const Slice& slice() const noexcept { return slice_; }
    /// How many places were written; 0 without books.
    [[nodiscard]] std::uint64_t written() const noexcept;
    /// The read that finds what was last written to @p place; nullopt: nothing was.
    [[nodiscard]] std::optional<Step> read_of(std::uint64_t place) const noexcept;

private:
    [[nodiscard]] Op kind();

    Slice slice_;
    unsigned read_percent_;
    Addresses addresses_;
    Addresses percents_;
    std::uint64_t pattern_seed_;
    std::uint32_t writes_ = 0;
    std::vector<std::uint32_t> generation_;  // of each place, 0: as it was; empty without books
    std::vector<bool> busy_;                 // has an I/O in flight
};

/// Every place that a plan wrote, once.
class ReadBack final : public Plan {
public:
    explicit ReadBack(const ShapedPlan& plan) noexcept : plan_(plan) {}
    /// At most ShapedPlan::written() times.
    [[nodiscard]] Step next() override;

private:
    const ShapedPlan& plan_;
    std::uint64_t place_ = 0;
};

}  // namespace kdp::tool::bench
