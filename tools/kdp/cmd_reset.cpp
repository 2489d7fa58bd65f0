// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp reset: make a controller's connection anew.

#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include <kdp/control.hpp>

#include "command.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "reset";
constexpr std::chrono::milliseconds look_again{20};

struct Options {
    std::vector<std::string> names;
    bool no_wait = false;
};

/// Until the controller is live again or has been given up.
int wait_for(std::uint32_t instance, const std::string& name)
{
    for (;;) {
        auto controller = control::get(instance);
        if (!controller)
            return report(self, name, controller.error());
        if (controller->state == KDP_STATE_LIVE)
            return exit_ok;
        if (control::is_settled(controller->state))
            return report(
                self, name,
                Error{ENOTCONN, fmt::format("no connection within {} s, given up; the kernel's log "
                                            "has the reason of each attempt",
                                            controller->ctrl_loss_tmo)});
        std::this_thread::sleep_for(look_again);
    }
}

int reset(const Options& options)
{
    int status = exit_ok;
    for (const std::string& name : options.names) {
        const auto instance = control::instance_of_name(name);
        if (!instance)
            return report_usage(self, fmt::format("\"{}\" is not of the form kdpN", name));
        if (const Status begun = control::reset(*instance); !begun)
            status = report(self, name, begun.error());
        else if (!options.no_wait && wait_for(*instance, name) != exit_ok)
            status = exit_failed;
    }
    return status;
}

}  // namespace

void add_reset(CLI::App& app, Run& run)
{
    auto options = std::make_shared<Options>();
    CLI::App* sub = app.add_subcommand(
        "reset", "Make controllers' connections anew; block I/O waits meanwhile");
    sub->add_option("names", options->names, "Controllers: kdp0, /dev/kdp1 ...")
        ->type_name("NAME")
        ->required();
    sub->add_flag("--no-wait", options->no_wait,
                  "Return at once, not when the controllers are live again or given up");
    sub->callback([options, &run] { run = [options] { return reset(*options); }; });
}

}  // namespace kdp::tool
