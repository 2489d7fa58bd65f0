// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "patience.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

#include <fcntl.h>
#include <sys/eventfd.h>

namespace kdp::fabrics {

namespace {

/// How much longer an answer is waited for when someone waits for the waiter.
constexpr auto hurried_time = std::chrono::seconds(1);

constexpr std::size_t fds_at_most = 4;

}  // namespace

Result<Latch> Latch::create()
{
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0)
        return error_from_errno(errno, "cannot make an eventfd");
    return Latch(UniqueFd(fd));
}

void Latch::signal() const noexcept
{
    // EAGAIN means that the counter is full, which is as signalled as can be
    (void)!eventfd_write(fd_.get(), 1);
}

void Latch::reset() const noexcept
{
    eventfd_t count;

    // EAGAIN: it was not signalled
    (void)!eventfd_read(fd_.get(), &count);
}

int Deadline::poll_ms() const
{
    if (at_ == Clock::time_point::max())
        return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

bool Patience::hurried() const
{
    pollfd fd{hurry ? hurry->fd() : -1, POLLIN, 0};

    return ::poll(&fd, 1, 0) > 0;
}

bool Patience::sleep(std::span<pollfd> fds)
{
    std::array<pollfd, fds_at_most + 1> all{};

    fds = fds.first(std::min(fds.size(), fds_at_most));
    std::copy(fds.begin(), fds.end(), all.begin());
    for (;;) {
        all[fds.size()] = {hurry ? hurry->fd() : -1, POLLIN, 0};  // poll(2) passes over -1
        const int ready = poll_until({all.data(), fds.size() + 1}, until);
        std::copy_n(all.begin(), fds.size(), fds.begin());
        if (ready == 0)
            return false;
        if (!all[fds.size()].revents)
            return true;
        until = until.or_sooner(Deadline::in(hurried_time));
        hurry = nullptr;
        if (ready > 1)
            return true;
    }
}

int poll_until(std::span<pollfd> fds, Deadline deadline)
{
    int ready;

    do {
        ready = ::poll(fds.data(), fds.size(), deadline.poll_ms());
    } while (ready < 0 && errno == EINTR);
    return std::max(ready, 0);
}

int poll_a_second(std::span<pollfd> fds, Deadline deadline)
{
    const int left = deadline.poll_ms();

    return std::max(::poll(fds.data(), fds.size(), left < 0 ? 1000 : std::min(left, 1000)), 0);
}

Status set_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return error_from_errno(errno, "cannot make a channel non-blocking");
    return ok();
}

}  // namespace kdp::fabrics
