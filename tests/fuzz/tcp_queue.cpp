// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A queue of the tcp path, with reads and writes in flight, and what a controller sends to it.
// Input: a byte (bits 0, 1: digests; bit 2: header digests are made to fit), then parts of the
// stream: a byte N and N bytes that are sent at once.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "fuzz.hpp"
#include "tcp/crc32c.hpp"
#include "tcp/queue.hpp"

namespace {

using kdp::tcp::Queue;
using kdp::tcp::Way;

constexpr unsigned depth = 4;
constexpr std::size_t command_bytes = 512, guard = 64;
constexpr std::uint8_t filling = 0xc3;

/// Memory of a command, with guards around it.
struct Memory {
    std::array<std::uint8_t, guard + command_bytes + guard> bytes;
    bool reads = false;

    Memory() { bytes.fill(filling); }
    std::span<std::byte> data()
    {
        return std::as_writable_bytes(std::span(bytes)).subspan(guard, command_bytes);
    }
    [[nodiscard]] bool untouched() const
    {
        for (std::size_t i = 0; i < bytes.size(); i++)
            if (bytes[i] != filling && !(reads && i >= guard && i < guard + command_bytes))
                return false;
        return true;
    }
};

std::unique_ptr<Queue> open(std::uint8_t dgst, kdp::UniqueFd& far)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
        std::abort();
    kdp::UniqueFd near(fds[0]);
    far = kdp::UniqueFd(fds[1]);
    std::array<std::uint8_t, 128> answer{1, 0, 128, 0, 128};
    answer[11] = dgst & 3;
    answer[13] = 0x10;  // MAXH2CDATA 4096
    if (send(far.get(), answer.data(), answer.size(), 0) != 128)
        std::abort();
    auto queue = Queue::open(std::move(near), "peer", {depth, (dgst & 1) != 0, (dgst & 2) != 0});
    FUZZ_CHECK(queue);
    return std::move(*queue);
}

/// Give the header digest of what looks like a PDU its right value, or next to nothing would
/// come past it.
void repair(std::vector<std::uint8_t>& part, std::uint8_t dgst)
{
    if ((dgst & 5) != 5 || part.size() < 28)
        return;
    const std::uint32_t crc = kdp::tcp::crc32c(std::as_bytes(std::span(part).first(24)));
    std::memcpy(&part[24], &crc, sizeof(crc));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::Input input(data, size);
    const auto dgst = input.number<std::uint8_t>();
    kdp::UniqueFd far;
    const auto queue = open(dgst, far);
    std::array<Memory, depth> memory;
    std::array<unsigned, depth> finished{};

    // slots are given out in order: 0 reads, 1 writes, 2 has no data, 3 reads
    for (unsigned i = 0; i < depth; i++) {
        const std::uint16_t slot = queue->acquire();
        FUZZ_CHECK(slot == i);
        nvmf_sqe_init(&queue->sqe(slot), 1, 1);
        memory[i].reads = i == 0 || i == 3;
        queue->post(slot, i,
                    i == 2            ? Way::none
                    : memory[i].reads ? Way::to_host
                                      : Way::to_controller,
                    i == 2 ? std::span<std::byte>() : memory[i].data());
    }
    queue->ring();

    std::span<const std::uint8_t> rest = input.rest();
    while (!rest.empty() && !queue->broken()) {
        const std::size_t n = std::min<std::size_t>(rest[0], rest.size() - 1);
        std::vector<std::uint8_t> part(rest.begin() + 1, rest.begin() + 1 + static_cast<long>(n));
        rest = rest.subspan(1 + n);
        repair(part, dgst);
        if (!part.empty() && send(far.get(), part.data(), part.size(), MSG_NOSIGNAL) < 0)
            break;
        do {
            for (const auto& done : queue->reap()) {
                FUZZ_CHECK(done.cookie < depth);
                finished[done.cookie]++;
            }
        } while (!queue->broken() && !queue->drained());
    }
    FUZZ_CHECK(!queue->broken() || (queue->error().code != 0 && !queue->error().text.empty()));
    queue->break_with(kdp::Error{ECANCELED, "the end"});
    queue->cancel_all([&](std::uint64_t cookie) { finished[cookie]++; });
    for (const unsigned times : finished)
        FUZZ_CHECK(times == 1);
    FUZZ_CHECK(queue->in_flight() == 0);
    for (const Memory& m : memory)
        FUZZ_CHECK(m.untouched());
    return 0;
}
