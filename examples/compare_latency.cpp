// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The same reads down two paths, one by one and taking turns, and how long each path took:
// two paths to one namespace, or one path in two modes.
//
//   compare_latency URI URI [COUNT]
//
//   compare_latency block:/dev/kdp0n1 'kernel:/dev/kdpg0n1?mode=uring&buffers=region' 10000
//
// An example, not an instrument: `kdp bench` does this with rounds, intervals and the costs.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>
#include <kdp/histogram.hpp>

namespace {

constexpr int patience_ms = 10'000;
constexpr std::size_t piece = 4096;
constexpr std::uint64_t default_count = 1000;

/// One of the two. The memory stands before the path, which uses it until its own end.
struct Contestant {
    std::string uri;
    kdp::Buffer memory;
    std::unique_ptr<kdp::DataPath> path;
    kdp::Histogram latencies;

    [[nodiscard]] std::uint64_t pieces() const
    {
        return path->info().blocks / (piece / path->info().block_size);
    }
};

kdp::Status open(Contestant& contestant)
{
    auto opened = kdp::open_path(contestant.uri, {.read_only = true});
    if (!opened)
        return opened.error();
    contestant.path = std::move(opened).value();

    const auto& info = contestant.path->info();
    if (piece % info.block_size != 0 || piece > info.max_transfer || contestant.pieces() == 0)
        return kdp::Error{EINVAL, contestant.uri + ": does not take reads of 4096 bytes"};

    auto allocated = kdp::Buffer::allocate(piece);
    if (!allocated)
        return allocated.error();
    contestant.memory = std::move(allocated).value();
    return contestant.path->register_buffer(contestant.memory.memory());
}

/// One read from its submission to its completion.
kdp::Status read_one(Contestant& contestant, std::uint64_t index)
{
    kdp::DataPath& path = *contestant.path;
    const kdp::Io io{.op = kdp::Op::read,
                     .lba = index * (piece / path.info().block_size),
                     .data = contestant.memory.memory().first(piece),
                     .tag = index};
    kdp::Completion completion;

    const auto before = std::chrono::steady_clock::now();
    // queue() rather than submit(): wait() follows, and a path may do both in one system call
    if (auto taken = path.queue({&io, 1}); !taken)
        return taken.error();
    auto done = path.wait({&completion, 1}, patience_ms);
    const auto after = std::chrono::steady_clock::now();

    if (!done)
        return done.error();
    if (completion.status != 0)
        return kdp::error_from_errno(completion.status,
                                     contestant.uri + ": read of piece " + std::to_string(index));
    contestant.latencies.record(
        static_cast<std::uint64_t>(std::chrono::nanoseconds(after - before).count()));
    return kdp::ok();
}

kdp::Status compare(std::array<Contestant, 2>& both, std::uint64_t count)
{
    for (auto& contestant : both)
        if (auto status = open(contestant); !status)
            return status;

    const std::uint64_t pieces = std::min(both[0].pieces(), both[1].pieces());
    std::mt19937_64 random(1);
    for (std::uint64_t i = 0; i < count; i++) {
        const std::uint64_t index = random() % pieces;
        for (std::size_t turn = 0; turn < both.size(); turn++)  // who is first takes turns, too
            if (auto status = read_one(both[(i + turn) % both.size()], index); !status)
                return status;
    }
    return kdp::ok();
}

void print(const std::array<Contestant, 2>& both)
{
    const auto us = [](auto nanoseconds) { return static_cast<double>(nanoseconds) / 1000; };

    std::printf("%10s %10s %10s %10s %8s  path\n", "mean, us", "p50, us", "p99, us", "max, us",
                "reads");
    for (const auto& [uri, memory, path, latencies] : both)
        std::printf("%10.2f %10.2f %10.2f %10.2f %8llu  %s\n", us(latencies.mean()),
                    us(latencies.percentile(50)), us(latencies.percentile(99)), us(latencies.max()),
                    static_cast<unsigned long long>(latencies.count()), uri.c_str());
}

bool parse(std::string_view text, std::uint64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv)
{
    std::uint64_t count = default_count;
    if (argc < 3 || argc > 4 || (argc == 4 && !parse(argv[3], count))) {
        std::fprintf(stderr, "usage: compare_latency URI URI [COUNT]\n");
        return 2;
    }
    std::array<Contestant, 2> both;
    both[0].uri = argv[1];
    both[1].uri = argv[2];
    if (auto status = compare(both, count); !status) {
        std::fprintf(stderr, "compare_latency: %s\n", status.error().text.c_str());
        return 1;
    }
    print(both);
    return 0;
}
