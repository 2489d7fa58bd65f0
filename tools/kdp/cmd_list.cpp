// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp list: the controllers of this network namespace and their devices.

#include <memory>

#include <fmt/format.h>

#include <kdp/control.hpp>

#include "command.hpp"
#include "controller_json.hpp"
#include "json_text.hpp"
#include "report.hpp"
#include "text_table.hpp"
#include "units.hpp"

namespace kdp::tool {
namespace {

std::string table_of(const std::vector<control::Controller>& controllers)
{
    TextTable table({{"name"},
                     {"state"},
                     {"address"},
                     {"NQN"},
                     {"RDMA device"},
                     {"queues x depth", Align::right},
                     {"disk"},
                     {"char device"},
                     {"size", Align::right},
                     {"block", Align::right}});
    for (const auto& c : controllers) {
        std::vector<std::string> row = {c.name,
                                        std::string(control::state_name(c.state)),
                                        c.traddr.to_string(),
                                        c.subsystem_nqn,
                                        c.rdma_device,
                                        fmt::format("{} x {}", c.nr_io_queues, c.queue_size)};
        if (c.namespaces.empty())
            row.push_back("(no namespace)");
        for (const auto& ns : c.namespaces) {
            row.resize(6);
            row.insert(row.end(),
                       {"/dev/" + ns.disk, "/dev/" + ns.char_device,
                        format_bytes(ns.blocks * ns.block_size), format_bytes(ns.block_size)});
            table.add_row(std::move(row));
            row.clear();  // further namespaces: below the first, without the controller
        }
        if (!row.empty())
            table.add_row(std::move(row));
    }
    return table.to_string();
}

int list(bool json)
{
    const auto controllers = control::list();
    if (!controllers)
        return report("list", "", controllers.error());
    if (json)
        fmt::print("{}\n", json_text(controllers_to_json(controllers.value())));
    else if (!controllers.value().empty())
        fmt::print("{}", table_of(controllers.value()));
    return exit_ok;
}

}  // namespace

void add_list(CLI::App& app, Run& run)
{
    auto json = std::make_shared<bool>(false);
    CLI::App* sub = app.add_subcommand("list", "List controllers and their devices");
    sub->add_flag("--json", *json, "JSON with every attribute and counter, see kdp-list(8)");
    sub->callback([json, &run] { run = [json] { return list(*json); }; });
}

}  // namespace kdp::tool
