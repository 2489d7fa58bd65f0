// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/runner.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "bench/clock.hpp"
#include "bench/system_calls.hpp"
#include "bench/verify.hpp"
#include "guard.hpp"
#include "interrupt.hpp"

namespace kdp::tool::bench {
namespace {

/// One of the paths, over all points.
struct Contender {
    PathUri uri;
    std::uint64_t filled_bytes = 0;  ///< of the region, with the pattern that reads look for
    std::optional<Failure> failure;  ///< it takes no part any more
    std::unique_ptr<PathRun> run;    ///< at the current point
};

double check_cost_ns(const Options& options)
{
    constexpr int rounds = 64;
    std::vector<std::byte> data(options.largest_block());
    const Pattern pattern(512, options.seed);
    pattern.fill(data, 0);
    (void)pattern.check(data, 0);
    const std::uint64_t begin = now_ns();
    bool held = true;
    for (int i = 0; i < rounds; i++)
        held = !pattern.check(data, 0) && held;
    return held ? static_cast<double>(now_ns() - begin) / rounds : 0;
}

/// "about 40 s left", from how long the turns before took.
class Remaining {
public:
    explicit Remaining(std::size_t turns) : turns_(turns), begin_ns_(now_ns()) {}

    void turn_done() { done_++; }
    [[nodiscard]] std::string to_string() const
    {
        if (done_ == 0)
            return "";
        const double each = static_cast<double>(now_ns() - begin_ns_) / static_cast<double>(done_);
        const double seconds = each * static_cast<double>(turns_ - done_) / 1e9;
        if (seconds < 90)
            return fmt::format(", about {:.0f} s left", seconds);
        return fmt::format(", about {:.0f} min left", seconds / 60);
    }

private:
    std::size_t turns_;
    std::size_t done_ = 0;
    std::uint64_t begin_ns_;
};

class Runner {
public:
    Runner(const Options& options, const Surroundings& around)
        : options_(options),
          around_(around),
          shapes_(points(options)),
          remaining_(shapes_.size() * options.rounds * options.uris.size())
    {
    }

    RunReport run();

private:
    [[nodiscard]] Status try_path(const std::string& uri);
    void open_profiler();
    void measure_point(std::size_t index);
    void open_all(PointReport& point);
    void fill_all(PointReport& point);
    void take_turns(std::size_t index, unsigned round, PointReport& point);
    void fail(PathResult& result, const Error& error);

    const Options& options_;
    const Surroundings& around_;
    std::vector<Shape> shapes_;
    Remaining remaining_;
    std::vector<Contender> contenders_;
    RunReport report_;
    std::optional<profile::Profiler> profiler_;
    std::uint32_t pass_ = 0;  // of turns, from 1
    bool corrupted_ = false;
};

/// Open it once as the run will need it at most.
Status Runner::try_path(const std::string& text)
{
    auto uri = parse_uri(text);
    if (!uri)
        return uri.error();
    if (options_.writes())
        if (const Status allowed = check_writable(uri.value()); !allowed)
            return allowed;
    OpenOptions how;
    how.depth = options_.largest_depth();
    how.read_only = !options_.writes();
    const auto paths = around_.opener(uri.value(), how, options_.threads);
    if (!paths)
        return paths.error();
    const NamespaceInfo& info = paths.value().front()->info();
    for (const Shape& shape : shapes_)
        if (const Status fits = check_fits(info, shape); !fits)
            return fits;
    report_.paths.push_back({text, label_of(uri.value()), info});
    contenders_.push_back({std::move(uri).value(), 0, {}, {}});
    return ok();
}

void Runner::fail(PathResult& result, const Error& error)
{
    result.failure = Failure{report_.paths[result.path].uri, error};
    contenders_[result.path].failure = result.failure;
    contenders_[result.path].run.reset();
    corrupted_ = corrupted_ || error.code == EILSEQ;
    if (!report_.failure)
        report_.failure = result.failure;
}

void Runner::open_all(PointReport& point)
{
    for (PathResult& result : point.results) {
        Contender& contender = contenders_[result.path];
        if (contender.failure) {
            result.failure = contender.failure;
            continue;
        }
        auto run = PathRun::open(contender.uri, point.shape, options_, around_.opener);
        if (!run) {
            fail(result, run.error());
            continue;
        }
        contender.run = std::make_unique<PathRun>(std::move(run).value());
        report_.region_bytes = std::max(report_.region_bytes, contender.run->region_bytes());
    }
}

/// What only reads finds what was written before: here, if that is not so yet.
void Runner::fill_all(PointReport& point)
{
    for (PathResult& result : point.results) {
        Contender& contender = contenders_[result.path];
        if (!contender.run || interrupted())
            continue;
        if (point.shape.writes()) {
            contender.filled_bytes = 0;
        } else if (contender.filled_bytes < contender.run->region_bytes()) {
            around_.progress(fmt::format("filling through {}", report_.paths[result.path].label));
            const std::uint64_t bytes = contender.run->region_bytes();
            if (const Status filled = contender.run->fill(); !filled)
                fail(result, filled.error());
            else
                contender.filled_bytes = bytes;
        }
    }
}

void Runner::take_turns(std::size_t index, unsigned round, PointReport& point)
{
    for (std::size_t turn = 0; turn < point.results.size(); turn++) {
        PathResult& result = point.results[round % 2 == 1 ? turn : point.results.size() - 1 - turn];
        Contender& contender = contenders_[result.path];
        if (interrupted() || corrupted_)
            return;
        if (contender.run) {
            const std::string where = shapes_.size() > 1
                                          ? fmt::format("point {} of {} ({}), ", index + 1,
                                                        shapes_.size(), describe(point.shape))
                                          : "";
            around_.progress(fmt::format("{}round {} of {}: {}{}", where, round, options_.rounds,
                                         report_.paths[result.path].label, remaining_.to_string()));
            if (around_.log)
                around_.log->at(index, result.path);
            TurnOutcome outcome = contender.run->take_turn(round, ++pass_, around_.log,
                                                           profiler_ ? &*profiler_ : nullptr);
            if (outcome.turn.ios > 0) {
                result.turns.push_back(outcome.turn);
                result.reads.merge(outcome.reads);
                result.writes.merge(outcome.writes);
            }
            if (!outcome.status)
                fail(result, outcome.status.error());
        }
        remaining_.turn_done();
    }
}

/// When the paths' modules are there, whose functions it looks up.
void Runner::open_profiler()
{
    auto profiler = profile::Profiler::open();
    if (profiler)
        profiler_.emplace(std::move(profiler).value());
    else
        report_.why_no_profile = profiler.error().text;
}

void Runner::measure_point(std::size_t index)
{
    PointReport& point = report_.points.emplace_back();
    point.shape = shapes_[index];
    for (std::size_t path = 0; path < contenders_.size(); path++)
        point.results.emplace_back().path = path;
    open_all(point);
    if (options_.verify)
        fill_all(point);
    for (unsigned round = 1; round <= options_.rounds; round++)
        take_turns(index, round, point);
    for (Contender& contender : contenders_)
        contender.run.reset();
}

RunReport Runner::run()
{
    // A team's threads pin themselves; what a path starts for itself may use the whole list.
    const std::vector<int> first(options_.cpus.begin(),
                                 options_.cpus.begin() + (options_.cpus.empty() ? 0 : 1));
    if (const Status pinned = pin_to(options_.threads > 1 ? options_.cpus : first); !pinned) {
        report_.failure = Failure{"", pinned.error()};
        return std::move(report_);
    }
    report_.clock_ns = clock_cost_ns();
    if (options_.verify)
        report_.check_ns = check_cost_ns(options_);
    if (const auto counter = SystemCallCounter::start(); !counter)
        report_.why_no_system_calls = counter.error().text;

    for (const std::string& uri : options_.uris) {
        if (const Status opened = try_path(uri); !opened) {
            report_.failure = Failure{uri, opened.error()};
            return std::move(report_);
        }
    }
    if (options_.profile)
        open_profiler();
    const auto can_go_on = [&] {
        return !interrupted() && !corrupted_ &&
               std::any_of(contenders_.begin(), contenders_.end(),
                           [](const Contender& c) { return !c.failure; });
    };
    for (std::size_t index = 0; index < shapes_.size() && can_go_on(); index++)
        measure_point(index);
    report_.interrupted = interrupted();
    if (profiler_ && around_.stacks)
        *around_.stacks = profiler_->stacks();
    return std::move(report_);
}

}  // namespace

RunReport run(const Options& options, const Surroundings& surroundings)
{
    return Runner(options, surroundings).run();
}

}  // namespace kdp::tool::bench
