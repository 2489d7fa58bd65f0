// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Reads in batches by io_uring into memory that stands registered with the RDMA device: one
// registration for all of them, and one system call for a batch and the wait for it.
//
//   uring_region DEVICE [BATCHES]
//
//   uring_region /dev/kdpg0n1
//
// DEVICE is a namespace's character device of kdp. Those of the in-tree driver have no regions,
// which is an error here, told in words.

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace {

constexpr int patience_ms = 10'000;
constexpr unsigned depth = 16;
constexpr std::uint64_t default_batches = 8;

/// The whole batch is sent, and taken back. Completions come in any order, with the I/O's tag.
kdp::Status run(kdp::DataPath& path, std::span<const kdp::Io> batch)
{
    // As many as OpenOptions::depth says are taken; here never fewer than the batch has.
    if (auto taken = path.queue(batch); !taken)
        return taken.error();

    std::array<kdp::Completion, depth> completions;
    for (std::size_t done = 0; done < batch.size();) {
        auto some = path.wait(completions, patience_ms);
        if (!some)
            return some.error();
        for (const auto& completion : std::span(completions).first(*some))
            if (completion.status != 0)
                return kdp::error_from_errno(completion.status,
                                             "read at LBA " + std::to_string(completion.tag));
        done += *some;
    }
    return kdp::ok();
}

kdp::Status read_batches(const std::string& device, std::uint64_t batches)
{
    // The same as open_path("kernel:DEVICE?mode=uring&buffers=region"), for any name of a file.
    kdp::PathUri uri;
    uri.scheme = kdp::Scheme::kernel;
    uri.device = device;
    uri.mode = kdp::KernelMode::uring;
    uri.buffers = kdp::Buffers::region;

    kdp::Buffer memory;  // outlives the path
    auto opened = kdp::open_path(uri, {.depth = depth, .read_only = true});
    if (!opened)
        return opened.error();
    kdp::DataPath& path = *opened.value();
    const std::uint32_t block = path.info().block_size;

    auto allocated = kdp::Buffer::allocate(std::size_t{depth} * block);
    if (!allocated)
        return allocated.error();
    memory = std::move(allocated).value();
    // This adds the region: the pages are pinned and known to the RDMA device from here on, and
    // count towards RLIMIT_MEMLOCK.
    if (auto registered = path.register_buffer(memory.memory()); !registered)
        return registered;

    std::uint64_t lba = 0;
    for (std::uint64_t i = 0; i < batches; i++) {
        std::vector<kdp::Io> batch;
        for (unsigned slot = 0; slot < depth; slot++, lba = (lba + 1) % path.info().blocks)
            batch.push_back({.op = kdp::Op::read,
                             .lba = lba,
                             .data = memory.memory().subspan(std::size_t{slot} * block, block),
                             .tag = lba});
        if (auto status = run(path, batch); !status)
            return status;
    }

    const kdp::PathCounters counters = path.counters();
    std::printf("%llu reads of %u bytes: %llu system calls that submit, %llu registrations\n",
                static_cast<unsigned long long>(batches) * depth, block,
                static_cast<unsigned long long>(counters.doorbells),
                static_cast<unsigned long long>(counters.registrations));
    return kdp::ok();
}

bool parse(std::string_view text, std::uint64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv)
{
    std::uint64_t batches = default_batches;
    if (argc < 2 || argc > 3 || (argc == 3 && !parse(argv[2], batches))) {
        std::fprintf(stderr, "usage: uring_region DEVICE [BATCHES]\n");
        return 2;
    }
    if (auto status = read_batches(argv[1], batches); !status) {
        std::fprintf(stderr, "uring_region: %s\n", status.error().text.c_str());
        return 1;
    }
    return 0;
}
