// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "mode_options.hpp"

namespace kdp::tool {

void add_mode_options(CLI::App& sub, std::string& cq_mode, std::optional<std::int32_t>& spin_us,
                      const std::string& default_mode, const std::string& default_spin)
{
    sub.add_option("--cq-mode", cq_mode,
                   "Who takes completions: thread (a poller thread), event (a soft interrupt) or "
                   "caller (a synchronous ioctl for itself, else as event); default: " +
                       default_mode)
        ->check(CLI::IsMember({"thread", "event", "caller"}));
    sub.add_option("--spin-us", spin_us,
                   "How long a poller thread or a caller spins before it sleeps, in us; "
                   "0: not at all, -1: for ever; default: " +
                       default_spin)
        ->check(CLI::Range(-1, 1000000000));
}

}  // namespace kdp::tool
