// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/uring_path.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "io_check.hpp"
#include "kernel/command.hpp"
#include "kernel/kernel_version.hpp"
#include "ring_path.hpp"

namespace kdp::kernel {
namespace {

constexpr std::size_t page = 4096;

class UringPath final : public RingPath {
public:
    UringPath(NvmeDevice device, NamespaceInfo info, Memory memory, const UringSetup& setup)
        : RingPath(std::move(info), setup.depth),
          device_(std::move(device)),
          memory_(std::move(memory)),
          fixed_(setup.fixed),
          segments_(setup.segments)
    {
    }
    ~UringPath() override { drain(); }

    [[nodiscard]] Status open_ring(const UringSetup& setup)
    {
        return start({.polled = setup.polled,
                      .sq_thread = setup.sq_thread,
                      .wide = true,
                      .one_thread = !setup.sq_thread});
    }

    Status register_buffer(std::span<std::byte> memory) override
    {
        return fixed_ ? ring().add_buffer(memory, slice_of(memory)) : memory_.add(device_, memory);
    }
    Result<Region> register_file(int file, std::uint64_t offset, std::uint64_t length,
                                 Access access) override
    {
        return memory_.add_file(device_, file, offset, length, access);
    }
    [[nodiscard]] PathCounters counters() const noexcept override
    {
        PathCounters counters = RingPath::counters();
        counters.registrations += memory_.counters().registrations;
        return counters;
    }

private:
    [[nodiscard]] int refusal(const Io& io) const noexcept override { return check_io(info(), io); }
    [[nodiscard]] std::size_t slice_of(std::span<const std::byte> memory) const noexcept;
    void prepare(io_uring_sqe& sqe, const Io& io) noexcept override;
    [[nodiscard]] Completion outcome(const Slot& slot, int res) const noexcept override
    {
        return completion_of(slot.tag, res);
    }

    NvmeDevice device_;
    Memory memory_;
    bool fixed_;
    unsigned segments_;
};

/// Linux 6.1 counts the pages from a command's first to the end of the registered buffer, and
/// refuses what is more than the device's segments: there, buffers are no longer than that. A
/// command that lies across two goes without.
std::size_t UringPath::slice_of(std::span<const std::byte> memory) const noexcept
{
    if (!kernel_before(6, 12))
        return SIZE_MAX;
    const std::size_t pages = std::bit_floor(std::max(segments_, 2U));
    const bool aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % page == 0;
    return (aligned ? pages : pages / 2) * page;
}

void UringPath::prepare(io_uring_sqe& sqe, const Io& io) noexcept
{
    nvme_uring_cmd command{};
    fill_command(command, io, device_.nsid(), info().block_size);
    sqe.opcode = IORING_OP_URING_CMD;
    sqe.fd = device_.fd();
    sqe.cmd_op = NVME_URING_CMD_IO;
    std::memcpy(sqe.cmd, &command, sizeof(command));
    const int index = fixed_ && io.op != Op::flush ? ring().buffer_of(io.data) : -1;
    if (index >= 0) {
        sqe.uring_cmd_flags = IORING_URING_CMD_FIXED;
        sqe.buf_index = static_cast<std::uint16_t>(index);
    }
}

}  // namespace

Result<std::unique_ptr<DataPath>> open_uring_path(NvmeDevice device, NamespaceInfo info,
                                                  Memory memory, const UringSetup& setup)
{
    auto path =
        std::make_unique<UringPath>(std::move(device), std::move(info), std::move(memory), setup);
    if (const Status status = path->open_ring(setup); !status)
        return status.error();
    return std::unique_ptr<DataPath>(std::move(path));
}

}  // namespace kdp::kernel
