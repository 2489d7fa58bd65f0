// SPDX-License-Identifier: GPL-2.0-only
//
// A verified load on one namespace by several paths of one set (kdp::open_paths), a thread for
// each: writes with content of their own, reads that know what was written last.
//
//   path_load [OPTIONS] URI
//
//   --threads N    paths, each with a thread and its own part of the namespace (1)
//   --depth N      I/Os in flight a thread (8)
//   --bytes N      of an I/O (4096)
//   --places N     that a thread writes to and reads from (32)
//   --ios N        end after so many I/Os a thread (1000)
//   --until FILE   end when FILE is there, instead
//   --progress FILE  write the number of I/Os that are over into it, now and then
//   --keep-alive MS  (15000)
//
// At the end every place is read once more. Prints
//   ios N writes N reads N errors N registrations N doorbells N completions N late N
// errors: I/Os that failed or were not taken, with the first one's errno behind it, "errors 7
// ENOTCONN"; late: wait() that ended with ETIMEDOUT. Status 1 when a byte was not what it must be,
// an I/O was completed twice or never, or the path could not be opened; 3 when I/Os failed.

#include <getopt.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <kdp/buffer.hpp>
#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

namespace {

using namespace std::chrono_literals;

constexpr int wait_ms = 500;
constexpr auto patience = 120s;  // with nothing done at all

struct Options {
    std::string uri;
    unsigned threads = 1;
    unsigned depth = 8;
    std::size_t bytes = 4096;
    std::size_t places = 32;
    std::uint64_t ios = 1000;
    std::string until;
    std::string progress;
    std::uint32_t keep_alive_ms = 15000;
};

struct Totals {
    std::atomic<std::uint64_t> ios{0}, writes{0}, reads{0}, errors{0}, late{0}, registrations{0},
        doorbells{0}, completions{0};
    std::atomic<int> first_error{0};
    std::atomic<bool> broken{false};
};

std::atomic<bool> stop{false};

[[noreturn]] void die(const std::string& what)
{
    std::fprintf(stderr, "path_load: %s\n", what.c_str());
    std::_Exit(1);
}

/// One word of what a place holds after its write number @p generation.
std::uint64_t word(std::uint64_t place, std::uint64_t generation, std::uint64_t index)
{
    std::uint64_t x = place * 0x9e3779b97f4a7c15ULL ^ generation * 0xbf58476d1ce4e5b9ULL ^ index;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

/// One thread's work.
class Worker {
public:
    Worker(const Options& o, unsigned number, kdp::DataPath& path, Totals& totals)
        : o_(o),
          number_(number),
          path_(path),
          totals_(totals),
          random_(number + 1),
          places_(o.places),
          blocks_(o.bytes / path.info().block_size)
    {
        auto memory = kdp::Buffer::allocate(o.bytes * o.places);
        if (!memory)
            die(memory.error().text);
        memory_ = std::move(*memory);
    }

    void run()
    {
        if (auto done = path_.register_buffer(memory_.memory()); !done)
            die("register: " + done.error().text);
        while (!ended() && !failed_) {
            start(o_.depth - in_flight_);
            collect();
        }
        while (in_flight_)
            collect();
        // all of it once more, in order
        for (std::size_t next = 0; next < places_.size() && !failed_;) {
            std::vector<kdp::Io> batch;
            for (; next < places_.size() && batch.size() < o_.depth; next++)
                if (places_[next].generation && !places_[next].unknown)
                    batch.push_back(io(next, false));
            submit(batch);
            while (in_flight_)
                collect();
        }
        const auto c = path_.counters();
        totals_.registrations += c.registrations;
        totals_.doorbells += c.doorbells;
        totals_.completions += c.completions;
    }

private:
    struct Place {
        std::uint64_t generation = 0;
        bool busy = false;
        bool writing = false;
        bool unknown = false;  // a write of it failed: it may have happened or not
    };

    [[nodiscard]] bool ended() const { return o_.until.empty() ? done_ >= o_.ios : stop.load(); }

    [[nodiscard]] std::uint64_t name(std::size_t place) const
    {
        return number_ * o_.places + place;
    }
    std::span<std::byte> data(std::size_t place)
    {
        return memory_.memory().subspan(place * o_.bytes, o_.bytes);
    }

    kdp::Io io(std::size_t place, bool write)
    {
        Place& p = places_[place];
        p.busy = true;
        p.writing = write;
        std::uint64_t* words = reinterpret_cast<std::uint64_t*>(data(place).data());
        for (std::size_t i = 0; i < o_.bytes / 8; i++)
            words[i] = write ? word(name(place), p.generation + 1, i) : ~0ULL;
        in_flight_++;
        return {write ? kdp::Op::write : kdp::Op::read, name(place) * blocks_, data(place), place};
    }

    void start(std::size_t count)
    {
        std::vector<kdp::Io> batch;
        for (std::size_t tries = 0; batch.size() < count && tries < 4 * count; tries++) {
            const std::size_t place = random_() % places_.size();
            if (!places_[place].busy)
                batch.push_back(io(
                    place, !places_[place].generation || places_[place].unknown || random_() % 2));
        }
        submit(batch);
    }

    void submit(const std::vector<kdp::Io>& batch)
    {
        auto taken = path_.submit(batch);
        if (!taken && taken.error().code != ENOTCONN)
            die("submit: " + taken.error().text);
        // a path that is lost takes nothing; one that is not, all: there is room
        if (taken && taken.value() != batch.size())
            die("submit took " + std::to_string(taken.value()) + " of " +
                std::to_string(batch.size()));
        if (!taken) {
            failed_ = true;
            failed(batch.size(), ENOTCONN);
            for (const kdp::Io& io : batch) {
                places_[io.tag].busy = false;
                in_flight_--;
            }
        }
    }

    void collect()
    {
        kdp::Completion out[16];
        if (!in_flight_)
            return;
        auto got = path_.wait(out, wait_ms);
        if (!got && got.error().code == ETIMEDOUT) {
            totals_.late++;
            if (std::chrono::steady_clock::now() - last_ > patience)
                die("nothing is done any more: " + got.error().text);
            return;
        }
        if (!got)
            die("wait: " + got.error().text);
        if (got.value() == 0)
            die("nothing in flight, and not all done");
        last_ = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < got.value(); i++)
            over(out[i]);
    }

    void over(const kdp::Completion& done)
    {
        if (done.tag >= places_.size() || !places_[done.tag].busy)
            die("I/O " + std::to_string(done.tag) + " is completed, which is not in flight");
        Place& p = places_[done.tag];
        p.busy = false;
        in_flight_--;
        done_++;
        totals_.ios++;
        if (done.status) {
            failed(1, done.status);
            p.unknown = p.unknown || p.writing;
            return;
        }
        (p.writing ? totals_.writes : totals_.reads)++;
        if (p.writing) {
            p.generation++;
            p.unknown = false;
            return;
        }
        const std::uint64_t* words = reinterpret_cast<const std::uint64_t*>(data(done.tag).data());
        for (std::size_t i = 0; i < o_.bytes / 8; i++)
            if (words[i] != word(name(done.tag), p.generation, i))
                die("place " + std::to_string(name(done.tag)) + " differs from write " +
                    std::to_string(p.generation) + " at byte " + std::to_string(8 * i));
    }

    void failed(std::size_t count, int status)
    {
        int none = 0;
        totals_.errors += count;
        totals_.first_error.compare_exchange_strong(none, status);
    }

    const Options& o_;
    unsigned number_;
    kdp::DataPath& path_;
    Totals& totals_;
    std::minstd_rand random_;
    std::vector<Place> places_;
    std::uint64_t blocks_;
    kdp::Buffer memory_;
    std::size_t in_flight_ = 0;
    std::uint64_t done_ = 0;
    bool failed_ = false;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Options parse(int argc, char** argv)
{
    static const option options[] = {{"threads", required_argument, nullptr, 't'},
                                     {"depth", required_argument, nullptr, 'd'},
                                     {"bytes", required_argument, nullptr, 'b'},
                                     {"places", required_argument, nullptr, 'p'},
                                     {"ios", required_argument, nullptr, 'i'},
                                     {"until", required_argument, nullptr, 'u'},
                                     {"progress", required_argument, nullptr, 'g'},
                                     {"keep-alive", required_argument, nullptr, 'k'},
                                     {nullptr, 0, nullptr, 0}};
    const auto number = [] { return std::strtoull(optarg, nullptr, 0); };
    Options o;
    for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        switch (c) {
            case 't':
                o.threads = static_cast<unsigned>(number());
                break;
            case 'd':
                o.depth = static_cast<unsigned>(number());
                break;
            case 'b':
                o.bytes = number();
                break;
            case 'p':
                o.places = number();
                break;
            case 'i':
                o.ios = number();
                break;
            case 'u':
                o.until = optarg;
                break;
            case 'g':
                o.progress = optarg;
                break;
            case 'k':
                o.keep_alive_ms = static_cast<std::uint32_t>(number());
                break;
            default:
                std::exit(2);
        }
    }
    if (optind + 1 != argc || o.places < o.depth || o.bytes % 512 || !o.bytes) {
        std::fprintf(stderr,
                     "usage: path_load [OPTIONS] URI; places at least depth, whole blocks\n");
        std::exit(2);
    }
    o.uri = argv[optind];
    return o;
}

/// Watch for the end and tell of the progress, until @p over.
void watch(const Options& o, const Totals& totals, const std::atomic<bool>& over)
{
    while (!over) {
        if (!o.until.empty() && access(o.until.c_str(), F_OK) == 0)
            stop = true;
        if (!o.progress.empty()) {
            std::ofstream(o.progress + ".new") << totals.ios << '\n';
            std::rename((o.progress + ".new").c_str(), o.progress.c_str());
        }
        std::this_thread::sleep_for(50ms);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const Options o = parse(argc, argv);
    kdp::OpenOptions how;
    how.depth = o.depth;
    how.keep_alive_ms = o.keep_alive_ms;

    const auto uri = kdp::parse_uri(o.uri);
    if (!uri)
        die(uri.error().text);
    auto opened = kdp::open_paths(uri.value(), how, o.threads);
    if (!opened)
        die("open " + o.uri + ": " + opened.error().text + " (" +
            strerrorname_np(opened.error().code) + ")");
    auto paths = std::move(opened).value();
    const auto& info = paths.front()->info();
    if (o.bytes % info.block_size || o.bytes > info.max_transfer ||
        o.threads * o.places * (o.bytes / info.block_size) > info.blocks)
        die("it does not fit the namespace");

    Totals totals;
    std::atomic<bool> over{false};
    std::thread watcher([&] { watch(o, totals, over); });
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < o.threads; i++)
        threads.emplace_back([&, i, path = std::move(paths[i])]() mutable {
            Worker(o, i, *path, totals).run();
            path.reset();  // by this thread, whenever it is done
        });
    for (std::thread& thread : threads)
        thread.join();
    over = true;
    watcher.join();

    std::printf(
        "ios %llu writes %llu reads %llu errors %llu%s%s registrations %llu doorbells %llu "
        "completions %llu late %llu\n",
        static_cast<unsigned long long>(totals.ios), static_cast<unsigned long long>(totals.writes),
        static_cast<unsigned long long>(totals.reads),
        static_cast<unsigned long long>(totals.errors), totals.errors ? " " : "",
        totals.errors ? strerrorname_np(totals.first_error) : "",
        static_cast<unsigned long long>(totals.registrations),
        static_cast<unsigned long long>(totals.doorbells),
        static_cast<unsigned long long>(totals.completions),
        static_cast<unsigned long long>(totals.late));
    return totals.errors ? 3 : 0;
}
