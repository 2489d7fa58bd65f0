// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/io_loop.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "bench/clock.hpp"
#include "interrupt.hpp"

namespace kdp::tool::bench {
namespace {

constexpr int stall_ms = 60'000;  // the driver's own timeout, 30 s, says more: let it come first

std::string_view op_name(Op op)
{
    return op == Op::read ? "read" : op == Op::write ? "write" : "flush";
}

}  // namespace

IoLoop::IoLoop(DataPath& path, std::span<std::byte> memory, unsigned depth)
    : path_(path), memory_(memory), slots_(depth), completions_(depth)
{
    free_.reserve(depth);
    batch_.reserve(depth);
}

Status IoLoop::start(const Goal& goal, std::uint64_t at_most)
{
    for (; !free_.empty() && at_most > 0; at_most--) {
        const unsigned index = free_.back();
        free_.pop_back();
        const auto data = memory_.subspan(std::size_t{index} * goal.bytes, goal.bytes);
        const Io io{goal.op, goal.next(), data, index};
        if (goal.op == Op::write && goal.pattern)
            goal.pattern->fill(data, io.lba);
        slots_[index].io = io;
        batch_.push_back(io);
        issued_++;
    }
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

Status IoLoop::finish(const Goal& goal, LoopResult& result)
{
    const auto done = path_.wait(completions_, stall_ms);
    if (!done)
        return done.error();
    if (done.value() == 0)
        return Error{EPROTO, "the path says that nothing is in flight, but something is"};
    last_ns_ = now_ns();
    const std::span<const Completion> taken(completions_.data(), done.value());
    Status status = ok();
    for (const Completion& completion : taken) {
        if (completion.tag >= slots_.size() || !slots_[completion.tag].busy)
            return Error{EPROTO, fmt::format("the path completed tag {}, which is not in flight",
                                             completion.tag)};
        Slot& slot = slots_[completion.tag];
        slot.busy = false;
        free_.push_back(static_cast<unsigned>(completion.tag));
        result.latency.record(last_ns_ - slot.started_ns);
        result.ios++;
        if (completion.status != 0 && status.ok()) {
            status = error_from_errno(completion.status,
                                      fmt::format("{} of {} bytes at LBA {}", op_name(slot.io.op),
                                                  slot.io.data.size(), slot.io.lba));
            if (completion.nvme_status != 0)
                status = Error{completion.status, status.error().text, completion.nvme_status};
        }
    }
    if (!status || goal.op != Op::read || !goal.pattern)
        return status;
    for (const Completion& completion : taken) {
        const Io& io = slots_[completion.tag].io;
        if (const auto mismatch = goal.pattern->check(io.data, io.lba))
            return Error{EILSEQ, "the data do not verify: " + mismatch->to_string()};
    }
    return ok();
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

Result<LoopResult> IoLoop::run(const Goal& goal)
{
    LoopResult result;
    issued_ = 0;
    batch_.clear();
    free_.clear();
    for (unsigned i = static_cast<unsigned>(slots_.size()); i-- > 0;)
        free_.push_back(i);

    const std::uint64_t begin = now_ns();
    last_ns_ = begin;
    for (;;) {
        const bool out_of_time = goal.runtime_ns != 0 && last_ns_ - begin >= goal.runtime_ns;
        const std::uint64_t left = goal.ios == 0 ? UINT64_MAX : goal.ios - issued_;
        result.interrupted = result.interrupted || (interrupted() && left > 0 && !out_of_time);
        const bool more = left > 0 && !out_of_time && !result.interrupted;

        Status status = ok();
        if (!batch_.empty() || (more && !free_.empty()))
            status = start(goal, more ? left : 0);
        if (status && free_.size() + batch_.size() < slots_.size())
            status = finish(goal, result);
        if (!status) {
            drain();
            return status.error();
        }
        if (!more && batch_.empty() && free_.size() == slots_.size())
            break;
    }
    result.elapsed_ns = last_ns_ - begin;
    return result;
}

}  // namespace kdp::tool::bench
