// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "resources.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

namespace kdp::verbs {

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

Result<Pages> Pages::allocate(std::size_t bytes)
{
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        return error_from_errno(errno,
                                "cannot allocate " + std::to_string(bytes) + " bytes for a queue");
    return Pages(static_cast<std::byte*>(base), bytes);
}

Pages::~Pages()
{
    if (base_)
        munmap(base_, bytes_);
}

int Deadline::poll_ms() const
{
    if (at_ == Clock::time_point::max())
        return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

int poll_until(std::span<pollfd> fds, Deadline deadline)
{
    int ready;

    do {
        ready = ::poll(fds.data(), fds.size(), deadline.poll_ms());
    } while (ready < 0 && errno == EINTR);
    return std::max(ready, 0);
}

Status set_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return error_from_errno(errno, "cannot make a channel non-blocking");
    return ok();
}

}  // namespace kdp::verbs
