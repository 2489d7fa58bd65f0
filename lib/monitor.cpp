// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <cerrno>
#include <deque>

#include <kdp/control.hpp>

#include "control_parse.hpp"
#include "netlink.hpp"

namespace kdp::control {

struct Monitor::Impl {
    GenericNetlink netlink;
    std::deque<Event> pending;
};

Monitor::Monitor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;
Monitor::~Monitor() = default;

Result<Monitor> Monitor::open()
{
    constexpr int timeout_ms = 10'000;  // of the lookups
    auto netlink = GenericNetlink::open(KDP_GENL_NAME, timeout_ms);
    if (!netlink && netlink.error().code == ENOENT)
        return Error{ENODEV, "the kdp_host module is not loaded: modprobe kdp_host"};
    if (!netlink)
        return netlink.error();
    if (const Status joined = netlink->subscribe(KDP_GENL_NAME, KDP_GENL_GROUP); !joined)
        return joined.error();
    return Monitor(std::make_unique<Impl>(Impl{std::move(netlink).value(), {}}));
}

Result<Event> Monitor::next()
{
    while (impl_->pending.empty()) {
        const Status status = impl_->netlink.receive(KDP_A_MAX, [&](nlattr** attributes) {
            auto event = parse_event(attributes);
            if (!event)
                return Status(event.error());
            impl_->pending.push_back(std::move(event).value());
            return ok();
        });
        if (!status)
            return status.error();
    }
    Event event = std::move(impl_->pending.front());
    impl_->pending.pop_front();
    return event;
}

}  // namespace kdp::control
