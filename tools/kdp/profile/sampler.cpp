// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/sampler.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "unique_fd.hpp"

namespace kdp::tool::profile {
namespace {

// Linux 6.0; the headers of 6.1 have it, an older libc's copies may not.
constexpr std::uint64_t format_lost = 1U << 4;

constexpr std::uint32_t stack_bytes = 256;
// header, thread, chain of some 40 addresses, stack; a deep chain in the network has twice that
constexpr std::size_t bytes_a_sample = 640;
constexpr std::size_t least_ring = std::size_t{1} << 17;
constexpr std::size_t largest_ring = std::size_t{1} << 25;

Error refused(int code, unsigned frequency)
{
    switch (code) {
        case EACCES:
        case EPERM:
            return Error{code, fmt::format("perf_event_open: {}; profiling all CPUs needs "
                                           "CAP_PERFMON, or kernel.perf_event_paranoid=-1",
                                           strerror(code))};
        case ENOENT:
        case ENODEV:
        case ENOSYS:
        case EOPNOTSUPP:
            return Error{code,
                         "this kernel has no perf events of the CPU clock, as User-Mode "
                         "Linux has none"};
        case EINVAL:
            return Error{code, fmt::format("perf_event_open does not take {} samples a second; see "
                                           "kernel.perf_event_max_sample_rate",
                                           frequency)};
        default:
            return Error{code, fmt::format("perf_event_open: {}", strerror(code))};
    }
}

/// What the administrator allows.
unsigned allowed(unsigned frequency)
{
    std::ifstream file("/proc/sys/kernel/perf_event_max_sample_rate");
    unsigned most = 0;
    return file >> most && most > 0 ? std::min(frequency, most) : frequency;
}

Result<UniqueFd> open_event(int cpu, unsigned frequency)
{
    perf_event_attr attr{};
    attr.type = PERF_TYPE_SOFTWARE;
    attr.size = sizeof(attr);
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1'000'000'000 / frequency;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER;
    attr.sample_stack_user = stack_bytes;
    attr.read_format = format_lost;
    attr.disabled = 1;
    const auto open = [&] {
        return static_cast<int>(
            syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    };
    int fd = open();
    if (fd < 0 && errno == EINVAL) {  // before 6.0: records of what was lost must do
        attr.read_format = 0;
        fd = open();
    }
    if (fd < 0)
        return Error{errno, ""};
    return UniqueFd(fd);
}

std::size_t ring_bytes(std::chrono::milliseconds longest, unsigned frequency)
{
    const auto samples = static_cast<std::size_t>(longest.count()) * frequency / 1000 + 1;
    return std::clamp(std::bit_ceil(samples * bytes_a_sample), least_ring, largest_ring);
}

}  // namespace

/// The event of one CPU and its ring buffer.
class Sampler::Ring {
public:
    Ring(UniqueFd event, void* memory, std::size_t data_bytes)
        : event_(std::move(event)),
          page_(static_cast<perf_event_mmap_page*>(memory)),
          bytes_(data_bytes)
    {
    }
    ~Ring() { munmap(page_, bytes_ + static_cast<std::size_t>(getpagesize())); }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    static Result<std::unique_ptr<Ring>> map(UniqueFd event, std::size_t data_bytes)
    {
        const auto page = static_cast<std::size_t>(getpagesize());
        void* memory =
            mmap(nullptr, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
        if (memory == MAP_FAILED)
            return Error{errno, fmt::format("a perf ring of {} KiB: {}; see "
                                            "kernel.perf_event_mlock_kb, or CAP_IPC_LOCK",
                                            data_bytes / 1024, strerror(errno))};
        return std::make_unique<Ring>(std::move(event), memory, data_bytes);
    }

    /// Throw away what is there, and begin.
    Status enable()
    {
        std::uint64_t lost = 0;
        if (read_lost(lost))
            lost_before_ = lost;
        std::atomic_ref(page_->data_tail).store(head(), std::memory_order_release);
        if (ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0) < 0)
            return error_from_errno(errno, "starting a perf event");
        return ok();
    }

    void disable() { ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0); }

    Parsed take(const std::function<void(const RawSample&)>& each)
    {
        const std::uint64_t end = head();
        const std::uint64_t begin = page_->data_tail;
        const auto* data = reinterpret_cast<const std::byte*>(page_) + getpagesize();
        // In one piece: a record may go round the end.
        std::vector<std::byte> copy(end - begin);
        const std::size_t at = begin & (bytes_ - 1);
        const std::size_t first = std::min(copy.size(), bytes_ - at);
        std::copy_n(data + at, first, copy.data());
        std::copy_n(data, copy.size() - first, copy.data() + first);
        std::atomic_ref(page_->data_tail).store(end, std::memory_order_release);
        Parsed parsed = parse_records(copy, each);
        // The event's own count: a record of it is only written when there is room again.
        if (std::uint64_t lost = 0; read_lost(lost))
            parsed.lost = lost - lost_before_;
        return parsed;
    }

private:
    std::uint64_t head()
    {
        return std::atomic_ref(page_->data_head).load(std::memory_order_acquire);
    }

    bool read_lost(std::uint64_t& lost) const
    {
        std::uint64_t values[2];  // the count, how many were lost
        if (read(event_.get(), values, sizeof(values)) != sizeof(values))
            return false;
        lost = values[1];
        return true;
    }

    UniqueFd event_;
    perf_event_mmap_page* page_;
    std::size_t bytes_;  // of data, a power of two
    std::uint64_t lost_before_ = 0;
};

Sampler::Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;
Sampler::~Sampler() = default;

Result<Sampler> Sampler::open(std::chrono::milliseconds longest, unsigned frequency)
{
    Sampler sampler;
    sampler.frequency_ = allowed(std::max(frequency, 1U));
    const std::size_t bytes = ring_bytes(longest, sampler.frequency_);
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; cpu++) {
        auto event = open_event(cpu, sampler.frequency_);
        if (!event && event.error().code == ENODEV && !sampler.rings_.empty())
            continue;  // offline
        if (!event)
            return refused(event.error().code, sampler.frequency_);
        auto ring = Ring::map(std::move(event).value(), bytes);
        if (!ring)
            return ring.error();
        sampler.rings_.push_back(std::move(ring).value());
    }
    return sampler;
}

Status Sampler::start()
{
    for (const auto& ring : rings_)
        if (const Status begun = ring->enable(); !begun)
            return begun.error();
    started_ = std::chrono::steady_clock::now();
    return ok();
}

Result<Sampler::Harvest> Sampler::stop(const std::function<void(const RawSample&)>& each)
{
    const auto stopped = std::chrono::steady_clock::now();
    for (const auto& ring : rings_)
        ring->disable();
    const std::chrono::duration<double, std::micro> elapsed = stopped - started_;
    Harvest harvest;
    harvest.cpu_us = elapsed.count() * static_cast<double>(rings_.size());
    for (const auto& ring : rings_) {
        const Parsed parsed = ring->take(each);
        if (parsed.malformed)
            return Error{EBADMSG, "the perf ring holds a record that does not fit its format"};
        harvest.samples += parsed.samples;
        harvest.lost += parsed.lost;
    }
    return harvest;
}

}  // namespace kdp::tool::profile
