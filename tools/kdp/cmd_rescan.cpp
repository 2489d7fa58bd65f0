// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp rescan: look again which namespaces a target has.

#include <memory>

#include <fmt/format.h>

#include <kdp/control.hpp>

#include "command.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

constexpr std::string_view self = "rescan";

int rescan(const std::vector<std::string>& names)
{
    int status = exit_ok;

    for (const std::string& name : names) {
        const auto instance = control::instance_of_name(name);
        if (!instance)
            return report_usage(self, fmt::format("\"{}\" is not of the form kdpN", name));
        if (const Status done = control::rescan(*instance); !done)
            status = report(self, name, done.error());
    }
    return status;
}

}  // namespace

void add_rescan(CLI::App& app, Run& run)
{
    auto names = std::make_shared<std::vector<std::string>>();
    CLI::App* sub = app.add_subcommand("rescan", "Make the disks what the target lists now");
    sub->add_option("names", *names, "Controllers: kdp0, /dev/kdp1 ...")
        ->type_name("NAME")
        ->required();
    sub->callback([names, &run] { run = [names] { return rescan(*names); }; });
}

}  // namespace kdp::tool
