// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A controller of few words, behind the queue interface of the fabrics layer: no transport,
/// and every answer can be made another.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nvmf/command.h>
#include <nvmf/fabrics.h>
#include <nvmf/identify.h>

#include "fabrics/command_queue.hpp"

namespace kdp::test {

/// What the controller says, and what it was told. Survives its queues.
struct FakeController {
    std::mutex mutex;  // seen
    std::vector<nvmf_sqe> seen;
    std::uint16_t cntlid = 7;
    std::uint16_t io_cntlid = 7;
    std::uint64_t cap = 127 | 10ULL << 24;  // 128 entries, 5 s
    std::uint32_t csts = NVMF_CSTS_RDY;
    std::uint32_t sgls = 1 | NVMF_SGLS_OFFSET;
    std::uint32_t queues = 64;
    std::uint64_t blocks = 2048;
    std::uint16_t descriptors_status = 0;
    std::array<std::uint8_t, 16> uuid{};
    std::atomic<unsigned> keep_alives{0};
    std::atomic<bool> keep_alive_fails{false};
    std::string subsystem, host;  // as Connect said

    std::size_t count(std::uint8_t opcode)
    {
        const std::lock_guard lock(mutex);
        std::size_t n = 0;
        for (const nvmf_sqe& sqe : seen)
            n += sqe.opcode == opcode;
        return n;
    }
    bool was_shut_down()
    {
        const std::lock_guard lock(mutex);
        for (const nvmf_sqe& sqe : seen)
            if (sqe.opcode == NVMF_OPC_FABRICS &&
                nvmf_le32toh(sqe.nsid) == NVMF_FCTYPE_PROPERTY_SET &&
                nvmf_le32toh(sqe.cdw12) & NVMF_CC_SHN_NORMAL)
                return true;
        return false;
    }
};

class FakeQueue final : public fabrics::CommandQueue {
public:
    explicit FakeQueue(FakeController& controller)
        : controller_(controller), ended_(fabrics::Latch::create().value())
    {
    }

    /// The peer hangs up.
    void end() { ended_.signal(); }

    [[nodiscard]] std::span<std::byte> page() const noexcept override
    {
        return {page_.data(), page_.size()};
    }
    Result<nvmf_response> run(const nvmf_sqe& sqe, fabrics::PageData data, fabrics::Patience,
                              const char* what) override
    {
        if (broken_)
            return error_;
        {
            const std::lock_guard lock(controller_.mutex);
            controller_.seen.push_back(sqe);
        }
        nvmf_response response{};
        if (sqe.opcode == NVMF_OPC_FABRICS)
            fabrics_command(sqe, response);
        else if (sqe.opcode == NVMF_ADM_IDENTIFY)
            identify(sqe, data, response);
        else if (sqe.opcode == NVMF_ADM_SET_FEATURES)
            response.result = (controller_.queues - 1) | (controller_.queues - 1) << 16;
        else if (sqe.opcode == NVMF_ADM_KEEP_ALIVE && ++controller_.keep_alives &&
                 controller_.keep_alive_fails) {
            break_with(Error{ETIMEDOUT, std::string("no answer to ") + what});
            return error_;
        }
        return response;
    }
    [[nodiscard]] pollfd watch() const noexcept override { return {ended_.fd(), POLLIN, 0}; }
    Status check_events() override
    {
        pollfd fd = watch();
        checks_++;
        return ::poll(&fd, 1, 0) ? Status(Error{ENOTCONN, "the fake peer hung up"}) : ok();
    }
    [[nodiscard]] bool broken() const noexcept override { return broken_; }
    [[nodiscard]] const Error& error() const noexcept override { return error_; }
    void break_with(Error why) override
    {
        if (broken_)
            return;
        broken_ = true;
        error_ = std::move(why);
    }
    [[nodiscard]] const std::string& peer() const noexcept override { return peer_; }
    [[nodiscard]] unsigned checks() const noexcept { return checks_; }

private:
    void fabrics_command(const nvmf_sqe& sqe, nvmf_response& response)
    {
        switch (nvmf_le32toh(sqe.nsid)) {
            case NVMF_FCTYPE_CONNECT: {
                const auto* data = reinterpret_cast<const nvmf_connect_data*>(page_.data());
                controller_.subsystem = data->subsysnqn;
                controller_.host = data->hostnqn;
                response.result =
                    nvmf_le32toh(sqe.cdw10) >> 16 ? controller_.io_cntlid : controller_.cntlid;
                break;
            }
            case NVMF_FCTYPE_PROPERTY_GET:
                response.result = nvmf_le32toh(sqe.cdw11) == NVMF_PROP_CAP
                                      ? controller_.cap
                                      : controller_.csts | (shut_down_ ? NVMF_CSTS_SHST_DONE : 0);
                break;
            default:
                shut_down_ = shut_down_ || nvmf_le32toh(sqe.cdw12) & NVMF_CC_SHN_NORMAL;
        }
    }
    void identify(const nvmf_sqe& sqe, fabrics::PageData data, nvmf_response& response)
    {
        auto* d = reinterpret_cast<std::uint8_t*>(page_.data());
        const auto put = [d](std::size_t at, std::uint64_t value, std::size_t bytes) {
            for (std::size_t i = 0; i < bytes; i++)
                d[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
        };
        if (data.way != fabrics::PageData::Way::to_host || data.bytes != NVMF_IDENTIFY_SIZE) {
            response.status = NVMF_SC_INVALID_FIELD;
            return;
        }
        std::memset(d, 0, NVMF_IDENTIFY_SIZE);
        switch (nvmf_le32toh(sqe.cdw10) & 0xff) {
            case NVMF_CNS_CTRL:
                put(78, controller_.cntlid, 2);
                put(512, 0x66, 1);
                put(513, 0x44, 1);
                put(514, 100, 2);  // MAXCMD
                put(536, controller_.sgls, 4);
                put(1792, 4, 4);
                break;
            case NVMF_CNS_ACTIVE_NS:
                put(0, 1, 4);
                break;
            case NVMF_CNS_NS:
                put(0, controller_.blocks, 8);
                put(130, 9, 1);
                break;
            case NVMF_CNS_NS_DESCRIPTORS:
                response.status = controller_.descriptors_status;
                put(0, NVMF_NIDT_UUID, 1);
                put(1, 16, 1);
                std::memcpy(d + 4, controller_.uuid.data(), 16);
                break;
            default:
                response.status = NVMF_SC_INVALID_FIELD;
        }
    }

    FakeController& controller_;
    fabrics::Latch ended_;
    mutable std::array<std::byte, NVMF_IDENTIFY_SIZE> page_{};
    std::atomic<unsigned> checks_{0};
    bool shut_down_ = false;
    bool broken_ = false;
    Error error_;
    std::string peer_ = "192.0.2.1:4420";
};

}  // namespace kdp::test
