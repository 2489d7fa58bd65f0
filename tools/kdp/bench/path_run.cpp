// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/path_run.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <filesystem>

#include <fmt/format.h>

#include "bench/clock.hpp"
#include "bench/cost.hpp"
#include "bench/system_calls.hpp"
#include "bench/verify.hpp"
#include "units.hpp"

namespace kdp::tool::bench {
namespace {

constexpr std::uint32_t fill_bytes = 128 * 1024;  // an I/O of the filling at most

// enough for a mean, and an end for slow paths; of each thread
constexpr std::uint64_t counted_ios = 200;
constexpr std::uint64_t counted_ns = 500'000'000;
constexpr std::uint64_t profiled_ns = 1'000'000'000;  // some thousand samples

Error does_not_fit(std::string sentence)
{
    return Error{EINVAL, std::move(sentence)};
}

/// The share of @p thread in @p ios, so that all shares together are all.
std::uint64_t share(std::uint64_t ios, unsigned thread, unsigned threads)
{
    return ios / threads + (thread < ios % threads ? 1 : 0);
}

std::uint64_t ios_of(const std::vector<LoopResult>& results)
{
    std::uint64_t ios = 0;
    for (const LoopResult& result : results)
        ios += result.ios();
    return ios;
}

/// The first error; EILSEQ before others, since a thread that was only told to stop, or lost the
/// path at the same time, knows less.
Status first_error(const std::vector<LoopResult>& results)
{
    const LoopResult* first = nullptr;
    for (const LoopResult& result : results)
        if (!result.status && (!first || (result.status.error().code == EILSEQ &&
                                          first->status.error().code != EILSEQ)))
            first = &result;
    return first ? first->status : ok();
}

}  // namespace

Result<std::vector<std::unique_ptr<DataPath>>> open_library_paths(const PathUri& uri,
                                                                  const OpenOptions& options,
                                                                  unsigned count)
{
    return open_paths(uri, options, count);
}

std::string label_of(const PathUri& uri)
{
    if (uri.device.empty())  // verbs:, tcp:
        return fmt::format("{}:{}", scheme_name(uri.scheme), uri.host);
    return fmt::format("{}:{}", scheme_name(uri.scheme),
                       std::filesystem::path(uri.device).filename().string());
}

Status check_fits(const NamespaceInfo& info, const Shape& shape)
{
    if (shape.block_bytes % info.block_size != 0)
        return does_not_fit(fmt::format("--bs {} is no multiple of its block size, {}",
                                        shape.block_bytes, info.block_size));
    if (shape.block_bytes > info.max_transfer)
        return does_not_fit(fmt::format("--bs {} is more than it takes in one I/O, {}",
                                        shape.block_bytes, info.max_transfer));
    if (info.blocks / (shape.block_bytes / info.block_size) / shape.threads < shape.depth)
        return does_not_fit(fmt::format("{} of data are fewer than --depth times --bs{}",
                                        format_bytes(info.blocks * info.block_size),
                                        shape.threads > 1 ? " times --threads" : ""));
    return ok();
}

PathRun::PathRun(const Options& options, const Shape& shape, const PathUri& uri, Paths paths,
                 std::vector<Buffer> buffers)
    : options_(&options),
      shape_(shape),
      transport_(profile::transport_of(uri)),
      buffers_(std::move(buffers)),
      paths_(std::move(paths)),
      team_(std::make_unique<Team>(shape.threads, options.cpus)),
      fabric_(FabricMeter::of(uri)),
      blocks_an_io_(shape.block_bytes / info().block_size),
      places_(std::min(options.region_bytes / shape.block_bytes, info().blocks / blocks_an_io_) /
              shape.threads)
{
    for (std::size_t i = 0; i < paths_.size(); i++)
        loops_.push_back(std::make_unique<IoLoop>(*paths_[i], buffers_[i].memory(), shape.depth));
}

Result<PathRun> PathRun::open(const PathUri& uri, const Shape& shape, const Options& options,
                              const Opener& opener)
{
    OpenOptions how;
    how.depth = shape.depth;
    how.read_only = !shape.writes() && !options.verify;
    auto paths = opener(uri, how, shape.threads);
    if (!paths)
        return paths.error();
    if (const Status fits = check_fits((*paths).front()->info(), shape); !fits)
        return fits.error();

    const std::size_t largest =
        std::max(shape.block_bytes, options.verify ? fill_bytes : std::uint32_t{0});
    std::vector<Buffer> buffers;
    for (const auto& path : *paths) {
        auto buffer = Buffer::allocate(largest * shape.depth);
        if (!buffer)
            return buffer.error();
        // Zeroes might be treated differently from data on the way.
        Pattern(512, options.seed).fill(buffer->memory(), 0);
        if (const Status status = path->register_buffer(buffer->memory()); !status)
            return status.error();
        buffers.push_back(std::move(buffer).value());
    }
    return PathRun(options, shape, uri, std::move(paths).value(), std::move(buffers));
}

/// Each thread its goal, or nothing if that has no plan. The first that fails stops the others.
PathRun::Results PathRun::run_all(Goals goals, const Team::Moment& before,
                                  const Team::Moment& after)
{
    std::atomic<bool> stop = false;
    Results results(goals.size());
    team_->run(
        [&](unsigned i) {
            if (!goals[i].plan)
                return;
            goals[i].stop = &stop;
            results[i] = loops_[i]->run(goals[i]);
            if (!results[i].status)
                stop.store(true, std::memory_order_relaxed);
        },
        before, after);
    return results;
}

PathRun::Goals PathRun::goals_of(const Plans& plans) const
{
    Goals goals(plans.size());
    for (std::size_t i = 0; i < goals.size(); i++) {
        goals[i].plan = plans[i].get();
        goals[i].bytes = shape_.block_bytes;
        goals[i].pattern_block = options_->verify ? info().block_size : 0;
    }
    return goals;
}

Status PathRun::fill()
{
    return fill_with(options_->seed);
}

Status PathRun::fill_with(std::uint64_t seed)
{
    // As large as the path takes; the rest of each slice by I/Os of the run's own size.
    std::uint32_t bytes = shape_.block_bytes;
    while (bytes * 2 <= fill_bytes && bytes * 2 <= info().max_transfer)
        bytes *= 2;
    const std::uint64_t slice_bytes = places_ * shape_.block_bytes;
    const std::uint64_t whole = slice_bytes / bytes;
    const std::uint64_t rest = slice_bytes % bytes / shape_.block_bytes;
    std::uint64_t done = 0;  // blocks of each slice
    for (const auto& [size, count] :
         {std::pair{bytes, whole}, std::pair{shape_.block_bytes, rest}}) {
        if (count == 0)
            continue;
        const std::uint64_t step = size / info().block_size;
        std::deque<InOrder> plans;
        Goals goals(shape_.threads);
        for (unsigned i = 0; i < shape_.threads; i++) {
            const Slice slice = slice_of(i, places_, blocks_an_io_);
            goals[i].plan = &plans.emplace_back(Op::write, slice.first_lba + done, step, seed);
            goals[i].bytes = size;
            goals[i].ios = count;
            goals[i].pattern_block = info().block_size;
        }
        if (const Status status = first_error(run_all(std::move(goals))); !status)
            return status;
        done += count * step;
    }
    return ok();
}

/// Read every place that was written. Adds how many blocks it checked to the turn's.
Status PathRun::read_back(const Plans& plans, Turn& turn)
{
    std::deque<ReadBack> back;
    Goals goals = goals_of(plans);
    for (std::size_t i = 0; i < plans.size(); i++) {
        goals[i].ios = plans[i]->written();
        goals[i].plan = goals[i].ios != 0 ? &back.emplace_back(*plans[i]) : nullptr;
    }
    const Results results = run_all(std::move(goals));
    turn.verified_blocks += ios_of(results) * blocks_an_io_;
    return first_error(results);
}

Status PathRun::warm_up(Goals goals)
{
    if (options_->warmup_ios == 0)
        return ok();
    const auto threads = static_cast<unsigned>(goals.size());
    for (Goal& goal : goals)
        goal.ios = (options_->warmup_ios + threads - 1) / threads;
    return first_error(run_all(std::move(goals)));
}

void PathRun::measure(Goals goals, TurnOutcome& outcome)
{
    const auto threads = static_cast<unsigned>(goals.size());
    for (unsigned i = 0; i < threads; i++) {
        if (options_->ios != 0)
            goals[i].ios = share(options_->ios, i, threads);
        else
            goals[i].runtime_ns = static_cast<std::uint64_t>(options_->runtime_s * 1e9);
    }
    std::optional<FabricCounters> fabric_begin, fabric_end;
    CostSample begin, end;
    const Results results = run_all(
        std::move(goals),
        [&] {
            fabric_begin = fabric_.read(paths_);
            begin = cost_so_far();
        },
        [&] {
            end = cost_so_far();
            fabric_end = fabric_.read(paths_);
        });

    Turn& turn = outcome.turn;
    outcome.status = first_error(results);
    std::uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (const LoopResult& result : results) {
        outcome.reads.merge(result.reads);
        outcome.writes.merge(result.writes);
        begin_ns = std::min(begin_ns, result.begin_ns);
        end_ns = std::max(end_ns, result.end_ns);
        turn.interrupted = turn.interrupted || result.interrupted || !result.status;
    }
    turn.ios = ios_of(results);
    turn.bytes = turn.ios * shape_.block_bytes;
    turn.elapsed_ns = end_ns - begin_ns;
    Histogram all = outcome.reads;
    all.merge(outcome.writes);
    turn.latency = Latencies::of(all);
    if (shape_.mixed()) {
        if (outcome.reads.count() > 0)
            turn.read_latency = Latencies::of(outcome.reads);
        if (outcome.writes.count() > 0)
            turn.write_latency = Latencies::of(outcome.writes);
    }
    turn.cost = cost_between(begin, end);
    if (fabric_begin && fabric_end)
        turn.fabric = *fabric_end - *fabric_begin;
    if (options_->verify)
        turn.verified_blocks = outcome.reads.count() * blocks_an_io_;
}

Status PathRun::count_system_calls(Goals goals, Turn& turn)
{
    if (turn.ios == 0 || turn.interrupted)
        return ok();
    const auto counter = SystemCallCounter::start();
    if (!counter)
        return ok();  // the run's report says why
    const auto threads = static_cast<unsigned>(goals.size());
    const std::uint64_t ios = std::min(turn.ios, counted_ios * threads);
    for (unsigned i = 0; i < threads; i++) {
        goals[i].ios = std::max<std::uint64_t>(share(ios, i, threads), 1);
        goals[i].runtime_ns = counted_ns;
    }
    std::optional<std::uint64_t> before, after;
    const auto count = [&]() -> std::optional<std::uint64_t> {
        const auto calls = counter.value().count();
        return calls ? std::optional(calls.value()) : std::nullopt;
    };
    const Results results = run_all(
        std::move(goals), [&] { before = count(); }, [&] { after = count(); });
    if (const Status status = first_error(results); !status)
        return status;
    turn.counted_ios = ios_of(results);
    if (before && after && turn.counted_ios > 0)
        turn.system_calls = *after - *before;
    return ok();
}

/// By time, since samples come by time; where few I/Os were asked for, they take a second at most.
Status PathRun::profile_some(Goals goals, Turn& turn, profile::Profiler& profiler)
{
    if (turn.ios == 0 || turn.interrupted)
        return ok();
    for (Goal& goal : goals)
        goal.runtime_ns = profiled_ns;
    Status started = ok();
    std::uint64_t begin_ns = 0;
    Status stopped = ok();
    const Results results = run_all(
        std::move(goals),
        [&] {
            begin_ns = now_ns();
            started = profiler.start();
        },
        [&] { stopped = profiler.stop(); });
    if (!started)
        return started;
    if (!stopped)
        return stopped;
    if (const Status status = first_error(results); !status)
        return status;
    std::uint64_t end_ns = begin_ns;
    for (const LoopResult& result : results)
        end_ns = std::max(end_ns, result.end_ns);
    auto breakdown =
        profiler.classify({ios_of(results), end_ns - begin_ns, transport_, info().provider});
    if (!breakdown)
        return breakdown.error();
    if (breakdown->ios > 0 && breakdown->samples > 0)
        turn.breakdown = *breakdown;
    return ok();
}

TurnOutcome PathRun::take_turn(unsigned round, std::uint32_t pass, LatencyLog* log,
                               profile::Profiler* profiler)
{
    TurnOutcome outcome;
    outcome.turn.round = round;
    // Reads look for what fill() wrote; what writes carry is new in each turn, so that what an
    // earlier turn left behind cannot pass for this one's.
    const bool books = options_->verify && shape_.writes();
    const std::uint64_t seed = options_->seed + (books ? std::uint64_t{pass} << 32 : 0);
    if (books && shape_.reads()) {
        outcome.status = fill_with(seed);
        if (!outcome.status)
            return outcome;
    }
    Plans plans;
    for (unsigned i = 0; i < shape_.threads; i++) {
        // the same places for every path of a round
        const std::uint64_t order = mix64(options_->seed + (std::uint64_t{i} << 32)) + round;
        plans.push_back(std::make_unique<ShapedPlan>(slice_of(i, places_, blocks_an_io_), shape_,
                                                     order, seed, books));
    }
    std::vector<LogRecords> records(log ? plans.size() : 0);
    const Goals goals = goals_of(plans);

    outcome.status = warm_up(goals);
    if (!outcome.status)
        return outcome;
    Goals measured = goals;
    for (std::size_t i = 0; i < records.size(); i++)
        measured[i].log = &records[i];
    measure(std::move(measured), outcome);
    for (unsigned i = 0; i < records.size(); i++)
        log->append(round, i, records[i]);
    if (outcome.status)
        outcome.status = count_system_calls(goals, outcome.turn);
    if (outcome.status && profiler)
        outcome.status = profile_some(goals, outcome.turn, *profiler);
    if (outcome.status && books)
        outcome.status = read_back(plans, outcome.turn);
    return outcome;
}

}  // namespace kdp::tool::bench
