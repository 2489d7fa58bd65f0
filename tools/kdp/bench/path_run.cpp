// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/path_run.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "bench/addresses.hpp"
#include "bench/cost.hpp"
#include "bench/system_calls.hpp"
#include "units.hpp"

namespace kdp::tool::bench {
namespace {

constexpr std::uint32_t fill_bytes = 128 * 1024;  // an I/O of the filling at most

// enough for a mean, and an end for slow paths
constexpr std::uint64_t counted_ios = 200;
constexpr std::uint64_t counted_ns = 500'000'000;

Error does_not_fit(std::string sentence)
{
    return Error{EINVAL, std::move(sentence)};
}

}  // namespace

PathRun::PathRun(const Options& options, PathUri uri, std::unique_ptr<DataPath> path, Buffer buffer)
    : options_(&options),
      uri_(std::move(uri)),
      buffer_(std::move(buffer)),
      path_(std::move(path)),
      io_(std::make_unique<IoLoop>(*path_, buffer_.memory(), options.depth)),
      fabric_(FabricMeter::of(uri_)),
      io_bytes_(options.block_bytes),
      blocks_an_io_(options.block_bytes / path_->info().block_size),
      places_(std::min(options.region_bytes / io_bytes_, path_->info().blocks / blocks_an_io_))
{
}

Result<PathRun> PathRun::open(const std::string& text, const Options& options)
{
    auto uri = parse_uri(text);
    if (!uri)
        return uri.error();
    OpenOptions how;
    how.depth = options.depth;
    how.read_only = !options.writes();
    auto path = open_path(text, how);
    if (!path)
        return path.error();

    const NamespaceInfo& info = (*path)->info();
    if (options.block_bytes % info.block_size != 0)
        return does_not_fit(fmt::format("--bs {} is no multiple of its block size, {}",
                                        options.block_bytes, info.block_size));
    if (options.block_bytes > info.max_transfer)
        return does_not_fit(fmt::format("--bs {} is more than it takes in one I/O, {}",
                                        options.block_bytes, info.max_transfer));
    if (info.blocks < std::uint64_t{options.block_bytes} / info.block_size * options.depth)
        return does_not_fit(fmt::format("{} of data are fewer than --depth times --bs",
                                        format_bytes(info.blocks * info.block_size)));

    const std::size_t largest =
        std::max(options.block_bytes, options.verify ? fill_bytes : std::uint32_t{0});
    auto buffer = Buffer::allocate(largest * options.depth);
    if (!buffer)
        return buffer.error();
    // Zeroes might be treated differently from data on the way.
    Pattern(512, options.seed).fill(buffer->memory(), 0);
    if (const Status status = (*path)->register_buffer(buffer->memory()); !status)
        return status.error();
    return PathRun(options, std::move(uri).value(), std::move(path).value(),
                   std::move(buffer).value());
}

std::string PathRun::label() const
{
    if (uri_.scheme == Scheme::verbs)
        return fmt::format("verbs:{}", uri_.host);
    return fmt::format("{}:{}", scheme_name(uri_.scheme),
                       std::filesystem::path(uri_.device).filename().string());
}

Status PathRun::fill()
{
    const Pattern pattern(path_->info().block_size, options_->seed);
    // As large as the path takes; the rest of the region by I/Os of the run's own size.
    std::uint32_t bytes = io_bytes_;
    while (bytes * 2 <= fill_bytes && bytes * 2 <= path_->info().max_transfer)
        bytes *= 2;
    const std::uint64_t whole = region_bytes() / bytes;
    const std::uint64_t rest = region_bytes() % bytes / io_bytes_;
    std::uint64_t lba = 0;
    for (const auto& [size, count] : {std::pair{bytes, whole}, std::pair{io_bytes_, rest}}) {
        if (count == 0)
            continue;
        Goal goal;
        goal.op = Op::write;
        goal.bytes = size;
        goal.ios = count;
        goal.pattern = &pattern;
        goal.next = [&lba, step = size / path_->info().block_size] {
            return std::exchange(lba, lba + step);
        };
        if (const auto done = io_->run(goal); !done)
            return done.error();
    }
    return ok();
}

/// Read every place that is marked in @p written. Returns how many blocks it checked.
Result<std::uint64_t> PathRun::read_back(const std::vector<bool>& written, const Pattern& pattern)
{
    auto at = written.begin();
    Goal goal;
    goal.bytes = io_bytes_;
    goal.ios = static_cast<std::uint64_t>(std::count(written.begin(), written.end(), true));
    goal.pattern = &pattern;
    goal.next = [&] {
        at = std::find(at, written.end(), true);
        return static_cast<std::uint64_t>(at++ - written.begin()) * blocks_an_io_;
    };
    if (goal.ios == 0)
        return std::uint64_t{0};
    auto done = io_->run(goal);
    if (!done)
        return done.error();
    return done->ios * blocks_an_io_;
}

Status PathRun::warm_up(const Goal& goal)
{
    if (options_->warmup_ios == 0)
        return ok();
    Goal some = goal;
    some.ios = options_->warmup_ios;
    const auto done = io_->run(some);
    return done ? ok() : Status(done.error());
}

Result<Turn> PathRun::measure(const Goal& goal)
{
    Goal all = goal;
    all.ios = options_->ios;
    if (all.ios == 0)
        all.runtime_ns = static_cast<std::uint64_t>(options_->runtime_s * 1e9);

    const auto fabric_begin = fabric_.read(*path_);
    const CostSample begin = cost_so_far();
    auto done = io_->run(all);
    const CostSample end = cost_so_far();
    const auto fabric_end = fabric_.read(*path_);
    if (!done)
        return done.error();

    Turn turn;
    turn.ios = done->ios;
    turn.bytes = done->ios * io_bytes_;
    turn.elapsed_ns = done->elapsed_ns;
    turn.latency = std::move(done->latency);
    turn.interrupted = done->interrupted;
    turn.cost = cost_between(begin, end);
    if (fabric_begin && fabric_end)
        turn.fabric = *fabric_end - *fabric_begin;
    return turn;
}

Status PathRun::count_system_calls(const Goal& goal, Turn& turn)
{
    if (turn.ios == 0)
        return ok();
    const auto counter = SystemCallCounter::start();
    if (!counter)
        return ok();  // the run's report says why
    Goal some = goal;
    some.ios = std::min(turn.ios, counted_ios);
    some.runtime_ns = counted_ns;
    const auto before = counter.value().count();
    const auto done = io_->run(some);
    const auto after = counter.value().count();
    if (!done)
        return done.error();
    turn.counted_ios = done.value().ios;
    if (before && after && turn.counted_ios > 0)
        turn.system_calls = after.value() - before.value();
    return ok();
}

Result<Turn> PathRun::take_turn(unsigned round, unsigned index)
{
    const bool writing = is_write(options_->workload);
    // Reads look for what fill() wrote; writes carry a seed of their own in each turn, so that
    // what an earlier turn left behind cannot pass for this one's.
    const std::uint64_t pass = writing ? std::uint64_t{round} << 16 | (index + 1) : 0;
    const Pattern pattern(path_->info().block_size, options_->seed + (pass << 32));
    std::vector<bool> written(writing && options_->verify ? places_ : 0);
    // The same places for every path of a round.
    Addresses addresses(places_, is_random(options_->workload), mix64(options_->seed) + round);

    Goal goal;
    goal.op = writing ? Op::write : Op::read;
    goal.bytes = io_bytes_;
    goal.pattern = options_->verify ? &pattern : nullptr;
    goal.next = [&] {
        const std::uint64_t place = addresses.next();
        if (!written.empty())
            written[place] = true;
        return place * blocks_an_io_;
    };

    if (const Status warm = warm_up(goal); !warm)
        return warm.error();
    auto turn = measure(goal);
    if (!turn)
        return turn.error();
    turn->round = round;
    if (const Status counted = count_system_calls(goal, *turn); !counted)
        return counted.error();
    if (options_->verify && !writing)
        turn->verified_blocks = turn->ios * blocks_an_io_;
    if (options_->verify && writing) {
        auto checked = read_back(written, pattern);
        if (!checked)
            return checked.error();
        turn->verified_blocks = checked.value();
    }
    return turn;
}

}  // namespace kdp::tool::bench
