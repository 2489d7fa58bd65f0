// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp monitor: print what happens to controllers, as it happens.

#include <cerrno>
#include <chrono>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kdp/control.hpp>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "json_text.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "monitor";

struct Options {
    bool json = false;
    std::uint32_t count = 0;
};

double seconds_since_epoch()
{
    using namespace std::chrono;
    return duration<double>(system_clock::now().time_since_epoch()).count();
}

void print_text(const control::Event& event)
{
    const auto now =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    fmt::print("{:%H:%M:%S} {} {}", now, event.controller, control::state_name(event.state));
    const bool lost = event.state == KDP_STATE_RESETTING || event.state == KDP_STATE_FAILED;
    if (lost && !event.reason.empty())
        fmt::print(": {}", event.reason);
    fmt::print("\n");
}

/// One object a line.
void print_json(const control::Event& event)
{
    const nlohmann::ordered_json json = {{"time_s", seconds_since_epoch()},
                                         {"controller", event.controller},
                                         {"instance", event.instance},
                                         {"state", control::state_name(event.state)},
                                         {"subsystem_nqn", event.subsystem_nqn},
                                         {"reconnects", event.reconnects},
                                         {"reason", event.reason}};
    fmt::print("{}\n", json_line(json));
}

int monitor(const Options& options)
{
    auto events = control::Monitor::open();
    if (!events)
        return report(self, "", events.error());
    // whoever starts this in the background can wait for the line before he goes on
    fmt::print(options.json ? stderr : stdout, "listening\n");
    std::fflush(stdout);
    for (std::uint32_t seen = 0; options.count == 0 || seen < options.count; seen++) {
        const auto event = events->next();
        if (!event && event.error().code == ENOBUFS) {
            (void)report(self, "", event.error());
            continue;
        }
        if (!event)
            return report(self, "", event.error());
        if (options.json)
            print_json(event.value());
        else
            print_text(event.value());
        std::fflush(stdout);
    }
    return exit_ok;
}

}  // namespace

void add_monitor(CLI::App& app, Run& run)
{
    auto options = std::make_shared<Options>();
    CLI::App* sub =
        app.add_subcommand("monitor", "Print the controllers' changes of state, as they happen");
    sub->add_flag("--json", options->json, "One JSON object a line, see kdp-monitor(8)");
    sub->add_option("-c,--count", options->count, "End after so many changes; default: never")
        ->check(CLI::PositiveNumber);
    sub->callback([options, &run] { run = [options] { return monitor(*options); }; });
}

}  // namespace kdp::tool
