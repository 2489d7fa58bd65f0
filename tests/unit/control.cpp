// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The answers of the module, made here by hand, and a real transaction with a family that every
// kernel has.
#include <kdp/control.hpp>

#include <gtest/gtest.h>

#include <linux/genetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "control_parse.hpp"
#include "controller_json.hpp"
#include "json_text.hpp"
#include "netlink.hpp"

namespace {

using namespace kdp;
using namespace kdp::control;

/// Attributes of a message under construction.
class Message {
public:
    nl_msg* get() { return message_.get(); }

    nlattr** parse()
    {
        std::memset(attributes_, 0, sizeof(attributes_));
        auto* header = nlmsg_hdr(message_.get());
        EXPECT_EQ(nla_parse(attributes_, KDP_A_MAX, static_cast<nlattr*>(nlmsg_data(header)),
                            nlmsg_datalen(header), nullptr),
                  0);
        return attributes_;
    }

private:
    NlMessage message_{nlmsg_alloc_simple(0, 0)};
    nlattr* attributes_[KDP_A_MAX + 1]{};
};

void put_controller(nl_msg* m)
{
    const auto address = resolve("fd77::1", 4420).value();
    nla_put_u32(m, KDP_A_INSTANCE, 3);
    nla_put_string(m, KDP_A_NAME, "kdp3");
    nla_put_u32(m, KDP_A_STATE, KDP_STATE_LIVE);
    nla_put(m, KDP_A_TRADDR, sizeof(sockaddr_in6), &address.storage);
    nla_put_string(m, KDP_A_SUBNQN, "nqn.sub");
    nla_put_string(m, KDP_A_HOSTNQN, "nqn.host");
    nla_put_u32(m, KDP_A_CNTLID, 9);
    nla_put_string(m, KDP_A_SERIAL, "serial");
    nla_put_string(m, KDP_A_MODEL, "Linux");
    nla_put_string(m, KDP_A_FIRMWARE, "6.12");
    nla_put_string(m, KDP_A_RDMA_DEVICE, "rxe0");
    nla_put_u32(m, KDP_A_NR_IO_QUEUES, 4);
    nla_put_u32(m, KDP_A_NR_WRITE_QUEUES, 2);
    nla_put_u32(m, KDP_A_NR_POLL_QUEUES, 1);
    nla_put_u32(m, KDP_A_QUEUE_SIZE, 127);
    nla_put_u32(m, KDP_A_KATO_MS, 15000);
    nla_put_u32(m, KDP_A_CQ_MODE, KDP_MODE_EVENT);
    nla_put_s32(m, KDP_A_SPIN_US, -1);
    nla_put_u32(m, KDP_A_MAX_TRANSFER, 1 << 20);
    nla_put_u32(m, KDP_A_INLINE_SIZE, 4096);
    nlattr* stats = nla_nest_start(m, KDP_A_STATS);
    for (int id = KDP_S_PAD + 1; id <= KDP_S_MAX; id++)
        nla_put_u64(m, id, 1000 + static_cast<std::uint64_t>(id));
    nla_nest_end(m, stats);
    nlattr* list = nla_nest_start(m, KDP_A_NAMESPACES);
    for (std::uint32_t nsid = 1; nsid <= 2; nsid++) {
        nlattr* ns = nla_nest_start(m, KDP_A_NAMESPACE);
        nla_put_u32(m, KDP_A_NSID, nsid);
        nla_put_string(m, KDP_A_NAME, nsid == 1 ? "kdp3n1" : "kdp3n2");
        nla_put_string(m, KDP_A_NS_CHAR_NAME, nsid == 1 ? "kdpg3n1" : "kdpg3n2");
        nla_put_u64(m, KDP_A_NS_BLOCKS, std::uint64_t{1} << 33);
        nla_put_u32(m, KDP_A_NS_BLOCK_SIZE, 512);
        if (nsid == 2) {
            nla_put(m, KDP_A_NS_UUID, 16, "0123456789abcdef");
            nla_put(m, KDP_A_NS_NGUID, 16, "0123456789\xab\x00\x00\x00\x00\xff");
            nla_put(m, KDP_A_NS_EUI64, 8, "\x00\x01\x02\x03\x04\x05\x06\xff");
        }
        nla_nest_end(m, ns);
    }
    nla_nest_end(m, list);
}

TEST(ControlParse, WholeController)
{
    Message message;
    put_controller(message.get());
    const auto parsed = parse_controller(message.parse());
    ASSERT_TRUE(parsed) << parsed.error().text;
    const Controller& c = parsed.value();
    EXPECT_EQ(c.instance, 3u);
    EXPECT_EQ(c.name, "kdp3");
    EXPECT_EQ(state_name(c.state), "live");
    EXPECT_EQ(c.traddr.to_string(), "[fd77::1]:4420");
    EXPECT_EQ(c.subsystem_nqn, "nqn.sub");
    EXPECT_EQ(cq_mode_name(c.cq_mode), "event");
    EXPECT_EQ(c.spin_us, -1);
    EXPECT_EQ(c.stats.by_id[KDP_S_COMMANDS], 1000u + KDP_S_COMMANDS);
    EXPECT_EQ(c.stats.by_id[KDP_S_BYTES_COPIED], 1000u + KDP_S_BYTES_COPIED);
    ASSERT_EQ(c.namespaces.size(), 2u);
    EXPECT_EQ(c.namespaces[1].nsid, 2u);
    EXPECT_EQ(c.namespaces[1].disk, "kdp3n2");
    EXPECT_EQ(c.namespaces[1].char_device, "kdpg3n2");
    EXPECT_EQ(c.namespaces[1].blocks, std::uint64_t{1} << 33);
}

TEST(ControlParse, WithoutNameIsAnotherVersion)
{
    Message message;
    nla_put_u32(message.get(), KDP_A_INSTANCE, 3);
    EXPECT_EQ(parse_controller(message.parse()).error().code, EPROTO);
    EXPECT_EQ(parse_connected(message.parse()).error().code, EPROTO);
}

TEST(ControlParse, WrongLengthsAreRefused)
{
    Message number;
    nla_put_u32(number.get(), KDP_A_INSTANCE, 3);
    nla_put_string(number.get(), KDP_A_NAME, "kdp3");
    nla_put_u16(number.get(), KDP_A_STATE, 2);
    EXPECT_EQ(parse_controller(number.parse()).error().code, EPROTO);

    Message address;
    nla_put_u32(address.get(), KDP_A_INSTANCE, 3);
    nla_put_string(address.get(), KDP_A_NAME, "kdp3");
    nla_put_u32(address.get(), KDP_A_TRADDR, AF_INET);
    EXPECT_EQ(parse_controller(address.parse()).error().code, EPROTO);
}

TEST(ControlParse, AnIdentifierOfAnotherLength)
{
    const std::pair<int, int> cases[] = {{KDP_A_NS_UUID, 15},
                                         {KDP_A_NS_UUID, 17},
                                         {KDP_A_NS_NGUID, 8},
                                         {KDP_A_NS_EUI64, 16},
                                         {KDP_A_NS_EUI64, 0}};

    for (const auto& [type, length] : cases) {
        Message message;
        nla_put_u32(message.get(), KDP_A_INSTANCE, 3);
        nla_put_string(message.get(), KDP_A_NAME, "kdp3");
        nlattr* list = nla_nest_start(message.get(), KDP_A_NAMESPACES);
        nlattr* ns = nla_nest_start(message.get(), KDP_A_NAMESPACE);
        nla_put_u32(message.get(), KDP_A_NSID, 1);
        nla_put(message.get(), type, length, "0123456789abcdefg");
        nla_nest_end(message.get(), ns);
        nla_nest_end(message.get(), list);
        EXPECT_EQ(parse_controller(message.parse()).error().code, EPROTO) << type << " " << length;
    }
}

TEST(ControlParse, StringWithoutNulStaysInside)
{
    Message message;
    nla_put_u32(message.get(), KDP_A_INSTANCE, 3);
    nla_put(message.get(), KDP_A_NAME, 4, "kdp3");
    const auto parsed = parse_connected(message.parse());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed.value().name, "kdp3");
}

TEST(ControlParse, Event)
{
    Message m;
    nla_put_u32(m.get(), KDP_A_INSTANCE, 4);
    nla_put_string(m.get(), KDP_A_NAME, "kdp4");
    EXPECT_EQ(parse_event(m.parse()).error().code, EPROTO) << "without the state";
    nla_put_u32(m.get(), KDP_A_STATE, KDP_STATE_RESETTING);
    nla_put_string(m.get(), KDP_A_REASON, "disconnected");
    nla_put_u32(m.get(), KDP_A_RECONNECTS, 7);
    auto event = parse_event(m.parse());
    ASSERT_TRUE(event) << event.error().text;
    EXPECT_EQ(event->instance, 4u);
    EXPECT_EQ(event->controller, "kdp4");
    EXPECT_EQ(state_name(event->state), "resetting");
    EXPECT_EQ(event->reason, "disconnected");
    EXPECT_EQ(event->reconnects, 7u);
    EXPECT_EQ(event->subsystem_nqn, "");
}

TEST(ControlState, WhatIsSettledIsNotWaitedFor)
{
    for (const auto state : {KDP_STATE_LIVE, KDP_STATE_FAILED, KDP_STATE_GONE})
        EXPECT_TRUE(is_settled(state)) << state_name(state);
    for (const auto state :
         {KDP_STATE_NEW, KDP_STATE_CONNECTING, KDP_STATE_RESETTING, KDP_STATE_DELETING})
        EXPECT_FALSE(is_settled(state)) << state_name(state);
    EXPECT_EQ(state_name(KDP_STATE_GONE + 1), "unknown");
}

TEST(ControlJson, Shape)
{
    Message message;
    put_controller(message.get());
    const auto json = tool::controllers_to_json({parse_controller(message.parse()).value()});
    EXPECT_EQ(json["schema"], 1);
    const auto& c = json["controllers"][0];
    EXPECT_EQ(c["name"], "kdp3");
    EXPECT_EQ(c["state"], "live");
    EXPECT_EQ(c["traddr"], "fd77::1");
    EXPECT_EQ(c["trsvcid"], 4420);
    EXPECT_EQ(c["rdma_device"], "rxe0");
    EXPECT_EQ(c["cq_mode"], "event");
    EXPECT_EQ(c["spin_us"], -1);
    EXPECT_EQ(c["nr_io_queues"], 4);
    EXPECT_EQ(c["nr_write_queues"], 2);
    EXPECT_EQ(c["nr_poll_queues"], 1);
    EXPECT_EQ(c["counters"].size(), static_cast<std::size_t>(KDP_S_MAX - KDP_S_PAD));
    EXPECT_EQ(c["counters"]["bytes_copied"], 1000 + KDP_S_BYTES_COPIED);
    EXPECT_EQ(c["namespaces"][0]["disk"], "kdp3n1");
    EXPECT_EQ(c["namespaces"][0]["bytes"], std::uint64_t{1} << 42);
    EXPECT_FALSE(c["namespaces"][0].contains("uuid"));
    EXPECT_FALSE(c["namespaces"][0].contains("nguid"));
    EXPECT_FALSE(c["namespaces"][0].contains("eui64"));
    EXPECT_EQ(c["namespaces"][1]["uuid"], "30313233-3435-3637-3839-616263646566");
    EXPECT_EQ(c["namespaces"][1]["nguid"], "30313233343536373839ab00000000ff");
    EXPECT_EQ(c["namespaces"][1]["eui64"], "00010203040506ff");
    EXPECT_EQ(tool::controllers_to_json({})["controllers"].size(), 0u);
}

// A subsystem's name is what somebody wrote into a target's configfs.
TEST(ControlJson, BytesThatAreNoUtf8)
{
    Controller controller;
    controller.subsystem_nqn = "nqn.\xff\xc3";
    const std::string text = tool::json_text(tool::controllers_to_json({controller}));
    EXPECT_NE(text.find("nqn.\xef\xbf\xbd"), std::string::npos) << text;
}

TEST(ExtendedAck, TextOfAnErrorMessage)
{
    // an NLMSG_ERROR as the kernel lays it out: header, error, the request, attributes
    std::string request = "twelve bytes";
    for (const bool capped : {false, true}) {
        NlMessage message(nlmsg_alloc_simple(NLMSG_ERROR, NLM_F_ACK_TLVS));
        nlmsgerr err{};
        err.error = -EALREADY;
        err.msg.nlmsg_len = sizeof(nlmsghdr) + 12;
        nlmsg_append(message.get(), &err, sizeof(err), NLMSG_ALIGNTO);
        if (capped)
            nlmsg_hdr(message.get())->nlmsg_flags |= NLM_F_CAPPED;
        else
            nlmsg_append(message.get(), request.data(), 12, NLMSG_ALIGNTO);
        nla_put_u32(message.get(), NLMSGERR_ATTR_OFFS, 7);
        nla_put_string(message.get(), NLMSGERR_ATTR_MSG, "already connected");
        EXPECT_EQ(extended_ack_text(nlmsg_hdr(message.get())), "already connected");

        nlmsg_hdr(message.get())->nlmsg_flags &= ~NLM_F_ACK_TLVS;
        EXPECT_EQ(extended_ack_text(nlmsg_hdr(message.get())), "");
    }
}

TEST(ExtendedAck, LengthThatLiesIsHarmless)
{
    NlMessage message(nlmsg_alloc_simple(NLMSG_ERROR, NLM_F_ACK_TLVS));
    nlmsgerr err{};
    err.msg.nlmsg_len = 0x7fffffff;
    nlmsg_append(message.get(), &err, sizeof(err), NLMSG_ALIGNTO);
    EXPECT_EQ(extended_ack_text(nlmsg_hdr(message.get())), "");
    nlmsg_hdr(message.get())->nlmsg_len = NLMSG_HDRLEN;
    EXPECT_EQ(extended_ack_text(nlmsg_hdr(message.get())), "");
}

TEST(GenericNetlink, ExactErrnoFromTheKernel)
{
    auto netlink = GenericNetlink::open("nlctrl", 5000);
    ASSERT_TRUE(netlink) << netlink.error().text;
    NlMessage message = netlink->message(CTRL_CMD_GETFAMILY, 1, 0);
    nla_put_string(message.get(), CTRL_ATTR_FAMILY_NAME, "kdp_no_such");
    const auto status =
        netlink->transact(std::move(message), CTRL_ATTR_MAX, [](nlattr**) { return ok(); });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ENOENT);
}

TEST(GenericNetlink, AnswerAndDump)
{
    auto netlink = GenericNetlink::open("nlctrl", 5000);
    ASSERT_TRUE(netlink);
    NlMessage one = netlink->message(CTRL_CMD_GETFAMILY, 1, 0);
    nla_put_string(one.get(), CTRL_ATTR_FAMILY_NAME, "nlctrl");
    std::string name;
    ASSERT_TRUE(netlink->transact(std::move(one), CTRL_ATTR_MAX, [&](nlattr** a) {
        name = nla_get_string(a[CTRL_ATTR_FAMILY_NAME]);
        return ok();
    }));
    EXPECT_EQ(name, "nlctrl");

    int families = 0;
    ASSERT_TRUE(netlink->transact(netlink->message(CTRL_CMD_GETFAMILY, 1, NLM_F_DUMP),
                                  CTRL_ATTR_MAX, [&](nlattr**) { return families++, ok(); }));
    EXPECT_GE(families, 1);
}

TEST(GenericNetlink, CallbackErrorIsHandedOn)
{
    auto netlink = GenericNetlink::open("nlctrl", 5000);
    ASSERT_TRUE(netlink);
    const auto status = netlink->transact(netlink->message(CTRL_CMD_GETFAMILY, 1, NLM_F_DUMP),
                                          CTRL_ATTR_MAX, [](nlattr**) {
                                              return Status(Error{EPROTO, "no"});
                                          });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, EPROTO);
}

TEST(GenericNetlink, MissingFamily)
{
    const auto netlink = GenericNetlink::open("kdp_no_such", 5000);
    ASSERT_FALSE(netlink);
    EXPECT_EQ(netlink.error().code, ENOENT);
}

TEST(WaitForNodes, NamesTheMissingOne)
{
    std::string directory = testing::TempDir() + "kdp_nodes_XXXXXX";
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    Controller controller;
    controller.name = "kdp0";
    controller.namespaces.push_back({1, "kdp0n1", "kdpg0n1", 1, 512});
    std::ofstream(directory + "/kdp0");
    std::ofstream(directory + "/kdp0n1");
    const auto status = wait_for_nodes(controller, 20, directory);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ETIMEDOUT);
    EXPECT_NE(status.error().text.find("kdpg0n1"), std::string::npos);
    std::ofstream(directory + "/kdpg0n1");
    EXPECT_TRUE(wait_for_nodes(controller, 20, directory));
    std::filesystem::remove_all(directory);
}

}  // namespace
