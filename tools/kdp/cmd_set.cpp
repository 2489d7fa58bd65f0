// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp set: change a controller while it works.

#include <memory>

#include <fmt/format.h>

#include <kdp/control.hpp>

#include "command.hpp"
#include "mode_options.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "set";

struct Options {
    std::string name;
    std::string cq_mode;
    control::Settings settings;
};

int set(Options& options)
{
    const auto instance = control::instance_of_name(options.name);
    if (!instance)
        return report_usage(self, fmt::format("\"{}\" is not of the form kdpN", options.name));
    if (!options.cq_mode.empty())
        options.settings.cq_mode = control::cq_mode_of_name(options.cq_mode);
    if (!options.settings.cq_mode && !options.settings.spin_us)
        return report_usage(self, "what? Give --cq-mode or --spin-us");
    if (const Status done = control::set(*instance, options.settings); !done)
        return report(self, options.name, done.error());
    return exit_ok;
}

}  // namespace

void add_set(CLI::App& app, Run& run)
{
    auto options = std::make_shared<Options>();
    CLI::App* sub =
        app.add_subcommand("set", "Change who takes a controller's completions, while it works");
    sub->add_option("controller", options->name, "Controller: kdp0, /dev/kdp1 ...")
        ->type_name("NAME")
        ->required();
    add_mode_options(*sub, options->cq_mode, options->settings.spin_us, "as it is", "as it is");
    sub->callback([options, &run] { run = [options] { return set(*options); }; });
}

}  // namespace kdp::tool
