// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace kdp::tool::bench {
namespace {

std::string read_line(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The value of "@p key : value" in /proc/cpuinfo, first CPU.
std::string cpuinfo(const std::string& key)
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        if (colon != std::string::npos && line.starts_with(key) &&
            line.find_first_not_of(" \t", key.size()) == colon)
            return colon + 2 < line.size() ? line.substr(colon + 2) : "";
    }
    return "";
}

bool has_word(const std::string& line, const std::string& word)
{
    return (" " + line + " ").find(" " + word + " ") != std::string::npos;
}

/// The hypervisor's signature in CPUID: "KVMKVMKVM", "TCGTCGTCGTCG"; empty without one.
std::string hypervisor_signature()
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned hypervisor_bit = 1U << 31, hypervisor_leaf = 0x40000000;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & hypervisor_bit))
        return "";
    __cpuid(hypervisor_leaf, a, b, c, d);
    const std::array<unsigned, 3> words = {b, c, d};
    char text[sizeof(words) + 1] = {};
    std::memcpy(text, words.data(), sizeof(words));
    return text;
#else
    return "";
#endif
}

}  // namespace

Environment look_around()
{
    Environment env;
    utsname name{};
    uname(&name);
    env.kernel = fmt::format("{} {} {}", name.release, name.machine, name.version);
    env.cpu_model = cpuinfo("model name");
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    env.cpus = cpus > 0 ? static_cast<unsigned>(cpus) : 0;

    const bool uml = cpuinfo("vendor_id") == "User Mode Linux";
    const std::string signature = hypervisor_signature();
    env.emulated = signature == "TCGTCGTCGTCG" || env.cpu_model.starts_with("QEMU TCG");
    env.virtual_machine =
        uml || env.emulated || !signature.empty() || has_word(cpuinfo("flags"), "hypervisor");
    for (const std::string& part :
         {uml ? std::string("User Mode Linux") : signature,
          read_line("/sys/class/dmi/id/sys_vendor"), read_line("/sys/class/dmi/id/product_name")})
        if (!part.empty())
            env.machine += (env.machine.empty() ? "" : ", ") + part;
    env.mitigations_off = has_word(read_line("/proc/cmdline"), "mitigations=off");
    env.clock_source =
        read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    env.rdma = rdma_devices();
    return env;
}

std::vector<std::string> distortions(const Environment& env)
{
    const auto any_driver = [&](const std::string& driver) {
        return std::any_of(env.rdma.begin(), env.rdma.end(),
                           [&](const RdmaDevice& d) { return d.driver == driver; });
    };
    std::vector<std::string> sentences;
    if (any_driver("rxe"))
        sentences.push_back(
            "Soft-RoCE (rxe) does in software what an RDMA adapter does in silicon. Its "
            "ibv_post_send makes a system call and leaves the sending to the kernel; a verbs path "
            "that waits calls sched_yield() as well, so that the provider's threads get a CPU. So "
            "the userspace-direct path is no kernel bypass here, and every byte is copied by a "
            "CPU. Compare what the paths spend outside the provider.");
    if (any_driver("siw"))
        sentences.push_back(
            "Soft-iWARP (siw) runs over the kernel's TCP: posting makes a system call, every byte "
            "is copied by a CPU, and latencies are those of TCP.");
    for (const RdmaDevice& device : env.rdma)
        if (device.software() && device.mtu != 0 && device.mtu < 4096)
            sentences.push_back(fmt::format(
                "{} has an MTU of {} bytes: 4 KiB travel as {} packets. A netdev MTU of 9000 would "
                "make it 4096.",
                device.name, device.mtu, 4096 / device.mtu));
    if (env.emulated)
        sentences.push_back(
            "The CPU is emulated (TCG): times are those of translated code. Compare paths as "
            "ratios "
            "within one run; no absolute figure carries over to hardware.");
    else if (env.virtual_machine)
        sentences.push_back(
            "This is a virtual machine: interrupts and idle CPUs cost more than on bare hardware, "
            "and "
            "its neighbours show in the tail latencies.");
    if (env.mitigations_off)
        sentences.push_back(
            "CPU vulnerability mitigations are off: system calls and context switches are cheaper "
            "than on most machines in production.");
    return sentences;
}

}  // namespace kdp::tool::bench
