// SPDX-License-Identifier: GPL-2.0-only
//
// One I/O over one data path of libkdp: the bytes of a file to a place of a namespace, or
// the other way round.
//
//   path_io URI write|read OFFSET LENGTH FILE [PIECE [DEPTH]]
//
// OFFSET and LENGTH in bytes, whole logical blocks. What is longer than PIECE (the path's
// max_transfer) goes in several I/Os, all submitted together as far as DEPTH (8) allows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <kdp/data_path.hpp>

namespace {

constexpr unsigned default_depth = 8;
constexpr int patience_ms = 60000;

[[noreturn]] void die(const std::string& what)
{
    std::fprintf(stderr, "path_io: %s\n", what.c_str());
    std::exit(1);
}

struct Free {
    void operator()(void* p) const { std::free(p); }
};

void run(kdp::DataPath& path, const std::vector<kdp::Io>& ios)
{
    std::size_t next = 0, done = 0;

    while (done < ios.size()) {
        if (next < ios.size()) {
            auto taken = path.submit(std::span(ios).subspan(next));
            if (!taken)
                die("submit: " + taken.error().text);
            next += taken.value();
        }
        kdp::Completion out[default_depth];
        auto got = path.wait(out, patience_ms);
        if (!got)
            die("wait: " + got.error().text);
        if (got.value() == 0)
            die("nothing in flight, and not all done");
        for (std::size_t i = 0; i < got.value(); i++) {
            if (out[i].status != 0)
                die("I/O " + std::to_string(out[i].tag) + ": " + std::strerror(out[i].status) +
                    ", NVMe status " + std::to_string(out[i].nvme_status));
            done++;
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 6 || argc > 8 ||
        (std::string(argv[2]) != "read" && std::string(argv[2]) != "write")) {
        std::fprintf(stderr, "usage: path_io URI write|read OFFSET LENGTH FILE [PIECE [DEPTH]]\n");
        return 2;
    }
    const bool writes = std::string(argv[2]) == "write";
    const std::uint64_t offset = std::strtoull(argv[3], nullptr, 0);
    const std::size_t length = std::strtoull(argv[4], nullptr, 0);

    kdp::OpenOptions options;
    options.depth = argc > 7 ? static_cast<unsigned>(std::atoi(argv[7])) : default_depth;
    auto opened = kdp::open_path(argv[1], options);
    if (!opened)
        die("open " + std::string(argv[1]) + ": " + opened.error().text);
    kdp::DataPath& path = *opened.value();
    const auto& info = path.info();
    if (offset % info.block_size || length % info.block_size || length == 0)
        die("not whole blocks of " + std::to_string(info.block_size) + " bytes");
    const std::size_t piece = argc > 6 ? std::strtoull(argv[6], nullptr, 0) : info.max_transfer;
    if (piece == 0 || piece % info.block_size || piece > info.max_transfer)
        die("no piece of " + std::to_string(piece) + " bytes");

    const std::size_t rounded = (length + 4095) / 4096 * 4096;
    const std::unique_ptr<void, Free> memory(std::aligned_alloc(4096, rounded));
    if (!memory)
        die("no memory");
    const std::span<std::byte> buffer(static_cast<std::byte*>(memory.get()), length);
    if (auto registered = path.register_buffer({buffer.data(), rounded}); !registered)
        die("register: " + registered.error().text);

    if (writes) {
        std::ifstream file(argv[5], std::ios::binary);
        if (!file.read(reinterpret_cast<char*>(buffer.data()),
                       static_cast<std::streamsize>(length)))
            die(std::string("cannot read ") + argv[5]);
    }

    std::vector<kdp::Io> ios;
    for (std::size_t at = 0; at < length;) {
        const std::size_t part = std::min<std::size_t>(length - at, piece);
        ios.push_back({writes ? kdp::Op::write : kdp::Op::read, (offset + at) / info.block_size,
                       buffer.subspan(at, part), ios.size()});
        at += part;
    }
    run(path, ios);
    if (writes)
        run(path, {{kdp::Op::flush, 0, {}, 0}});

    if (!writes) {
        std::ofstream file(argv[5], std::ios::binary);
        file.write(reinterpret_cast<const char*>(buffer.data()),
                   static_cast<std::streamsize>(length));
        if (!file.flush())
            die(std::string("cannot write ") + argv[5]);
    }
    return 0;
}
