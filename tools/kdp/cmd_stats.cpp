// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp stats: what each queue did, and what it cost per command.

#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include <kdp/control.hpp>

#include "command.hpp"
#include "json_text.hpp"
#include "queue_stats.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

struct Options {
    std::string name;  ///< empty: all controllers
    bool json = false;
    double watch_seconds = 0;
};

void print(const std::vector<control::Queue>& queues, bool json)
{
    if (json)
        fmt::print("{}\n", json_text(queues_to_json(queues)));
    else if (!queues.empty())
        fmt::print("{}", queues_to_table(queues));
    std::fflush(stdout);
}

int stats(const Options& options)
{
    std::optional<std::uint32_t> instance;
    if (!options.name.empty()) {
        instance = control::instance_of_name(options.name);
        if (!instance)
            return report_usage("stats",
                                fmt::format("\"{}\" is not of the form kdpN", options.name));
    }
    auto before = control::queues(instance);
    if (!before)
        return report("stats", options.name, before.error());
    if (options.watch_seconds <= 0) {
        print(*before, options.json);
        return exit_ok;
    }
    for (;;) {
        std::this_thread::sleep_for(std::chrono::duration<double>(options.watch_seconds));
        auto now = control::queues(instance);
        if (!now)
            return report("stats", options.name, now.error());
        print(queue_differences(*before, *now), options.json);
        before = std::move(now);
    }
}

}  // namespace

void add_stats(CLI::App& app, Run& run)
{
    auto options = std::make_shared<Options>();
    CLI::App* sub = app.add_subcommand(
        "stats", "What each queue did since the connect, and what it cost per command");
    sub->add_option("controller", options->name, "One controller, for example kdp0; default: all");
    sub->add_flag("--json", options->json, "JSON with every counter, see kdp-stats(8)");
    sub->add_option("--watch", options->watch_seconds,
                    "Every so many seconds what was added meanwhile, until interrupted")
        ->check(CLI::Range(0.1, 86400.0));
    sub->callback([options, &run] { run = [options] { return stats(*options); }; });
}

}  // namespace kdp::tool
