// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp: one tool, a subcommand a task.

#include <string>

#include <kdp/version.hpp>

#include "command.hpp"
#include "report.hpp"

int main(int argc, char** argv)
{
    using namespace kdp::tool;

    CLI::App app{
        "Block I/O to a remote NVMe namespace over RDMA: connect the kernel module to\n"
        "targets, measure the data paths side by side, copy files to namespaces and back.",
        "kdp"};
    app.set_version_flag("--version", std::string(kdp::version()));
    app.require_subcommand(1);
    app.footer(
        "Exit status: 0, 1 when the operation failed, 2 for a wrong command line.\n"
        "Each subcommand has a manual page: man kdp-connect, kdp-list, ...");

    Run run;
    add_connect(app, run);
    add_disconnect(app, run);
    add_list(app, run);
    add_reset(app, run);
    add_set(app, run);
    add_rescan(app, run);
    add_stats(app, run);
    add_monitor(app, run);
    add_bench(app, run);
    add_advise(app, run);
    add_report(app, run);
    add_copy(app, run);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0)
            return app.exit(error);  // --help, --version
        const auto chosen = app.get_subcommands();
        return report_usage(chosen.empty() ? "" : chosen.front()->get_name(), error.what());
    }
    return run();
}
