// SPDX-License-Identifier: GPL-2.0-only
//
// One I/O over one data path of libkdp: the bytes of a file to a place of a namespace, or
// the other way round.
//
//   path_io [OPTIONS] URI write|read OFFSET LENGTH FILE [PIECE [DEPTH]]
//
// OFFSET and LENGTH in bytes, whole logical blocks. What is longer than PIECE (the path's
// max_transfer) goes in several I/Os, all submitted together as far as DEPTH (8) allows.
//
//   --buffers N      tell the path of the memory in N parts (1); 0: of none of it
//   --shift N        the data begin N bytes into a page (0)
//   --file-pages     the data are FILE's own pages: a region of a file, which kdp's devices have.
//                    For a read FILE is made LENGTH bytes long first, and is on tmpfs
//   --paths N        open N paths (1), of one controller where the path has one; each takes every
//   Nth I/O
//   --late N         come for the first answers N seconds after asking (0)
//   --counters       say what the path has counted: "doorbells N completions N registrations N"

#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace {

constexpr unsigned default_depth = 8;
constexpr int patience_ms = 60000;
constexpr std::size_t page = 4096;

struct Options {
    std::string uri;
    bool writes = false;
    std::uint64_t offset = 0;
    std::size_t length = 0;
    std::string file;
    std::size_t piece = 0;  // 0: the path's max_transfer
    unsigned depth = default_depth;
    std::size_t buffers = 1;
    std::size_t shift = 0;
    unsigned paths = 1;
    unsigned late = 0;
    bool file_pages = false;
    bool counters = false;
};

[[noreturn]] void die(const std::string& what)
{
    std::fprintf(stderr, "path_io: %s\n", what.c_str());
    std::exit(1);
}

[[noreturn]] void usage()
{
    std::fprintf(stderr,
                 "usage: path_io [--buffers N] [--shift N] [--paths N] [--late N] [--file-pages] "
                 "[--counters] URI write|read OFFSET LENGTH FILE [PIECE [DEPTH]]\n");
    std::exit(2);
}

Options parse(int argc, char** argv)
{
    static const option options[] = {{"buffers", required_argument, nullptr, 'b'},
                                     {"shift", required_argument, nullptr, 's'},
                                     {"paths", required_argument, nullptr, 'p'},
                                     {"late", required_argument, nullptr, 'l'},
                                     {"file-pages", no_argument, nullptr, 'f'},
                                     {"counters", no_argument, nullptr, 'c'},
                                     {nullptr, 0, nullptr, 0}};
    const auto number = [](const char* text) { return std::strtoull(text, nullptr, 0); };
    Options o;
    for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        if (c == 'b')
            o.buffers = number(optarg);
        else if (c == 's')
            o.shift = number(optarg);
        else if (c == 'p')
            o.paths = static_cast<unsigned>(number(optarg));
        else if (c == 'l')
            o.late = static_cast<unsigned>(number(optarg));
        else if (c == 'f')
            o.file_pages = true;
        else if (c == 'c')
            o.counters = true;
        else
            usage();
    }
    const std::vector<const char*> words(argv + optind, argv + argc);
    if (words.size() < 5 || words.size() > 7)
        usage();
    const std::string way = words[1];
    if (way != "read" && way != "write")
        usage();
    o.uri = words[0];
    o.writes = way == "write";
    o.offset = number(words[2]);
    o.length = number(words[3]);
    o.file = words[4];
    if (words.size() > 5)
        o.piece = number(words[5]);
    if (words.size() > 6)
        o.depth = static_cast<unsigned>(number(words[6]));
    return o;
}

struct Free {
    void operator()(void* p) const { std::free(p); }
};

using Paths = std::vector<std::unique_ptr<kdp::DataPath>>;

void run(kdp::DataPath& path, const std::vector<kdp::Io>& ios, unsigned late = 0)
{
    std::size_t next = 0, done = 0;

    while (done < ios.size()) {
        if (next < ios.size()) {
            auto taken = path.submit(std::span(ios).subspan(next));
            if (!taken)
                die("submit: " + taken.error().text);
            next += taken.value();
        }
        sleep(std::exchange(late, 0));
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

void run_pieces(const Paths& paths, const Options& o, std::span<std::byte> data)
{
    const auto& info = paths.front()->info();
    const std::size_t piece = o.piece ? o.piece : info.max_transfer;
    if (piece % info.block_size || piece > info.max_transfer)
        die("no piece of " + std::to_string(piece) + " bytes");
    std::vector<std::vector<kdp::Io>> ios(paths.size());
    std::size_t count = 0;
    for (std::size_t at = 0; at < o.length; count++) {
        const std::size_t part = std::min(o.length - at, piece);
        ios[count % paths.size()].push_back({o.writes ? kdp::Op::write : kdp::Op::read,
                                             (o.offset + at) / info.block_size,
                                             data.subspan(at, part), count});
        at += part;
    }
    for (std::size_t i = 0; i < paths.size(); i++)
        run(*paths[i], ios[i], o.late);
    if (o.writes)
        run(*paths.front(), {{kdp::Op::flush, 0, {}, 0}});
}

/// The data lie in the file's own pages.
void run_file_pages(const Paths& paths, const Options& o)
{
    if (paths.size() > 1)
        die("a file's pages are registered with one path");
    const int fd = o.writes ? open(o.file.c_str(), O_RDONLY | O_CLOEXEC)
                            : open(o.file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || (!o.writes && ftruncate(fd, static_cast<off_t>(o.length)) < 0))
        die(o.file + ": " + std::strerror(errno));
    auto region = paths.front()->register_file(fd, 0, o.length,
                                               o.writes ? kdp::Access::send : kdp::Access::receive);
    if (!region)
        die("register: " + region.error().text);
    close(fd);
    run_pieces(paths, o, region->data());
    if (auto removed = region->remove(); !removed)
        die("unregister: " + removed.error().text);
}

/// The data lie in memory that the file is read into, or written from.
void run_memory(const Paths& paths, const Options& o, std::span<std::byte> memory)
{
    const auto data = memory.subspan(o.shift, o.length);
    for (std::size_t i = 0; i < o.buffers; i++) {
        const std::size_t begin = memory.size() / page * i / o.buffers * page;
        const std::size_t end = memory.size() / page * (i + 1) / o.buffers * page;
        for (const auto& path : paths)
            if (auto done = path->register_buffer(memory.subspan(begin, end - begin)); !done)
                die("register: " + done.error().text);
    }
    if (o.writes) {
        std::ifstream file(o.file, std::ios::binary);
        if (!file.read(reinterpret_cast<char*>(data.data()),
                       static_cast<std::streamsize>(data.size())))
            die("cannot read " + o.file);
    }
    run_pieces(paths, o, data);
    if (!o.writes) {
        std::ofstream file(o.file, std::ios::binary);
        file.write(reinterpret_cast<const char*>(data.data()),
                   static_cast<std::streamsize>(data.size()));
        if (!file.flush())
            die("cannot write " + o.file);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const Options o = parse(argc, argv);
    kdp::OpenOptions how;
    how.depth = o.depth;

    const std::size_t rounded = (o.shift + o.length + page - 1) / page * page;
    const std::unique_ptr<void, Free> memory(
        std::aligned_alloc(page, rounded));  // outlives the path
    if (!memory || o.buffers > rounded / page)
        die("no memory, or less than a page for each buffer");
    auto uri = kdp::parse_uri(o.uri);
    if (!uri)
        die(o.uri + ": " + uri.error().text);
    auto opened = kdp::open_paths(uri.value(), how, o.paths);
    if (!opened)
        die("open " + o.uri + ": " + opened.error().text);
    const Paths& paths = opened.value();
    const auto& info = paths.front()->info();
    if (o.offset % info.block_size || o.length % info.block_size || o.length == 0)
        die("not whole blocks of " + std::to_string(info.block_size) + " bytes");

    if (o.file_pages)
        run_file_pages(paths, o);
    else
        run_memory(paths, o, {static_cast<std::byte*>(memory.get()), rounded});
    if (o.counters) {
        const auto c = paths.front()->counters();
        std::printf("doorbells %llu completions %llu registrations %llu\n",
                    static_cast<unsigned long long>(c.doorbells),
                    static_cast<unsigned long long>(c.completions),
                    static_cast<unsigned long long>(c.registrations));
    }
    return 0;
}
