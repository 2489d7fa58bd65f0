// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "copy/mover.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "interrupt.hpp"

namespace kdp::tool::copy {
namespace {

constexpr int stall_ms = 60'000;  // the driver's own timeout, 30 s, says more: let it come first

Error failure(const Io& io, const Completion& completion)
{
    const std::string_view name = io.op == Op::read    ? "read"
                                  : io.op == Op::write ? "write"
                                                       : "flush";
    Error error = error_from_errno(
        completion.status,
        io.op == Op::flush ? std::string(name)
                           : fmt::format("{} of {} bytes at LBA {}", name, io.data.size(), io.lba));
    error.nvme_status = completion.nvme_status;
    return error;
}

class Mover {
public:
    Mover(DataPath& path, Stage& stage, const Job& job)
        : path_(path), stage_(stage), job_(job), slots_(job.depth), completions_(job.depth)
    {
        for (unsigned i = job.depth; i-- > 0;)
            free_.push_back(i);
    }

    Result<Moved> run();

private:
    struct Slot {
        Piece piece;
        Io io;
    };

    [[nodiscard]] std::size_t in_flight() const { return slots_.size() - free_.size(); }
    [[nodiscard]] Status fill();
    [[nodiscard]] Status submit();
    [[nodiscard]] Status collect();
    void drain();

    DataPath& path_;
    Stage& stage_;
    const Job& job_;
    std::vector<Slot> slots_;
    std::vector<unsigned> free_;
    std::vector<Io> batch_;  // built, not yet taken by the path
    std::vector<Completion> completions_;
    Moved moved_;
};

/// A command for each free slot, as long as there are pieces.
Status Mover::fill()
{
    while (!free_.empty()) {
        const auto piece = stage_.next(job_.command_bytes);
        if (!piece)
            return piece.error();
        if (!piece.value())
            break;
        const unsigned index = free_.back();
        free_.pop_back();
        const std::uint64_t block = piece.value()->at / path_.info().block_size;
        slots_[index].piece = *piece.value();
        slots_[index].io = {job_.op, job_.lba + block, piece.value()->data, index};
        batch_.push_back(slots_[index].io);
    }
    return ok();
}

Status Mover::submit()
{
    if (batch_.empty())
        return ok();
    const auto taken = path_.submit(batch_);
    if (!taken)
        return taken.error();
    batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(taken.value()));
    moved_.commands += taken.value();
    return ok();
}

/// At least one completion.
Status Mover::collect()
{
    const auto n = path_.wait(completions_, stall_ms);
    if (!n)
        return n.error();
    if (n.value() == 0)
        return Error{EPROTO, "the path says that nothing is in flight, but something is"};
    Status status = ok();
    for (std::size_t i = 0; i < n.value(); i++) {
        const Completion& completion = completions_[i];
        const Slot& slot = slots_.at(completion.tag);
        free_.push_back(static_cast<unsigned>(completion.tag));
        Status done =
            completion.status ? Status(failure(slot.io, completion)) : stage_.done(slot.piece);
        if (done)
            moved_.bytes += slot.piece.data.size();
        else if (status)
            status = std::move(done);
    }
    job_.progress(moved_.bytes);
    return status;
}

/// After an error: the memory belongs to the path until each completion came out.
void Mover::drain()
{
    std::size_t left = in_flight() - batch_.size();
    while (left > 0) {
        const auto n = path_.wait(completions_, stall_ms);
        if (!n || n.value() == 0)
            return;
        left -= std::min(left, n.value());
    }
}

Result<Moved> Mover::run()
{
    for (;;) {
        moved_.interrupted = moved_.interrupted || (interrupted() && !stage_.finished());
        Status status = moved_.interrupted ? ok() : fill();
        if (status)
            status = submit();
        if (status && !moved_.interrupted)
            status = stage_.prepare();
        if (status && in_flight() > 0)
            status = collect();
        if (!status) {
            drain();
            return status.error();
        }
        if (in_flight() == 0 && (moved_.interrupted || stage_.finished()))
            return moved_;
    }
}

}  // namespace

Result<Moved> move(DataPath& path, Stage& stage, const Job& job)
{
    return Mover(path, stage, job).run();
}

Status run_one(DataPath& path, const Io& io)
{
    const auto taken = path.submit({&io, 1});
    if (!taken)
        return taken.error();
    Completion completion;
    const auto n = path.wait({&completion, 1}, stall_ms);
    if (!n)
        return n.error();
    if (taken.value() != 1 || n.value() != 1)
        return Error{EPROTO, "the path took no command, or lost it"};
    return completion.status ? Status(failure(io, completion)) : ok();
}

}  // namespace kdp::tool::copy
