// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/plan.hpp"

#include <algorithm>

namespace kdp::tool::bench {
namespace {

constexpr std::uint64_t another_sequence = 0x6b647020;  // the kinds do not follow the places

}  // namespace

ShapedPlan::ShapedPlan(const Slice& slice, const Shape& shape, std::uint64_t order,
                       std::uint64_t pattern_seed, bool books)
    : slice_(slice),
      read_percent_(shape.read_percent),
      addresses_(slice.places, is_random(shape.workload), order),
      percents_(100, true, order ^ another_sequence),
      pattern_seed_(pattern_seed),
      generation_(books ? slice.places : 0),
      busy_(books ? slice.places : 0)
{
}

Op ShapedPlan::kind()
{
    if (read_percent_ == 0 || read_percent_ == 100)
        return read_percent_ == 0 ? Op::write : Op::read;
    return percents_.next() < read_percent_ ? Op::read : Op::write;
}

Step ShapedPlan::next()
{
    Step step{kind(), 0, pattern_seed_};
    std::uint64_t place = addresses_.next();
    if (!busy_.empty()) {
        while (busy_[place])
            place = place + 1 < slice_.places ? place + 1 : 0;
        busy_[place] = true;
        if (step.op == Op::write)
            generation_[place] = ++writes_;
        step.seed += generation_[place];
    }
    step.lba = slice_.first_lba + place * slice_.blocks_an_io;
    return step;
}

void ShapedPlan::finished(const Step& step)
{
    if (!busy_.empty())
        busy_[(step.lba - slice_.first_lba) / slice_.blocks_an_io] = false;
}

std::uint64_t ShapedPlan::written() const noexcept
{
    return generation_.size() -
           static_cast<std::uint64_t>(std::count(generation_.begin(), generation_.end(), 0U));
}

std::optional<Step> ShapedPlan::read_of(std::uint64_t place) const noexcept
{
    if (place >= generation_.size() || generation_[place] == 0)
        return std::nullopt;
    return Step{Op::read, slice_.first_lba + place * slice_.blocks_an_io,
                pattern_seed_ + generation_[place]};
}

Step ReadBack::next()
{
    while (place_ < plan_.slice().places)
        if (const auto step = plan_.read_of(place_++))
            return *step;
    return {};
}

}  // namespace kdp::tool::bench
