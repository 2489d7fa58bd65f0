// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp connect: bring the namespaces of a subsystem up as local devices.

#include <memory>

#include <fmt/format.h>

#include <nvmf/fabrics.h>
#include <nvmf/rdma.h>
#include <kdp/control.hpp>

#include "command.hpp"
#include "mode_options.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

// devtmpfs makes the nodes at once; udev may rename or relabel them
constexpr int node_timeout_ms = 5000;

struct Options {
    std::string address;
    std::uint16_t port = NVMF_RDMA_PORT;
    std::string nqn;
    std::string host_address;
    std::string host_nqn;
    std::string host_id;
    std::string name;
    std::string cq_mode;
    control::ConnectRequest request;
};

int connect(Options& options)
{
    constexpr std::string_view self = "connect";
    auto& request = options.request;

    if (!options.name.empty()) {
        request.instance = control::instance_of_name(options.name);
        if (!request.instance)
            return report_usage(
                self, fmt::format("--name: \"{}\" is not of the form kdpN", options.name));
    }
    if (options.nqn.empty() || options.nqn.size() > NVMF_NQN_SIZE)
        return report_usage(self, fmt::format("--nqn: a name has 1 to {} bytes", NVMF_NQN_SIZE));

    auto target = resolve(options.address, options.port);
    if (!target)
        return report(self, options.address, target.error());
    request.traddr = *target;
    if (!options.host_address.empty()) {
        auto local = resolve(options.host_address, 0, target->family());
        if (!local)
            return report(self, options.host_address, local.error());
        request.host_traddr = *local;
    }
    auto host = host_identity(options.host_nqn, options.host_id);
    if (!host)
        return report(self, "", host.error());
    request.host = std::move(host).value();
    request.subsystem_nqn = options.nqn;
    if (!options.cq_mode.empty())
        request.cq_mode = control::cq_mode_of_name(options.cq_mode);

    const auto connected = control::connect(request);
    if (!connected)
        return report(self, fmt::format("{} {}", request.traddr.to_string(), options.nqn),
                      connected.error());
    fmt::print("{}\n", connected.value().name);
    std::fflush(stdout);

    const auto controller = control::get(connected.value().instance);
    if (!controller)
        return report(self, connected.value().name, controller.error());
    if (const Status there = control::wait_for_nodes(controller.value(), node_timeout_ms); !there)
        return report(self, connected.value().name, there.error());
    return exit_ok;
}

}  // namespace

void add_connect(CLI::App& app, Run& run)
{
    auto options = std::make_shared<Options>();
    auto& request = options->request;
    CLI::App* sub = app.add_subcommand(
        "connect", "Connect to a subsystem; prints the controller's name, for example kdp0");
    sub->add_option("-a,--traddr", options->address,
                    "Where the target listens: a name, IPv4 or IPv6 address (fe80::1%eth0)")
        ->required();
    sub->add_option("-s,--trsvcid", options->port, "Port")
        ->capture_default_str()
        ->check(CLI::Range(1, 65535));
    sub->add_option("-n,--nqn", options->nqn, "NQN of the subsystem")->required();
    sub->add_option("-w,--host-traddr", options->host_address,
                    "Local address to connect from; default: as the route has it");
    sub->add_option("-q,--hostnqn", options->host_nqn,
                    "NQN of this host; default: /etc/nvme/hostnqn, else from the machine ID");
    sub->add_option(
        "-I,--hostid", options->host_id,
        "UUID of this host; default: /etc/nvme/hostid, else from the NQN or machine ID");
    sub->add_option("--name", options->name,
                    "Name for the controller, kdp0 to kdp1023; default: the lowest free one");
    sub->add_option("-i,--nr-io-queues", request.nr_io_queues,
                    "I/O queues, 1 to 128; default: one a CPU")
        ->check(CLI::Range(1, 128));
    sub->add_option("-W,--nr-write-queues", request.nr_write_queues,
                    "Queues for all but reads, 0 to 128, and the I/O queues for reads; "
                    "default: 0, they share the I/O queues")
        ->check(CLI::Range(0, 128));
    sub->add_option("-P,--nr-poll-queues", request.nr_poll_queues,
                    "Queues for I/O whose issuer polls (fio --hipri), 0 to 128; default: 0")
        ->check(CLI::Range(0, 128));
    sub->add_option("-Q,--queue-size", request.queue_size,
                    "Entries of an I/O queue, 16 to 1024; default: 128")
        ->check(CLI::Range(16, 1024));
    sub->add_option("-k,--keep-alive-tmo", request.keep_alive_ms,
                    "Keep-alive timeout in ms, 1000 to 3600000; default: 15000")
        ->check(CLI::Range(1000, 3600000));
    add_mode_options(*sub, options->cq_mode, request.spin_us, "thread", "50");
    sub->add_option("-l,--ctrl-loss-tmo", request.ctrl_loss_tmo,
                    "How long a lost connection is tried to be made anew, in s, before I/O fails; "
                    "0: not at all, -1: for ever; default: 600")
        ->check(CLI::Range(-1, 86400));
    sub->add_option("--fast-io-fail-tmo", request.fast_io_fail_tmo,
                    "How long block I/O waits for that, in s; -1: as long; default: -1")
        ->check(CLI::Range(-1, 86400));
    sub->add_option("-c,--reconnect-delay", request.reconnect_delay,
                    "The longest wait between two attempts, in s, 1 to 3600; default: 10")
        ->check(CLI::Range(1, 3600));
    sub->add_flag("-D,--duplicate-connect", request.duplicate,
                  "Connect even if this host is already connected to that subsystem there");
    sub->callback([options, &run] { run = [options] { return connect(*options); }; });
}

}  // namespace kdp::tool
