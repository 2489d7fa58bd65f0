// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp_peer: an NVMe over Fabrics target on RDMA, in user space, that does as its script
// says: honest without one, wrong at chosen moments with one. For tests.
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <sys/signalfd.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "handler.hpp"
#include "listener.hpp"

namespace {

using namespace kdp::peer;

constexpr int exit_failed = 1, exit_usage = 2, exit_never_played = 3;

struct Options {
    std::string address = "0.0.0.0";
    std::string port = "4420";
    std::string nqn;
    std::string file, text;
    bool json = false, trace = false, check = false;
};

void add_options(CLI::App& app, Options& options)
{
    app.add_option("-a,--address", options.address, "Numeric address to listen at")
        ->capture_default_str();
    app.add_option("-s,--port", options.port, "Port; 0: any, see the event `listening`")
        ->capture_default_str();
    app.add_option("-n,--nqn", options.nqn, "Name of the subsystem; any name if not given");
    app.add_option("SCRIPT", options.file, "File with a script")->check(CLI::ExistingFile);
    app.add_option("-e,--script", options.text, "The script itself")->excludes("SCRIPT");
    app.add_flag("--json", options.json, "Events as JSON objects, one a line");
    app.add_flag("--trace", options.trace, "An event for every command");
    app.add_flag("--check", options.check, "Only parse the script");
    app.footer(
        "Ends by SIGTERM or SIGINT. Exit status: 0; 1 when it cannot run; 2 for a wrong\n"
        "command line or script; 3 when a rule of the script was never played.\n\n" +
        language_help());
}

Script load(const Options& options)
{
    if (options.file.empty())
        return parse_script(options.text, "script");
    std::ifstream file(options.file);
    std::ostringstream text;
    text << file.rdbuf();
    return parse_script(text.str(), options.file);
}

int signal_fd()
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

int serve(const Options& options, Script script)
{
    Loop loop;
    Journal journal(options.json);
    Rules rules(std::move(script.rules), journal);
    Subsystem subsystem(script.config, options.nqn);
    Handler handler(loop, journal, rules, subsystem, options.trace);
    {
        Listener listener(loop, journal, rules, handler, script.config);
        const int fd = signal_fd();
        loop.watch(fd, [&loop] { loop.stop(); });
        listener.listen(options.address, options.port);
        loop.run();
        close(fd);
    }
    return rules.all_played() ? 0 : exit_never_played;
}

}  // namespace

int main(int argc, char** argv)
{
    CLI::App app{"An NVMe over Fabrics target on RDMA that breaks the rules by a script.",
                 "kdp_peer"};
    Options options;

    add_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) ? exit_usage : 0;
    }
    try {
        Script script = load(options);
        return options.check ? 0 : serve(options, std::move(script));
    } catch (const ScriptError& error) {
        fmt::print(stderr, "kdp_peer: {}\n", error.what());
        return exit_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "kdp_peer: {}\n", error.what());
        return exit_failed;
    }
}
