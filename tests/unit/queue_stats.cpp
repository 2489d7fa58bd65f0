// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Queues in the module's answers, and what kdp stats makes of them.
#include "queue_stats.hpp"

#include <gtest/gtest.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cerrno>

#include "control_parse.hpp"
#include "netlink.hpp"

namespace {

using namespace kdp;
using control::Queue;

Queue queue(std::uint32_t qid, std::uint64_t commands)
{
    Queue q;
    q.controller = "kdp0";
    q.qid = qid;
    q.set = qid ? KDP_SET_READ : KDP_SET_ADMIN;
    q.cpu = 1;
    q.cq_mode = KDP_MODE_EVENT;
    q.depth = 127;
    q.stats.by_id[KDP_S_COMMANDS] = commands;
    q.stats.by_id[KDP_S_WR_SEND] = commands;
    q.stats.by_id[KDP_S_WR_REG] = commands / 2;
    q.stats.by_id[KDP_S_CQES] = commands + commands / 4;
    q.stats.by_id[KDP_S_BYTES_READ] = commands * 4096;
    return q;
}

TEST(QueueStats, AnswerIsParsed)
{
    const NlMessage message(nlmsg_alloc_simple(0, 0));
    nla_put_u32(message.get(), KDP_A_INSTANCE, 3);
    nla_put_string(message.get(), KDP_A_NAME, "kdp3");
    nla_put_u32(message.get(), KDP_A_CPU, 5);
    nla_put_u32(message.get(), KDP_A_CQ_MODE, KDP_MODE_CALLER);
    nla_put_u32(message.get(), KDP_A_QUEUE_SET, KDP_SET_POLL);
    nla_put_u32(message.get(), KDP_A_QUEUE_SIZE, 31);
    nlattr* stats = nla_nest_start(message.get(), KDP_A_STATS);
    nla_put_u64(message.get(), KDP_S_EVENTS, 77);
    nla_nest_end(message.get(), stats);

    const auto parse = [&] {
        nlattr* attributes[KDP_A_MAX + 1] = {};
        auto* header = nlmsg_hdr(message.get());
        nla_parse(attributes, KDP_A_MAX, static_cast<nlattr*>(nlmsg_data(header)),
                  nlmsg_datalen(header), nullptr);
        return control::parse_queue(attributes);
    };
    EXPECT_EQ(parse().error().code, EPROTO) << "without the queue's number";
    nla_put_u32(message.get(), KDP_A_QID, 2);
    auto parsed = parse();
    ASSERT_TRUE(parsed) << parsed.error().text;
    EXPECT_EQ(parsed->instance, 3u);
    EXPECT_EQ(parsed->controller, "kdp3");
    EXPECT_EQ(parsed->qid, 2u);
    EXPECT_EQ(parsed->cpu, 5u);
    EXPECT_EQ(parsed->depth, 31u);
    EXPECT_EQ(control::cq_mode_name(parsed->cq_mode), "caller");
    EXPECT_EQ(control::queue_set_name(parsed->set), "poll");
    EXPECT_EQ(parsed->stats.by_id[KDP_S_EVENTS], 77u);
    EXPECT_EQ(parsed->stats.by_id[KDP_S_COMMANDS], 0u);
}

TEST(QueueStats, NamesOfModesAndSets)
{
    for (std::uint32_t mode = 0; mode <= KDP_MODE_CALLER; mode++)
        EXPECT_EQ(control::cq_mode_of_name(control::cq_mode_name(mode)), mode);
    EXPECT_EQ(control::cq_mode_name(KDP_MODE_CALLER + 1), "unknown");
    for (const char* bad : {"", "unknown", "Thread", "polled"})
        EXPECT_FALSE(control::cq_mode_of_name(bad)) << bad;
    EXPECT_EQ(control::queue_set_name(KDP_SET_DEFAULT), "default");
    EXPECT_EQ(control::queue_set_name(KDP_SET_POLL + 1), "unknown");
}

TEST(QueueStats, TableHasFiguresPerCommand)
{
    const auto table = tool::queues_to_table({queue(0, 0), queue(1, 1000)});
    EXPECT_NE(table.find("kdp0:0  admin"), std::string::npos) << table;
    EXPECT_NE(table.find("kdp0:1  read"), std::string::npos) << table;
    EXPECT_NE(table.find("1.250"), std::string::npos) << "CQEs per command: " << table;
    EXPECT_NE(table.find("1.500"), std::string::npos) << "WRs per command: " << table;
    EXPECT_NE(table.find(" - "), std::string::npos) << "no command, no figure: " << table;
}

TEST(QueueStats, JsonHasEveryCounter)
{
    const auto json = tool::queues_to_json({queue(1, 1000)});
    EXPECT_EQ(json["schema"], 1);
    const auto& q = json["queues"][0];
    EXPECT_EQ(q["controller"], "kdp0");
    EXPECT_EQ(q["qid"], 1);
    EXPECT_EQ(q["set"], "read");
    EXPECT_EQ(q["cq_mode"], "event");
    EXPECT_EQ(q["queue_size"], 127);
    EXPECT_EQ(q["counters"].size(), control::stat_names().size());
    EXPECT_EQ(q["counters"]["bytes_read"], 4096000);
}

TEST(QueueStats, DifferencesAreOfTheSameConnection)
{
    const std::vector<Queue> before = {queue(1, 1000), queue(2, 500)};
    const auto d = tool::queue_differences(before, {queue(1, 1600), queue(2, 40), queue(3, 7)});
    ASSERT_EQ(d.size(), 3u);
    EXPECT_EQ(d[0].stats.by_id[KDP_S_COMMANDS], 600u);
    EXPECT_EQ(d[0].stats.by_id[KDP_S_BYTES_READ], 600u * 4096);
    EXPECT_EQ(d[1].stats.by_id[KDP_S_COMMANDS], 40u) << "connected anew meanwhile";
    EXPECT_EQ(d[2].stats.by_id[KDP_S_COMMANDS], 7u) << "new";
}

}  // namespace
