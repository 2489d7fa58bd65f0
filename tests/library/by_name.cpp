// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A caller names the fields that it cares about, and the compiler has nothing to say about the
// others (-Wmissing-field-initializers): every one has an initialiser of its own.
#include <kdp/control.hpp>
#include <kdp/data_path.hpp>
#include <kdp/uri.hpp>

int main()
{
    const kdp::Io io{.op = kdp::Op::flush};
    const kdp::OpenOptions how{.depth = 3};
    const kdp::Error error{.code = 3};
    const kdp::PathUri uri{.scheme = kdp::Scheme::verbs};
    const kdp::control::ConnectRequest request{.subsystem_nqn = "nqn.2024-01.org.example:disk"};
    const kdp::control::Settings settings{.spin_us = 0};
    return io.data.empty() && how.host_nqn.empty() && error.text.empty() && uri.nqn.empty() &&
                   !request.instance && !settings.cq_mode
               ? 0
               : 1;
}
