// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp disconnect: shut controllers down in order.

#include <memory>

#include <fmt/format.h>

#include <kdp/control.hpp>

#include "command.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "disconnect";

struct Options {
    std::vector<std::string> names;
    std::string nqn;
    bool all = false;
};

struct Victim {
    std::uint32_t instance;
    std::string name;
};

int disconnect(const Options& options)
{
    if (options.names.empty() && options.nqn.empty() && !options.all)
        return report_usage(self, "which one? Give names, --nqn or --all");

    std::vector<Victim> victims;
    for (const std::string& name : options.names) {
        const auto instance = control::instance_of_name(name);
        if (!instance)
            return report_usage(self, fmt::format("\"{}\" is not of the form kdpN", name));
        victims.push_back({*instance, name});
    }
    if (options.all || !options.nqn.empty()) {
        const auto controllers = control::list();
        if (!controllers)
            return report(self, "", controllers.error());
        for (const auto& controller : controllers.value())
            if (options.all || controller.subsystem_nqn == options.nqn)
                victims.push_back({controller.instance, controller.name});
        if (victims.empty() && !options.all)
            return report(self, options.nqn, Error{ENODEV, "not connected to that subsystem"});
    }

    int status = exit_ok;
    for (const Victim& victim : victims)
        if (const Status gone = control::disconnect(victim.instance); !gone)
            status = report(self, victim.name, gone.error());
    return status;
}

}  // namespace

void add_disconnect(CLI::App& app, Run& run)
{
    auto options = std::make_shared<Options>();
    CLI::App* sub =
        app.add_subcommand("disconnect", "Disconnect controllers; I/O in flight finishes first");
    auto* names = sub->add_option("names", options->names, "Controllers: kdp0, /dev/kdp1 ...")
                      ->type_name("NAME");
    auto* nqn = sub->add_option("-n,--nqn", options->nqn, "All controllers of this subsystem")
                    ->excludes(names);
    sub->add_flag("--all", options->all,
                  "All controllers of this network namespace; none is no error")
        ->excludes(names)
        ->excludes(nqn);
    sub->callback([options, &run] { run = [options] { return disconnect(*options); }; });
}

}  // namespace kdp::tool
