// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the profiler reads, from texts and bytes: symbols, maps, modules, the ring's records, lines
// of call chains.
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>

#include "profile/kernel_symbols.hpp"
#include "profile/modules.hpp"
#include "profile/records.hpp"
#include "profile/stacks.hpp"
#include "profile/user_map.hpp"

namespace {

using namespace kdp::tool::profile;

// -- /proc/kallsyms ------------------------------------------------------------------------------

constexpr const char* kallsyms =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000100 t helper\n"
    "ffffffff81000100 T helper_alias\n"
    "ffffffff81000080 W weak_one\n"
    "ffffffff82000000 D some_data\n"
    "ffffffffc0100200 t rxe_post_send\t[rdma_rxe]\n"
    "ffffffffc0100000 t rxe_init\t[rdma_rxe]\n";

TEST(KernelSymbols, AFunctionReachesToTheNext)
{
    auto symbols = KernelSymbols::parse(kallsyms);
    ASSERT_TRUE(symbols);
    EXPECT_EQ(symbols->size(), 5U);  // no data, an address once
    EXPECT_EQ(symbols->find(0xffffffff81000000), (Frame{"startup_64", ""}));
    EXPECT_EQ(symbols->find(0xffffffff8100007f), (Frame{"startup_64", ""}));
    EXPECT_EQ(symbols->find(0xffffffff81000080), (Frame{"weak_one", ""}));
    EXPECT_EQ(symbols->find(0xffffffff81000fff), (Frame{"helper", ""}));
    EXPECT_EQ(symbols->find(0xffffffffc01001ff), (Frame{"rxe_init", "rdma_rxe"}));
    EXPECT_EQ(symbols->find(0xffffffffc0100200), (Frame{"rxe_post_send", "rdma_rxe"}));
    EXPECT_EQ(symbols->find(0x1000), Frame{});
}

TEST(KernelSymbols, WithoutAddressesThereIsAReason)
{
    auto hidden = KernelSymbols::parse("0000000000000000 T startup_64\n");
    ASSERT_FALSE(hidden);
    EXPECT_EQ(hidden.error().code, EACCES);
    EXPECT_NE(hidden.error().text.find("CAP_SYSLOG"), std::string::npos);
    for (const char* nonsense :
         {"", "\n\n", "zzzz", "ffffffff81000000", "ffffffff81000000 T", "12 T "})
        EXPECT_FALSE(KernelSymbols::parse(nonsense)) << nonsense;
}

// -- /proc/self/maps -----------------------------------------------------------------------------

constexpr const char* maps =
    "00400000-00500000 r-xp 00000000 08:01 11 /usr/bin/kdp\n"
    "00500000-00600000 rw-p 00100000 08:01 11 /usr/bin/kdp\n"
    "7f0000000000-7f0000100000 r-xp 00000000 08:01 12    /usr/lib/x86_64-linux-gnu/libc.so.6\n"
    "7f0000200000-7f0000210000 r-xp 00000000 08:01 13 /usr/lib/libibverbs/librxe-rdmav34.so\n"
    "7f0000210000-7f0000220000 r--p 00010000 08:01 13 /usr/lib/libibverbs/librxe-rdmav34.so\n"
    "7f0000300000-7f0000310000 r-xp 00000000 08:01 14 /usr/lib/libibverbs.so.1.14\n"
    "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0 [vdso]\n"
    "broken\n";

constexpr std::uint64_t in_tool = 0x400010, in_libc = 0x7f0000000010, in_rxe = 0x7f0000200010,
                        rxe_data = 0x7f0000210010, in_verbs = 0x7f0000300010,
                        in_vdso = 0x7ffd00000010;

UserMap map_of_rxe()
{
    return UserMap::parse(
        maps, [](std::string_view path) { return path.find("librxe") != std::string_view::npos; });
}

TEST(UserMap, KnowsTheProvidersLibrary)
{
    const UserMap map = map_of_rxe();
    EXPECT_EQ(map.who(in_tool, {}), UserCode::application);
    EXPECT_EQ(map.who(in_verbs, {}), UserCode::application);
    EXPECT_EQ(map.who(in_rxe, {}), UserCode::provider);
    EXPECT_EQ(map.who(0x10, {}), UserCode::application);
    // its stack does not make the program the provider
    EXPECT_EQ(map.who(in_tool, std::vector<std::uint64_t>{in_rxe}), UserCode::application);
}

TEST(UserMap, TheCLibraryWorksForItsCaller)
{
    const UserMap map = map_of_rxe();
    using Stack = std::vector<std::uint64_t>;
    EXPECT_EQ(map.who(in_libc, {}), UserCode::application);
    EXPECT_EQ(map.who(in_libc, Stack{7, in_rxe, in_tool}), UserCode::provider);
    EXPECT_EQ(map.who(in_libc, Stack{in_tool, in_rxe}), UserCode::application);
    EXPECT_EQ(map.who(in_libc, Stack{in_libc, in_libc, in_rxe}), UserCode::provider);
    EXPECT_EQ(map.who(in_vdso, Stack{in_tool}), UserCode::application);
    // its data are no code
    EXPECT_EQ(map.who(in_libc, Stack{rxe_data, in_tool}), UserCode::application);
}

TEST(UserMap, CodeThatPolls)
{
    UserMap map = map_of_rxe();
    map.mark_polling(0x401000, 0x401100);
    map.mark_polling(0x402000, 0x402000);  // nothing
    using Stack = std::vector<std::uint64_t>;
    EXPECT_EQ(map.who(0x401010, {}), UserCode::polling);
    EXPECT_EQ(map.who(0x401100, {}), UserCode::application);
    EXPECT_EQ(map.who(in_rxe, Stack{0x401010}), UserCode::polling);
    EXPECT_EQ(map.who(in_rxe, Stack{in_tool, 0x401010}), UserCode::provider);
    EXPECT_EQ(map.who(in_libc, Stack{0x401010}), UserCode::polling);
}

TEST(UserMap, OfThisProcess)
{
    auto map = UserMap::load();
    ASSERT_TRUE(map);
    EXPECT_EQ(map->who(reinterpret_cast<std::uint64_t>(&map_of_rxe), {}), UserCode::application);
}

// -- /proc/modules -------------------------------------------------------------------------------

constexpr const char* modules =
    "kdp_host 131072 1 - Live 0x0 (OE)\n"
    "kdp_core 65536 1 kdp_host, Live 0x0 (OE)\n"
    "nvmet_rdma 36864 1 - Live 0x0\n"
    "nvmet 200704 8 nvmet_rdma, Live 0x0\n"
    "nvmet_tcp 36864 1 - Live 0x0\n"
    "null_blk 98304 1 - Live 0x0\n"
    "nvme_keyring 16384 3 nvmet_tcp,nvme_tcp,nvme_core, Live 0x0\n"
    "nvme_tcp 53248 0 - Live 0x0\n"
    "nvme_core 225280 1 nvme_tcp, Live 0x0\n"
    "mlx5_ib 487424 0 - Live 0x0\n"
    "mlx5_core 2000000 1 mlx5_ib, Live 0x0\n"
    "rdma_rxe 155648 0 - Live 0x0\n"
    "rdma_ucm 36864 0 - Live 0x0\n"
    "ib_uverbs 208896 3 mlx5_ib,rdma_rxe,rdma_ucm, Live 0x0\n"
    "udp_tunnel 36864 1 rdma_rxe, Live 0x0\n"
    "ib_core 540672 8 kdp_core,nvmet_rdma,mlx5_ib,rdma_rxe,rdma_ucm,ib_uverbs,[permanent], Live "
    "0x0\n";

TEST(ProfileModules, RolesOverRdma)
{
    const Roles roles = roles_of(modules, Transport::rdma, true);
    EXPECT_EQ(roles.provider, (Roles::Modules{"mlx5_core", "mlx5_ib", "rdma_rxe", "udp_tunnel"}));
    EXPECT_EQ(roles.path, (Roles::Modules{"kdp_core", "kdp_host", "nvme_core", "nvme_tcp"}));
    EXPECT_EQ(roles.target, (Roles::Modules{"null_blk", "nvmet", "nvmet_rdma", "nvmet_tcp"}));
    EXPECT_EQ(roles.network, Roles::Network::provider);
    EXPECT_TRUE(roles.local_target);
    EXPECT_EQ(roles_of(modules, Transport::rdma, false).network, Roles::Network::nobody);
}

TEST(ProfileModules, RolesOverTcpAndOfALocalDisk)
{
    const Roles tcp = roles_of(modules, Transport::tcp, false);
    EXPECT_TRUE(tcp.provider.empty());
    EXPECT_EQ(tcp.network, Roles::Network::path);
    EXPECT_TRUE(tcp.local_target);
    const Roles local = roles_of(modules, Transport::none, false);
    EXPECT_TRUE(local.target.empty());
    EXPECT_TRUE(local.path.contains("null_blk"));
    EXPECT_EQ(local.network, Roles::Network::nobody);
}

TEST(ProfileModules, NothingLoadedAndNonsense)
{
    for (const char* text : {"", "\n", "kdp_host", "kdp_host 1 2", "a b c d e f\n\n\n"}) {
        const Roles roles = roles_of(text, Transport::rdma, true);
        EXPECT_TRUE(roles.provider.empty() && roles.path.empty() && roles.target.empty()) << text;
        EXPECT_FALSE(roles.local_target);
    }
}

// -- the ring ------------------------------------------------------------------------------------

class Bytes {
public:
    template <typename T>
    Bytes& put(T value)
    {
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), from, from + sizeof(value));
        return *this;
    }
    Bytes& words(std::initializer_list<std::uint64_t> values)
    {
        for (const std::uint64_t value : values)
            put(value);
        return *this;
    }
    /// As a record of @p type, with what was put so far as its body.
    Bytes record(std::uint32_t type) const
    {
        Bytes whole;
        whole.put(perf_event_header{
            type, 0, static_cast<std::uint16_t>(sizeof(perf_event_header) + bytes.size())});
        whole.bytes.insert(whole.bytes.end(), bytes.begin(), bytes.end());
        return whole;
    }
    Bytes& append(const Bytes& other)
    {
        bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end());
        return *this;
    }
    std::vector<std::byte> bytes;
};

constexpr auto kernel_mark = static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);
constexpr auto user_mark = static_cast<std::uint64_t>(PERF_CONTEXT_USER);
constexpr auto guest_mark = static_cast<std::uint64_t>(PERF_CONTEXT_GUEST);

Bytes system_call_sample()
{
    return Bytes()
        .put(std::uint32_t{70})
        .put(std::uint32_t{71})
        .words({5, kernel_mark, 0xffffffff81000010, 0xffffffff81000020, user_mark, 0x400010})
        .words({24, 1, 2, 3, 16})
        .record(PERF_RECORD_SAMPLE);
}

TEST(PerfRecords, SamplesOfAllKinds)
{
    const Bytes thread = Bytes()
                             .put(std::uint32_t{0})
                             .put(std::uint32_t{9})
                             .words({2, kernel_mark, 0xffffffff81000030})
                             .words({0})  // no user space, no stack, no count of it
                             .record(PERF_RECORD_SAMPLE);
    const Bytes guest = Bytes()
                            .put(std::uint32_t{5})
                            .put(std::uint32_t{5})
                            .words({2, guest_mark, 0x77, 0})
                            .record(PERF_RECORD_SAMPLE);
    const Bytes lost = Bytes().words({1, 12}).record(PERF_RECORD_LOST);
    const Bytes unknown = Bytes().words({1, 2, 3}).record(PERF_RECORD_THROTTLE);
    Bytes all = system_call_sample();
    all.append(thread).append(lost).append(unknown).append(guest);

    std::vector<RawSample> seen;
    const Parsed parsed = parse_records(all.bytes, [&](const RawSample& s) { seen.push_back(s); });
    EXPECT_FALSE(parsed.malformed);
    EXPECT_EQ(parsed.samples, 3U);
    EXPECT_EQ(parsed.lost, 12U);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].process, 70U);
    EXPECT_EQ(seen[0].thread, 71U);
    EXPECT_EQ(seen[0].kernel, (std::vector<std::uint64_t>{0xffffffff81000010, 0xffffffff81000020}));
    EXPECT_EQ(seen[0].user, (std::vector<std::uint64_t>{0x400010}));
    EXPECT_EQ(seen[0].user_stack, (std::vector<std::uint64_t>{1, 2}));  // 16 of 24 bytes were there
    EXPECT_EQ(seen[1].kernel, (std::vector<std::uint64_t>{0xffffffff81000030}));
    EXPECT_TRUE(seen[1].user.empty() && seen[1].user_stack.empty());
    EXPECT_TRUE(seen[2].kernel.empty() && seen[2].user.empty());
}

TEST(PerfRecords, NothingBeyondTheBytesIsRead)
{
    const Bytes whole = system_call_sample();
    for (std::size_t length = 1; length < whole.bytes.size(); length++) {
        const Parsed parsed =
            parse_records(std::span(whole.bytes).first(length), [](const RawSample&) {});
        EXPECT_TRUE(parsed.malformed) << length;
        EXPECT_EQ(parsed.samples, 0U);
    }
    // lengths inside the record that it does not have
    for (const std::uint64_t chain : {std::uint64_t{1000}, UINT64_MAX, UINT64_MAX / 8 + 2}) {
        const Bytes bad = Bytes().words({0, chain, 1, 2, 3}).record(PERF_RECORD_SAMPLE);
        EXPECT_TRUE(parse_records(bad.bytes, [](const RawSample&) {}).malformed);
    }
    const Bytes stack = Bytes().words({0, 0, 1 << 20, 1}).record(PERF_RECORD_SAMPLE);
    EXPECT_TRUE(parse_records(stack.bytes, [](const RawSample&) {}).malformed);
    const Bytes empty_record = Bytes().put(perf_event_header{PERF_RECORD_SAMPLE, 0, 0});
    EXPECT_TRUE(parse_records(empty_record.bytes, [](const RawSample&) {}).malformed);
}

// -- lines ---------------------------------------------------------------------------------------

TEST(ProfileStacks, ALineAndBack)
{
    Sample sample;
    sample.task = Task::path;
    sample.thread = 12;
    sample.user = UserCode::provider;
    sample.kernel = {{"rxe_post_send", "rdma_rxe"}, {"", ""}, {"vfs_write", ""}};
    const std::string line = stack_line(sample, Class::provider_calls);
    EXPECT_EQ(line, "provider_calls;path 12;[provider];vfs_write;?;rxe_post_send[rdma_rxe]");

    const std::string counted = line + " 42";
    auto parsed = parse_stack(counted);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->is, "provider_calls");
    EXPECT_EQ(parsed->count, 42U);
    EXPECT_EQ(parsed->sample.task, Task::path);
    EXPECT_EQ(parsed->sample.thread, 12U);
    EXPECT_EQ(parsed->sample.user, UserCode::provider);
    ASSERT_EQ(parsed->sample.kernel.size(), 3U);
    EXPECT_EQ(parsed->sample.kernel[0], (Frame{"rxe_post_send", "rdma_rxe"}));
    EXPECT_EQ(parsed->sample.kernel[2], (Frame{"vfs_write", ""}));
    EXPECT_EQ(stack_line({}, std::nullopt), "between;other 0");
}

TEST(ProfileStacks, WhatIsNoLine)
{
    for (const char* text : {"", " ", "a", "a;path 1", "a;path 1 x", "a;path x 1", "a;who 1 1",
                             "a;path 1;[who];f 1", "a;path 1;f -1"})
        EXPECT_FALSE(parse_stack(text)) << text;
}

}  // namespace
