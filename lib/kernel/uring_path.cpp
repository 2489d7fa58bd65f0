// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel/uring_path.hpp"

#include <cstring>

#include "io_check.hpp"
#include "kernel/command.hpp"
#include "ring_path.hpp"

namespace kdp::kernel {
namespace {

class UringPath final : public RingPath {
public:
    UringPath(NvmeDevice device, NamespaceInfo info, Memory memory, const UringSetup& setup)
        : RingPath(std::move(info), setup.depth),
          device_(std::move(device)),
          memory_(std::move(memory)),
          fixed_(setup.fixed)
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
        return fixed_ ? ring().add_buffer(memory) : memory_.add(device_, memory);
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
    void prepare(io_uring_sqe& sqe, const Io& io) noexcept override;
    [[nodiscard]] Completion outcome(const Slot& slot, int res) const noexcept override
    {
        return completion_of(slot.tag, res);
    }

    NvmeDevice device_;
    Memory memory_;
    bool fixed_;
};

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
