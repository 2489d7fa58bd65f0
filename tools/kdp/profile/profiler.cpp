// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/profiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include <kdp/rdma_devices.hpp>

#include "polling_code.hpp"
#include "profile/files.hpp"
#include "profile/user_map.hpp"

namespace kdp::tool::profile {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path& path)
{
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

/// Thread 2 is kthreadd, unless this is a PID namespace.
bool sees_kernel_threads()
{
    return first_word("/proc/2/comm") == "kthreadd";
}

/// @p device: a controller of nvme_core, or a subsystem, which has its controllers in it.
std::string transport_below(const fs::path& device)
{
    if (const std::string name = first_word(device / "transport"); !name.empty())
        return name;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(device, error))
        if (entry.path().filename().string().starts_with("nvme"))
            if (const std::string name = first_word(entry.path() / "transport"); !name.empty())
                return name;
    return {};
}

Task task_of(const RawSample& raw)
{
    if (raw.process == 0)
        return Task::idle;
    return raw.process == static_cast<std::uint32_t>(getpid()) ? Task::path : Task::other;
}

}  // namespace

Transport transport_of(const PathUri& uri)
{
    switch (uri.scheme) {
        case Scheme::verbs:
            return Transport::rdma;
        case Scheme::kernel:
        case Scheme::block:
            break;
        default:
            return Transport::tcp;
    }
    const std::string node = fs::path(uri.device).filename().string();
    if (node.starts_with("kdp"))
        return Transport::rdma;
    for (const char* kind : {"/sys/class/block", "/sys/class/nvme-generic"})
        if (const std::string name = transport_below(fs::path(kind) / node / "device");
            !name.empty())
            return name == "rdma"  ? Transport::rdma
                   : name == "tcp" ? Transport::tcp
                                   : Transport::none;
    return Transport::none;
}

bool is_software_provider(std::string_view name)
{
    const auto devices = rdma_devices();
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const RdmaDevice& d) { return d.name == name; });
    if (device != devices.end())
        return device->software();
    return std::all_of(devices.begin(), devices.end(),
                       [](const RdmaDevice& d) { return d.software(); });
}

bool knows_polls_of_user_space() noexcept
{
    const auto [begin, end] = polling_code();
    return begin != end;
}

Profiler::Profiler(Sampler sampler, KernelSymbols symbols)
    : sampler_(std::move(sampler)), symbols_(std::move(symbols))
{
}

Result<Profiler> Profiler::open()
{
    auto sampler = Sampler::open(longest);
    if (!sampler)
        return sampler.error();
    if (!sees_kernel_threads())
        return Error{EXDEV,
                     "the threads of the kernel cannot be told from idle CPUs: is this a PID "
                     "namespace?"};
    auto symbols = KernelSymbols::load();
    if (!symbols)
        return symbols.error();
    return Profiler(std::move(sampler).value(), std::move(symbols).value());
}

Status Profiler::start()
{
    return sampler_.start();
}

Status Profiler::stop()
{
    seen_.clear();
    auto harvest = sampler_.stop([this](const RawSample& sample) { seen_.push_back(sample); });
    if (!harvest)
        return harvest.error();
    harvest_ = harvest.value();
    return ok();
}

Result<Breakdown> Profiler::classify(const Stretch& stretch)
{
    auto modules = read_whole("/proc/modules");
    if (!modules && modules.error().code == ENOENT)
        modules = std::string();  // a kernel that has none
    if (!modules)
        return modules.error();
    auto map = UserMap::load();
    if (!map)
        return map.error();

    const auto [polls_begin, polls_end] = polling_code();
    map->mark_polling(polls_begin, polls_end);

    Tally tally(roles_of(
        modules.value(), stretch.transport,
        stretch.transport == Transport::rdma && is_software_provider(stretch.rdma_device)));
    for (const RawSample& seen : seen_) {
        Sample sample;
        sample.task = task_of(seen);
        sample.thread = seen.thread;
        if (sample.task == Task::path && !seen.user.empty())
            sample.user = map->who(seen.user.front(), seen.user_stack);
        for (const std::uint64_t address : seen.kernel)
            sample.kernel.push_back(symbols_.find(address));
        const auto is = tally.add(sample);
        stacks_[stack_line(sample, is)]++;
    }

    Breakdown breakdown;
    breakdown.ios = stretch.ios;
    breakdown.samples = harvest_.samples;
    breakdown.lost = harvest_.lost;
    breakdown.cpu_us = harvest_.cpu_us;
    breakdown.elapsed_us = static_cast<double>(stretch.elapsed_ns) / 1000;
    breakdown.by_class = tally.by_class();
    seen_.clear();
    return breakdown;
}

}  // namespace kdp::tool::profile
