// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/io_loop.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "bench/clock.hpp"
#include "bench/verify.hpp"
#include "interrupt.hpp"

namespace kdp::tool::bench {
namespace {

constexpr int stall_ms = 60'000;  // the driver's own timeout, 30 s, says more: let it come first

std::string_view op_name(Op op)
{
    return op == Op::read ? "read" : op == Op::write ? "write" : "flush";
}

Error failed(const Io& io, const Completion& completion)
{
    Error error = error_from_errno(
        completion.status,
        fmt::format("{} of {} bytes at LBA {}", op_name(io.op), io.data.size(), io.lba));
    error.nvme_status = completion.nvme_status;
    return error;
}

}  // namespace

IoLoop::IoLoop(DataPath& path, std::span<std::byte> memory, unsigned depth)
    : path_(path), memory_(memory), slots_(depth), completions_(depth)
{
    free_.reserve(depth);
    batch_.reserve(depth);
}

void IoLoop::prepare(const Goal& goal)
{
    const unsigned index = free_.back();
    free_.pop_back();
    const Step step = goal.plan->next();
    const auto data = memory_.subspan(std::size_t{index} * goal.bytes, goal.bytes);
    if (step.op == Op::write && goal.pattern_block != 0)
        Pattern(goal.pattern_block, step.seed).fill(data, step.lba);
    slots_[index].io = {step.op, step.lba, data, index};
    slots_[index].seed = step.seed;
    batch_.push_back(slots_[index].io);
    issued_++;
}

Status IoLoop::start(const Goal& goal, std::uint64_t at_most)
{
    for (; !free_.empty() && at_most > 0; at_most--)
        prepare(goal);
    // One look at the clock a batch: what the path does to start it belongs to the latency.
    last_ns_ = now_ns();
    for (const Io& io : batch_)
        slots_[io.tag].started_ns = last_ns_;
    const auto taken = path_.queue(batch_);  // finish() follows: one system call for both
    if (!taken)
        return taken.error();
    for (std::size_t i = 0; i < taken.value(); i++)
        slots_[batch_[i].tag].busy = true;
    batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(taken.value()));
    return ok();
}

Status IoLoop::take(const Goal& goal, const Completion& completion, LoopResult& result)
{
    if (completion.tag >= slots_.size() || !slots_[completion.tag].busy)
        return Error{EPROTO, fmt::format("the path completed tag {}, which is not in flight",
                                         completion.tag)};
    Slot& slot = slots_[completion.tag];
    slot.busy = false;
    free_.push_back(static_cast<unsigned>(completion.tag));
    goal.plan->finished({slot.io.op, slot.io.lba, slot.seed});
    if (completion.status != 0)
        return failed(slot.io, completion);
    const std::uint64_t took = last_ns_ - slot.started_ns;
    (slot.io.op == Op::read ? result.reads : result.writes).record(took);
    if (goal.log)
        goal.log->push_back({slot.io.lba, took, slot.io.op});
    result.end_ns = last_ns_;
    return ok();
}

Status IoLoop::check(const Goal& goal, std::span<const Completion> taken) const
{
    for (const Completion& completion : taken) {
        const Slot& slot = slots_[completion.tag];
        if (slot.io.op != Op::read)
            continue;
        const Pattern pattern(goal.pattern_block, slot.seed);
        if (const auto mismatch = pattern.check(slot.io.data, slot.io.lba))
            return Error{EILSEQ, "the data do not verify: " + mismatch->to_string()};
    }
    return ok();
}

Status IoLoop::finish(const Goal& goal, LoopResult& result)
{
    const auto done = path_.wait(completions_, stall_ms);
    if (!done)
        return done.error();
    if (done.value() == 0)
        return Error{EPROTO, "the path says that nothing is in flight, but something is"};
    last_ns_ = now_ns();
    const std::span<const Completion> taken(completions_.data(), done.value());
    Status first = ok();
    for (const Completion& completion : taken)
        if (Status status = take(goal, completion, result); !status && first)
            first = std::move(status);
    if (!first || goal.pattern_block == 0)
        return first;
    return check(goal, taken);
}

/// After an error: the memory belongs to the path until each completion came out.
void IoLoop::drain()
{
    const auto busy = [](const Slot& slot) { return slot.busy; };
    while (std::any_of(slots_.begin(), slots_.end(), busy)) {
        const auto done = path_.wait(completions_, stall_ms);
        if (!done || done.value() == 0)
            return;
        for (std::size_t i = 0; i < done.value(); i++)
            if (completions_[i].tag < slots_.size())
                slots_[completions_[i].tag].busy = false;
    }
}

LoopResult IoLoop::run(const Goal& goal)
{
    LoopResult result;
    issued_ = 0;
    batch_.clear();
    free_.clear();
    for (unsigned i = static_cast<unsigned>(slots_.size()); i-- > 0;)
        free_.push_back(i);

    last_ns_ = result.begin_ns = result.end_ns = now_ns();
    for (;;) {
        const bool out_of_time =
            goal.runtime_ns != 0 && last_ns_ - result.begin_ns >= goal.runtime_ns;
        const std::uint64_t left = goal.ios == 0 ? UINT64_MAX : goal.ios - issued_;
        const bool told =
            interrupted() || (goal.stop && goal.stop->load(std::memory_order_relaxed));
        result.interrupted = result.interrupted || (told && left > 0 && !out_of_time);
        const bool more = left > 0 && !out_of_time && !result.interrupted;

        Status status = ok();
        if (!batch_.empty() || (more && !free_.empty()))
            status = start(goal, more ? left : 0);
        if (status && free_.size() + batch_.size() < slots_.size())
            status = finish(goal, result);
        if (!status) {
            drain();
            result.status = std::move(status);
            return result;
        }
        if (!more && batch_.empty() && free_.size() == slots_.size())
            return result;
    }
}

}  // namespace kdp::tool::bench
