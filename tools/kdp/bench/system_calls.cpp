// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/system_calls.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>

namespace kdp::tool::bench {
namespace {

std::optional<std::uint64_t> tracepoint_id(const std::string& event)
{
    for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        std::ifstream file(fmt::format("{}/events/{}/id", root, event));
        std::uint64_t id = 0;
        if (file >> id)
            return id;
    }
    return std::nullopt;
}

std::vector<int> threads_of_this_process()
{
    std::vector<int> threads;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
        const std::string name = entry.path().filename();
        int thread = 0;
        std::from_chars(name.data(), name.data() + name.size(), thread);
        threads.push_back(thread);
    }
    std::sort(threads.begin(), threads.end());
    return threads;
}

Error refused(int code)
{
    const bool privilege = code == EACCES || code == EPERM;
    return Error{code, fmt::format("perf_event_open: {}{}", strerror(code),
                                   privilege ? "; it needs CAP_PERFMON" : "")};
}

}  // namespace

std::string thread_filter(const std::vector<int>& threads)
{
    std::string filter;
    for (std::size_t first = 0, last; first < threads.size(); first = last + 1) {
        for (last = first; last + 1 < threads.size() && threads[last + 1] == threads[last] + 1;)
            last++;
        filter += filter.empty() ? "(" : "||";
        filter += first == last ? fmt::format("common_pid=={}", threads[first])
                                : fmt::format("(common_pid>={}&&common_pid<={})", threads[first],
                                              threads[last]);
    }
    return filter + ")";
}

Result<SystemCallCounter> SystemCallCounter::start()
{
    const auto id = tracepoint_id("raw_syscalls/sys_enter");
    if (!id)
        return Error{ENOENT,
                     "no tracepoint raw_syscalls:sys_enter: tracefs is not mounted at "
                     "/sys/kernel/tracing, may not be read, or the kernel has it not"};
    const std::string filter =
        fmt::format("{}&&id!={}", thread_filter(threads_of_this_process()), SYS_readv);

    perf_event_attr attr{};
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.size = sizeof(attr);
    attr.config = *id;
    attr.disabled = 1;
    SystemCallCounter counter;
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; cpu++) {
        const long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0 && errno == ENODEV)
            continue;  // offline
        if (fd < 0)
            return refused(errno);
        counter.events_.emplace_back(static_cast<int>(fd));
        if (ioctl(counter.events_.back().get(), PERF_EVENT_IOC_SET_FILTER, filter.c_str()) < 0)
            return error_from_errno(errno, "the tracepoint's filter on threads");
    }
    for (const UniqueFd& event : counter.events_)
        ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0);

    // Thread numbers mean something else inside a PID namespace: see whether our calls count.
    constexpr std::uint64_t probes = 8;
    const auto before = counter.count();
    for (std::uint64_t i = 0; i < probes; i++)
        syscall(SYS_getppid);
    const auto after = counter.count();
    if (!before || !after)
        return before ? after.error() : before.error();
    if (after.value() - before.value() != probes)
        return Error{EXDEV, fmt::format("the tracepoint saw {} of {} calls: is this a PID "
                                        "namespace?",
                                        after.value() - before.value(), probes)};
    return counter;
}

Result<std::uint64_t> SystemCallCounter::count() const
{
    std::uint64_t sum = 0;
    for (const UniqueFd& event : events_) {
        std::uint64_t value = 0;
        const iovec vector{&value, sizeof(value)};
        if (readv(event.get(), &vector, 1) != sizeof(value))
            return error_from_errno(EIO, "reading a perf event");
        sum += value;
    }
    return sum;
}

}  // namespace kdp::tool::bench
