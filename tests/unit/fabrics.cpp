// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The fabrics layer against a controller without a transport: bringing it up, what it is
// refused for, keeping it, losing it, having another one.
#include <gtest/gtest.h>

#include <cerrno>
#include <future>
#include <thread>

#include "fabrics/admin.hpp"
#include "fabrics/keeper.hpp"
#include "fabrics/limits.hpp"
#include "fabrics/ready.hpp"
#include "fabrics_fake.hpp"
#include "verbs/in_flight.hpp"

namespace {

using namespace std::chrono_literals;
using kdp::Error;
using kdp::Result;
using kdp::fabrics::Admin;
using kdp::fabrics::Deadline;
using kdp::fabrics::Keeper;
using kdp::fabrics::Latch;
using kdp::fabrics::Patience;
using kdp::fabrics::Ready;
using kdp::fabrics::Subsystem;
using kdp::test::FakeController;
using kdp::test::FakeQueue;

constexpr auto long_enough = 20s;  // for what is bound to happen

Subsystem subsystem(bool keyed = false)
{
    Subsystem s;
    s.nqn = "nqn.test:disk";
    s.host.nqn = "nqn.test:host";
    s.keyed_sgls = keyed;
    return s;
}

Result<std::unique_ptr<Admin>> open(FakeController& controller, bool keyed = false)
{
    return Admin::open(std::make_unique<FakeQueue>(controller), subsystem(keyed));
}

void expect_error(const Error& error, int code, const std::string& words)
{
    EXPECT_EQ(error.code, code) << error.text;
    EXPECT_NE(error.text.find(words), std::string::npos) << error.text;
}

TEST(FabricsAdmin, BringsAControllerUpAndShutsItDown)
{
    FakeController controller;
    {
        auto admin = open(controller);
        ASSERT_TRUE(admin) << admin.error().text;
        EXPECT_EQ(controller.subsystem, "nqn.test:disk");
        EXPECT_EQ(controller.host, "nqn.test:host");
        EXPECT_EQ((*admin)->cntlid(), 7);
        EXPECT_EQ((*admin)->max_depth(), 100U) << "MAXCMD is less than the queue holds";
        EXPECT_FALSE(controller.was_shut_down());
    }
    EXPECT_TRUE(controller.was_shut_down());
}

TEST(FabricsAdmin, DoesNotShutDownWhatIsBroken)
{
    FakeController controller;
    {
        auto admin = open(controller);
        ASSERT_TRUE(admin);
        (*admin)->queue().break_with(Error{ENOTCONN, "gone"});
    }
    EXPECT_FALSE(controller.was_shut_down());
}

TEST(FabricsAdmin, KeyedSglsOnlyWhereTheTransportNeedsThem)
{
    FakeController controller;
    EXPECT_TRUE(open(controller, false));
    auto refused = open(controller, true);
    ASSERT_FALSE(refused);
    expect_error(refused.error(), EOPNOTSUPP, "keyed SGLs");
    controller.sgls |= NVMF_SGLS_KEYED;
    EXPECT_TRUE(open(controller, true));
    controller.sgls = 0;
    refused = open(controller, false);
    ASSERT_FALSE(refused);
    expect_error(refused.error(), EOPNOTSUPP, "no SGLs");
}

TEST(FabricsAdmin, AFatalControllerIsNotWaitedFor)
{
    FakeController controller;
    controller.csts = NVMF_CSTS_CFS;
    auto admin = open(controller);
    ASSERT_FALSE(admin);
    expect_error(admin.error(), EIO, "CSTS.CFS");
}

TEST(FabricsAdmin, ReadinessIsWaitedForNoLongerThanWeHavePatience)
{
    FakeController controller;
    controller.csts = 0;
    controller.cap = 127 | 255ULL << 24;  // two minutes
    auto admin =
        Admin::open(std::make_unique<FakeQueue>(controller), subsystem(), Patience::in(50ms));
    ASSERT_FALSE(admin);
    EXPECT_EQ(admin.error().code, ETIMEDOUT);
    FakeController slow;
    slow.csts = 0;
    slow.cap = controller.cap;
    Latch hurry = Latch::create().value();
    hurry.signal();
    admin =
        Admin::open(std::make_unique<FakeQueue>(slow), subsystem(), {Deadline::never(), &hurry});
    ASSERT_FALSE(admin);
    EXPECT_EQ(admin.error().code, ETIMEDOUT);
    // Connect, CAP, CC, CSTS once; and CC for the shutdown, which is not waited for
    EXPECT_LE(slow.count(NVMF_OPC_FABRICS), 5U);
}

TEST(FabricsAdmin, FewerQueuesThanAskedForAreAnError)
{
    FakeController controller;
    controller.queues = 3;
    auto admin = open(controller);
    ASSERT_TRUE(admin);
    EXPECT_TRUE((*admin)->ask_for_queues(3));
    const auto refused = (*admin)->ask_for_queues(4);
    ASSERT_FALSE(refused);
    expect_error(refused.error(), EBUSY, "3 I/O queues for this host, 4 were asked for");
    EXPECT_EQ((*admin)->ask_for_queues(0).error().code, EINVAL);
    EXPECT_EQ((*admin)->ask_for_queues(65535).error().code, EINVAL);
}

TEST(FabricsAdmin, AnIoQueueOfAnotherControllerIsRefused)
{
    FakeController controller;
    auto admin = open(controller);
    ASSERT_TRUE(admin);
    FakeQueue io(controller);
    EXPECT_TRUE((*admin)->join(io, 1, 8));
    controller.io_cntlid = 8;
    const auto refused = (*admin)->join(io, 2, 8);
    ASSERT_FALSE(refused);
    expect_error(refused.error(), EPROTO, "queue 2");
}

TEST(FabricsAdmin, ADepthThatTheControllerTakes)
{
    FakeController controller;
    controller.cap = 15 | 10ULL << 24;
    auto admin = open(controller);
    ASSERT_TRUE(admin);
    EXPECT_TRUE((*admin)->check_depth(15)) << "16 entries hold 15";
    expect_error((*admin)->check_depth(16).error(), EINVAL, "takes 1 to 15");
    EXPECT_EQ((*admin)->check_depth(0).error().code, EINVAL);
}

TEST(FabricsAdmin, ANamespaceWithItsIdentifiers)
{
    FakeController controller;
    controller.uuid.fill(0x5a);
    auto admin = open(controller);
    ASSERT_TRUE(admin);
    auto ns = (*admin)->identify_namespace(1);
    ASSERT_TRUE(ns) << ns.error().text;
    EXPECT_EQ(ns->blocks, 2048U);
    EXPECT_EQ(ns->lba_shift, 9);
    EXPECT_EQ(ns->uuid[15], 0x5a);
    // it need not have descriptors
    controller.descriptors_status = NVMF_SC_INVALID_FIELD;
    ns = (*admin)->identify_namespace(1);
    ASSERT_TRUE(ns) << ns.error().text;
    EXPECT_FALSE(nvmf_ns_has_id(&*ns));
    EXPECT_EQ((*admin)->identify_namespace(2).error().code, ENODEV);
    EXPECT_EQ((*admin)->identify_namespace(0).error().code, EINVAL);
}

/// Until @p condition, or the test has waited long enough.
template <typename Condition>
bool happens(Condition&& condition)
{
    const Deadline deadline = Deadline::in(long_enough);
    while (!condition() && !deadline.passed())
        std::this_thread::sleep_for(1ms);
    return condition();
}

TEST(FabricsKeeper, KeepsAliveAndShutsDown)
{
    FakeController controller;
    auto keeper = Keeper::start(std::move(*open(controller)), 20);
    ASSERT_TRUE(keeper);
    EXPECT_TRUE(happens([&] { return controller.keep_alives >= 3; }));
    EXPECT_FALSE((*keeper)->health().lost());
    keeper->reset();
    EXPECT_TRUE(controller.was_shut_down());
}

TEST(FabricsKeeper, AKeepAliveThatFailsLosesTheController)
{
    FakeController controller;
    controller.keep_alive_fails = true;
    auto keeper = Keeper::start(std::move(*open(controller)), 20);
    ASSERT_TRUE(keeper);
    EXPECT_TRUE(happens([&] { return (*keeper)->health().lost(); }));
    EXPECT_EQ((*keeper)->health().why().code, ETIMEDOUT);
}

TEST(FabricsKeeper, AnyQueueThatEndsLosesTheController)
{
    FakeController controller;
    auto keeper = Keeper::start(std::move(*open(controller)), 0);
    ASSERT_TRUE(keeper);
    FakeQueue one(controller), two(controller);
    (*keeper)->watch(one);
    (*keeper)->watch(two);
    EXPECT_FALSE((*keeper)->health().lost());
    two.end();
    EXPECT_TRUE(happens([&] { return (*keeper)->health().lost(); }));
    EXPECT_EQ((*keeper)->health().why().text, "the fake peer hung up");
    (*keeper)->forget(one);
    (*keeper)->forget(two);
}

TEST(FabricsKeeper, AForgottenQueueIsNotLookedAt)
{
    FakeController controller;
    auto keeper = Keeper::start(std::move(*open(controller)), 20);
    ASSERT_TRUE(keeper);
    auto io = std::make_unique<FakeQueue>(controller);
    (*keeper)->watch(*io);
    (*keeper)->forget(*io);
    io->end();
    const unsigned checks = io->checks();
    const unsigned before = controller.keep_alives;
    EXPECT_TRUE(happens([&] { return controller.keep_alives >= before + 2; }));
    EXPECT_EQ(io->checks(), checks);
    EXPECT_FALSE((*keeper)->health().lost());
}

TEST(FabricsKeeper, ALostControllerIsReplaced)
{
    FakeController first, second;
    std::promise<std::string> told;
    auto keeper = Keeper::start(
        std::move(*open(first)), 20,
        [&](Keeper& self, const Error& why, const Latch&) -> Result<std::unique_ptr<Admin>> {
            self.forget_loss();
            told.set_value(why.text);
            return open(second);
        });
    ASSERT_TRUE(keeper);
    (*keeper)->lose(Error{ENOTCONN, "a path says so"});
    auto future = told.get_future();
    ASSERT_EQ(future.wait_for(long_enough), std::future_status::ready);
    EXPECT_EQ(future.get(), "a path says so");
    EXPECT_TRUE(happens([&] { return second.keep_alives >= 2; })) << "the new one is kept alive";
    EXPECT_FALSE((*keeper)->health().lost());
    keeper->reset();
    EXPECT_FALSE(first.was_shut_down()) << "it was lost";
    EXPECT_TRUE(second.was_shut_down());
}

TEST(FabricsKeeper, GivenUpHealthTellsWhy)
{
    FakeController controller;
    auto keeper =
        Keeper::start(std::move(*open(controller)), 0,
                      [](Keeper&, const Error&, const Latch&) -> Result<std::unique_ptr<Admin>> {
                          return Error{ENOTCONN, "did not come back"};
                      });
    ASSERT_TRUE(keeper);
    (*keeper)->lose(Error{EPROTO, "nonsense"});
    EXPECT_TRUE(happens([&] { return (*keeper)->health().lost(); }));
    EXPECT_EQ((*keeper)->health().why().text, "did not come back");
}

TEST(FabricsPatience, HurryShortensIt)
{
    Latch never_comes = Latch::create().value(), hurry = Latch::create().value();
    pollfd fd{never_comes.fd(), POLLIN, 0};
    Patience patience{Deadline::never(), &hurry};
    EXPECT_FALSE(patience.hurried());
    hurry.signal();
    EXPECT_TRUE(patience.hurried());
    EXPECT_FALSE(patience.sleep({&fd, 1})) << "it would have slept for good";
}

TEST(FabricsPatience, WhatIsReadyWinsOverHurry)
{
    Latch ready = Latch::create().value(), hurry = Latch::create().value();
    ready.signal();
    hurry.signal();
    pollfd fd{ready.fd(), POLLIN, 0};
    Patience patience{Deadline::never(), &hurry};
    EXPECT_TRUE(patience.sleep({&fd, 1}));
    EXPECT_TRUE(fd.revents & POLLIN);
    ready.reset();
    patience = Patience::in(1ms);
    EXPECT_FALSE(patience.sleep({&fd, 1}));
}

TEST(FabricsLimits, WhatOneIoMayCarry)
{
    nvmf_ctrl_info ctrl{};
    nvmf_ns_info ns{};
    ns.lba_shift = 12;
    using kdp::fabrics::max_transfer;
    EXPECT_EQ(max_transfer(ctrl, ns, 0xffffff), 0xfff000U) << "whole blocks";
    ctrl.mdts = 131072;
    EXPECT_EQ(max_transfer(ctrl, ns, 0xffffff), 131072U);
    ctrl.mdts = 2048;
    EXPECT_EQ(max_transfer(ctrl, ns, 0xffffff), 0U) << "less than a block";
    ctrl.mdts = 0;
    ns.lba_shift = 9;
    EXPECT_EQ(max_transfer(ctrl, ns, UINT64_MAX), 65536U * 512) << "16 bits of NLB";
}

TEST(FabricsReady, FirstInFirstOut)
{
    Ready ready(3);
    std::array<kdp::Completion, 2> out{};
    for (std::uint64_t tag : {1, 2, 3})
        ready.push({tag, 0, 0});
    EXPECT_EQ(ready.pop(out), 2U);
    EXPECT_EQ(out[1].tag, 2U);
    ready.push({4, 0, 0});
    EXPECT_EQ(ready.pop(out), 2U);
    EXPECT_EQ(out[0].tag, 3U);
    EXPECT_EQ(out[1].tag, 4U);
    EXPECT_EQ(ready.pop(out), 0U);
}

TEST(VerbsInFlight, KeepsTheOrderInWhichTheyCame)
{
    kdp::verbs::InFlight in_flight(3);
    const auto add = [&](std::uint64_t tag) { return in_flight.add({kdp::Op::flush, 0, {}, tag}); };
    const auto a = add(10);
    add(11);
    add(12);
    in_flight[a].losses = 3;
    in_flight[a].sent = true;
    in_flight.remove(a);
    const auto again = add(13);
    EXPECT_EQ(in_flight[again].losses, 0U) << "nothing of the one before";
    EXPECT_FALSE(in_flight[again].sent);
    std::vector<std::uint64_t> tags;
    for (const auto index : in_flight.in_order())
        tags.push_back(in_flight[index].io.tag);
    EXPECT_EQ(tags, (std::vector<std::uint64_t>{11, 12, 13}));
}

}  // namespace
