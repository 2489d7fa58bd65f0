// SPDX-License-Identifier: GPL-2.0-only
//
// Same bytes by every path: for each size of I/O (512 bytes to 1 MiB) and each depth (1 to 128),
// each of several paths to one namespace writes a pattern of its own, and every path reads it back.
// Prints KTAP points, one a depth and writer.
//
//   cross_io [--limit BYTES] URI...
//
// --limit: leave out what has more bytes in flight, size times depth (128 MiB: nothing).
// --deepest: what the target takes, where that is less than 128.
// Overwrites the namespace from its begin.

#include <getopt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>

namespace {

constexpr std::size_t smallest = 512, largest = 1 << 20;
constexpr unsigned deepest = 128;
constexpr int patience_ms = 60000;

struct Path {
    std::string uri;
    std::unique_ptr<kdp::DataPath> path;
};

std::string complaint;  // of the point at hand

bool complain(const std::string& what)
{
    complaint = what;
    return false;
}

/// Different for each writer, size, depth and block.
void fill(std::span<std::byte> data, std::uint64_t seed)
{
    for (std::size_t at = 0; at < data.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = (seed << 40 | at) * 0x9e3779b97f4a7c15;
        std::memcpy(data.data() + at, &word, sizeof(word));
    }
}

/// All of @p data in pieces of @p size, or what the path takes at most (kernel: and block: may take
/// a page less than 1 MiB), as many in flight as its depth.
bool move(const Path& by, kdp::Op op, std::span<std::byte> data, std::size_t size)
{
    const auto& info = by.path->info();
    size = std::min<std::size_t>(size, info.max_transfer);
    std::vector<kdp::Io> ios;
    for (std::size_t at = 0; at < data.size(); at += size)
        ios.push_back({op, at / info.block_size, data.subspan(at, std::min(size, data.size() - at)),
                       ios.size()});
    std::vector<unsigned> seen(ios.size());
    std::size_t next = 0, done = 0;
    while (done < ios.size()) {
        const auto taken = by.path->submit(std::span(ios).subspan(next));
        if (!taken)
            return complain(by.uri + ": submit: " + taken.error().text);
        next += taken.value();
        kdp::Completion out[deepest];
        const auto got = by.path->wait(out, patience_ms);
        if (!got)
            return complain(by.uri + ": wait: " + got.error().text);
        for (const kdp::Completion& c : std::span(out).first(got.value())) {
            if (c.status || c.tag >= seen.size() || seen[c.tag]++)
                return complain(by.uri + ": I/O " + std::to_string(c.tag) + ": " +
                                std::strerror(c.status));
            done++;
        }
    }
    return true;
}

bool write_and_read(const std::vector<Path>& paths, const Path& writer, std::uint64_t seed,
                    std::size_t size, std::span<std::byte> data, std::span<std::byte> back)
{
    fill(data, seed);
    if (!move(writer, kdp::Op::write, data, size))
        return false;
    for (const Path& reader : paths) {
        std::memset(back.data(), 0xee, back.size());
        if (!move(reader, kdp::Op::read, back, size))
            return false;
        const auto wrong = std::mismatch(back.begin(), back.end(), data.begin()).first;
        if (wrong != back.end())
            return complain(reader.uri + ": I/Os of " + std::to_string(size) + " bytes: byte " +
                            std::to_string(wrong - back.begin()) + " is not what was written");
    }
    return true;
}

bool open_all(std::vector<Path>& paths, unsigned depth, std::span<std::byte> data,
              std::span<std::byte> back)
{
    kdp::OpenOptions how;
    how.depth = depth;
    for (Path& p : paths) {
        auto opened = kdp::open_path(p.uri, how);
        if (!opened)
            return complain("open " + p.uri + ": " + opened.error().text);
        p.path = std::move(opened).value();
        for (const auto memory : {data, back})
            if (const auto done = p.path->register_buffer(memory); !done)
                return complain("register with " + p.uri + ": " + done.error().text);
    }
    return true;
}

bool run_depth(std::vector<Path>& paths, unsigned depth, std::size_t limit,
               std::span<std::byte> data, std::span<std::byte> back)
{
    if (!open_all(paths, depth, data, back)) {
        std::printf("not ok - depth %u: the paths open\n# %s\n", depth, complaint.c_str());
        return false;
    }
    bool all_good = true;
    for (std::size_t w = 0; w < paths.size(); w++) {
        bool good = true;
        unsigned sizes = 0;
        for (std::size_t size = smallest; good && size <= largest && size * depth <= limit;
             size *= 2, sizes++)
            good = write_and_read(paths, paths[w], (w << 8 | depth) * 31 + size, size,
                                  data.first(size * depth), back.first(size * depth));
        std::printf("%s - depth %u, %u sizes: what %s wrote every path reads\n",
                    good ? "ok" : "not ok", depth, sizes, paths[w].uri.c_str());
        if (!good)
            std::printf("# %s\n", complaint.c_str());
        std::fflush(stdout);
        all_good &= good;
    }
    for (Path& p : paths)
        p.path.reset();
    return all_good;
}

}  // namespace

int main(int argc, char** argv)
{
    static const option options[] = {{"limit", required_argument, nullptr, 'l'},
                                     {"deepest", required_argument, nullptr, 'd'},
                                     {nullptr, 0, nullptr, 0}};
    std::size_t limit = largest * deepest;
    unsigned last = deepest;
    for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        if (c == 'l')
            limit = std::strtoull(optarg, nullptr, 0);
        else if (c == 'd')
            last = static_cast<unsigned>(std::strtoul(optarg, nullptr, 0));
        else
            return 2;
    }
    std::vector<Path> paths;
    for (int i = optind; i < argc; i++)
        paths.push_back({argv[i], nullptr});
    const std::size_t bytes = std::min(limit, largest * deepest);
    auto data = kdp::Buffer::allocate(bytes);
    auto back = kdp::Buffer::allocate(bytes);
    if (paths.empty() || last == 0 || last > deepest || !data || !back) {
        std::fprintf(stderr,
                     "usage: cross_io [--limit BYTES] [--deepest N] URI...; or no memory\n");
        return 2;
    }
    bool good = true;
    for (unsigned depth = 1; depth <= deepest; depth *= 2)
        good &= run_depth(paths, std::min(depth, last), limit, data->memory(), back->memory());
    return good ? 0 : 1;
}
