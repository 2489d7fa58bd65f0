// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One block by any path: the smallest whole program with libkdp.
//
//   read_block URI [LBA]
//
//   read_block block:disk.img
//   read_block kernel:/dev/kdpg0n1 7
//   read_block 'verbs://192.0.2.1:4420/nqn.2024-01.org.example:disk?nsid=1' 7

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>

namespace {

constexpr int patience_ms = 10'000;
constexpr std::size_t shown_bytes = 64;

void print(std::span<const std::byte> bytes)
{
    for (std::size_t i = 0; i < bytes.size(); i++)
        std::printf("%02x%c", std::to_integer<unsigned>(bytes[i]), i % 16 == 15 ? '\n' : ' ');
}

/// What an I/O came to. The controller's own status says more than the errno, where there is one.
kdp::Status check(const kdp::Completion& completion, std::uint64_t lba)
{
    if (completion.status == 0)
        return kdp::ok();
    kdp::Error error =
        kdp::error_from_errno(completion.status, "read of block " + std::to_string(lba));
    error.nvme_status = completion.nvme_status;
    return error;
}

kdp::Status read_block(const std::string& uri, std::uint64_t lba)
{
    // The memory is declared before the path, and so goes after it: a path that goes waits for
    // its I/O, which needs the memory until then.
    kdp::Buffer memory;

    auto opened = kdp::open_path(uri, {.read_only = true});
    if (!opened)
        return opened.error();
    kdp::DataPath& path = *opened.value();
    const kdp::NamespaceInfo& info = path.info();
    std::printf("%s: %llu blocks of %u bytes\n", info.device.c_str(),
                static_cast<unsigned long long>(info.blocks), info.block_size);

    auto allocated = kdp::Buffer::allocate(info.block_size);
    if (!allocated)
        return allocated.error();
    memory = std::move(allocated).value();
    // Needless on some paths, demanded by others; so it is done on every one.
    if (auto registered = path.register_buffer(memory.memory()); !registered)
        return registered;

    const kdp::Io io{
        .op = kdp::Op::read, .lba = lba, .data = memory.memory().first(info.block_size), .tag = 1};
    auto taken = path.submit({&io, 1});
    if (!taken)
        return taken.error();

    kdp::Completion completion;
    auto done = path.wait({&completion, 1}, patience_ms);
    if (!done)
        return done.error();
    if (auto fine = check(completion, lba); !fine)
        return fine;
    print(io.data.first(std::min(io.data.size(), shown_bytes)));
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
    std::uint64_t lba = 0;
    if (argc < 2 || argc > 3 || (argc == 3 && !parse(argv[2], lba))) {
        std::fprintf(stderr, "usage: read_block URI [LBA]\n");
        return 2;
    }
    if (auto status = read_block(argv[1], lba); !status) {
        // The sentence says what happened, and to what; the code is for programs.
        std::fprintf(stderr, "read_block: %s\n", status.error().text.c_str());
        return 1;
    }
    return 0;
}
