// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "interrupt.hpp"

#include <csignal>

namespace kdp::tool {
namespace {

volatile std::sig_atomic_t flag = 0;

void on_signal(int)
{
    flag = 1;
}

}  // namespace

void catch_interrupts()
{
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept
{
    return flag != 0;
}

}  // namespace kdp::tool
