// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The script of kdp_peer: what it says, what is wrong with it, and when its rules are due.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <nvmf/identify.h>

#include "controller.hpp"
#include "rules.hpp"
#include "script.hpp"

namespace {

using namespace kdp::peer;

/// What the parser says of a script that is wrong.
std::string complaint(std::string_view text)
{
    try {
        parse_script(text, "demo.peer");
    } catch (const ScriptError& error) {
        return error.what();
    }
    return "";
}

TEST(PeerScript, EmptyIsHonest)
{
    for (const char* text : {"", "\n\n", "  \t\n", "# only a comment; at 1 nothing", ";;"}) {
        const Script script = parse_script(text, "s");
        EXPECT_TRUE(script.rules.empty()) << text;
        ASSERT_EQ(script.config.namespaces.size(), 1U) << text;
        EXPECT_EQ(script.config.namespaces[0].nsid, 1U) << text;
    }
}

TEST(PeerScript, Settings)
{
    const Script script = parse_script(
        "set mqes 0; set sgls 0xffffffff # all of it\n"
        "set list endless; set oaes 0x100\n"
        "namespace 7 blocks 0xffffffffffffffff lbads 31\n"
        "namespace 9\n"
        "namespace 7 metadata 8\n"
        "patch controller 77 ff\n"
        "patch 7 4094 a5A5",
        "s");
    const Config& config = script.config;

    EXPECT_EQ(config.mqes, 0U);
    EXPECT_EQ(config.sgls, 0xffffffffU);
    EXPECT_EQ(config.list, unsigned(List::endless));
    EXPECT_EQ(config.oaes, 0x100U);
    EXPECT_EQ(parse_script("", "s").config.oaes, 0U);
    ASSERT_EQ(config.namespaces.size(), 2U);
    EXPECT_EQ(config.namespaces[0].nsid, 7U);
    EXPECT_EQ(config.namespaces[0].blocks, UINT64_MAX);
    EXPECT_EQ(config.namespaces[0].lbads, 31U);
    EXPECT_EQ(config.namespaces[0].metadata, 8U);
    EXPECT_EQ(config.namespaces[1].nsid, 9U);
    ASSERT_EQ(config.patches.size(), 1U);
    EXPECT_EQ(config.patches[0].offset, 77U);
    ASSERT_EQ(config.namespaces[0].patches.size(), 1U);
    EXPECT_EQ(config.namespaces[0].patches[0].bytes, (std::vector<std::uint8_t>{0xa5, 0xa5}));
    EXPECT_EQ(parse_script("set namespaces 3", "s").config.namespaces.size(), 3U);
}

TEST(PeerScript, Rules)
{
    const Script script = parse_script(
        "at 3 read queue 1 lba 0x800 do cid other, status 0x281\n"
        "at 2+ identify cns 0 do disconnect\n"
        "at every io do write past bytes 128 after 200,no-response\n"
        "at 1 cm-request queue 0 do reject 6\n"
        "at 1 cm-request do private short\n"
        "at 1 write do key 17, fetch before\n"
        "at 2 identify cns 1 do patch 1792 00ff\n"
        "at 1 get-log-page lid 4 do no-data; at every async-event do result 0x40002",
        "s");

    ASSERT_EQ(script.rules.size(), 9U);
    EXPECT_EQ(script.rules[7].event, Event::get_log_page);
    EXPECT_EQ(script.rules[7].filter.lid, 4U);
    EXPECT_EQ(script.rules[8].actions[0].number, 0x40002U);
    const Rule& read = script.rules[0];
    EXPECT_EQ(read.line, 1U);
    EXPECT_EQ(read.event, Event::read);
    EXPECT_EQ(read.first, 3U);
    EXPECT_FALSE(read.onward);
    EXPECT_EQ(read.filter.queue, 1U);
    EXPECT_EQ(read.filter.lba, 0x800U);
    EXPECT_FALSE(read.filter.nsid);
    ASSERT_EQ(read.actions.size(), 2U);
    EXPECT_EQ(read.actions[0].verb, Verb::cid);
    EXPECT_EQ(read.actions[0].which, Which::other);
    EXPECT_EQ(read.actions[1].number, 0x281U);

    EXPECT_EQ(script.rules[1].first, 2U);
    EXPECT_TRUE(script.rules[1].onward);
    EXPECT_EQ(script.rules[1].filter.cns, 0U);

    const Rule& touch = script.rules[2];
    EXPECT_EQ(touch.first, 1U);
    EXPECT_TRUE(touch.onward);
    ASSERT_EQ(touch.actions.size(), 2U);
    EXPECT_EQ(touch.actions[0].verb, Verb::touch_write);
    EXPECT_EQ(touch.actions[0].which, Which::past);
    EXPECT_EQ(touch.actions[0].bytes, 128U);
    EXPECT_EQ(touch.actions[0].after_ms, 200U);
    EXPECT_EQ(touch.actions[1].verb, Verb::no_response);

    EXPECT_EQ(script.rules[3].actions[0].which, Which::number);
    EXPECT_EQ(script.rules[4].actions[0].which, Which::shortened);
    EXPECT_EQ(script.rules[5].actions[0].number, 17U);
    EXPECT_FALSE(script.rules[5].actions[1].after_ms);
    EXPECT_EQ(script.rules[6].actions[0].number, 1792U);
    EXPECT_EQ(script.rules[6].actions[0].patch, (std::vector<std::uint8_t>{0, 0xff}));
    EXPECT_EQ(script.rules[6].actions[0].line, 7U);
}

TEST(PeerScript, ErrorsSayWhereAndWhatIsKnown)
{
    const struct {
        const char* script;
        const char* says;
    } cases[] = {
        {"bogus", "demo.peer:1: \"bogus\" is no statement; known: set, namespace, patch, at"},
        {"\n\nset mqse 1", "demo.peer:3: \"mqse\" is no setting; known: mqes, to,"},
        {"set mqes", "mqes is missing"},
        {"set mqes x", "\"x\" is no number"},
        {"set mqes 0x", "\"0x\" is no number"},
        {"set mqes -1", "\"-1\" is no number"},
        {"set mqes 65536", "65536 is more than 65535"},
        {"set mqes 1 2", "\"2\" is too much"},
        {"set list backwards", "known: honest, empty, endless"},
        {"namespace 1 block 4", "\"block\" is no setting of a namespace; known: blocks"},
        {"namespace 1 blocks 18446744073709551616", "is no number"},
        {"patch controller 4095 0000", "ends at byte 4096"},
        {"patch controller 0 0", "odd number of hex digits"},
        {"patch controller 0 0g", "is not bytes in hex"},
        {"at", "when (N, N+ or every) is missing"},
        {"at 0 read do status 1", "\"0\" is not when"},
        {"at x read do status 1", "\"x\" is not when"},
        {"at 1 raed do status 1", "\"raed\" is no event; known: cm-request, accepted"},
        {"at 1 read status 1", "\"status\" is no filter; known: queue, opcode"},
        {"at 1 read", "\"do\" is missing"},
        {"at 1 read do", "fault is missing"},
        {"at 1 read do status", "status is missing"},
        {"at 1 read do status 1,", "fault is missing"},
        {"at 1 read do status 0x8000", "is more than"},
        {"at 1 read do statsu 1", "\"statsu\" is no fault; known: reject, ignore"},
        {"at 1 read do patch 4096 00", "4096 is more than 4095"},
        {"at 1 read do patch 0", "bytes in hex is missing"},
        {"at 1 read do cid mine", "cid \"mine\"; known: a number, other, generation"},
        {"at 1 read do write around", "write \"around\"; known: inside, past"},
        {"at 1 read do write past sideways", "\"sideways\" is too much"},
        {"at 1 read do reject 1", "reject cannot be done at that event"},
        {"at 1 cm-request do status 1", "status cannot be done at that event"},
        {"at 1 cm-request do disconnect", "disconnect cannot be done at that event"},
        {"at 1 established do cid other", "cid cannot be done at that event"},
        {"# fine\nset mqes 1; at 1 x", "demo.peer:2: \"x\" is no event"},
    };

    for (const auto& c : cases) {
        const std::string text = complaint(c.script);
        EXPECT_NE(text.find(c.says), std::string::npos) << c.script << " -> " << text;
        EXPECT_EQ(text.rfind("demo.peer:", 0), 0U) << c.script << " -> " << text;
    }
}

TEST(PeerScript, HelpNamesEverything)
{
    const std::string help = language_help();

    for (const auto& word : event_words)
        EXPECT_NE(help.find(word.name), std::string::npos) << word.name;
    for (const auto& word : verb_words)
        EXPECT_NE(help.find(word.name), std::string::npos) << word.name;
    for (const auto& word : setting_words)
        EXPECT_NE(help.find(word.name), std::string::npos) << word.name;
    for (const auto& word : namespace_words)
        EXPECT_NE(help.find(word.name), std::string::npos) << word.name;
}

/// At which of @p n equal occurrences the only rule of @p text plays.
std::string plays_at(std::string_view text, const Occurrence& occurrence, unsigned n = 4)
{
    Journal journal(false);
    Rules rules(parse_script(text, "s").rules, journal);
    std::string at;

    testing::internal::CaptureStdout();
    for (unsigned i = 1; i <= n; i++) {
        if (!rules.due(occurrence).empty())
            at += std::to_string(i);
    }
    EXPECT_EQ(rules.all_played(), !at.empty());
    testing::internal::GetCapturedStdout();
    return at;
}

TEST(PeerRules, CountOnlyWhatTheyAreAbout)
{
    Occurrence read;
    read.event = Event::read;
    read.queue = 1;
    read.opcode = 2;
    read.lba = 8;
    Occurrence connect;
    connect.event = Event::connect;
    connect.queue = 1;
    connect.opcode = 0x7f;

    Occurrence log;
    log.event = Event::get_log_page;
    log.queue = 0;
    log.lid = 4;

    EXPECT_EQ(plays_at("at 2 get-log-page lid 4 do no-response", log), "2");
    EXPECT_EQ(plays_at("at 1 get-log-page lid 2 do no-response", log), "");
    EXPECT_EQ(plays_at("at 1 admin do no-response", log), "1");
    EXPECT_EQ(plays_at("at 2 read do no-response", read), "2");
    EXPECT_EQ(plays_at("at 2+ read do no-response", read), "234");
    EXPECT_EQ(plays_at("at every read do no-response", read), "1234");
    EXPECT_EQ(plays_at("at 5 read do no-response", read), "");
    EXPECT_EQ(plays_at("at 1 read queue 1 lba 8 opcode 2 do no-response", read), "1");
    EXPECT_EQ(plays_at("at 1 read queue 2 do no-response", read), "");
    EXPECT_EQ(plays_at("at 1 read nsid 1 do no-response", read), "");
    EXPECT_EQ(plays_at("at 1 io do no-response", read), "1");
    EXPECT_EQ(plays_at("at 1 command do no-response", read), "1");
    EXPECT_EQ(plays_at("at 1 admin do no-response", read), "");
    EXPECT_EQ(plays_at("at 1 write do no-response", read), "");
    EXPECT_EQ(plays_at("at 1 io do no-response", connect), "");
    EXPECT_EQ(plays_at("at 1 command do no-response", connect), "1");
    EXPECT_EQ(plays_at("at 1 connect queue 1 do no-response", connect), "1");
}

/// What a host's parser makes of the honest Identify data, and of dishonest ones.
TEST(PeerIdentify, IsWhatTheScriptSays)
{
    Config config = parse_script("set mdts 5; namespace 1 blocks 100 lbads 12", "s").config;
    nvmf_ctrl_info ctrl;
    nvmf_ns_info ns;

    ASSERT_EQ(nvmf_ctrl_info_parse(identify_controller(config, 3, "nqn.x").data(), 4096, &ctrl), 0);
    EXPECT_EQ(ctrl.cntlid, 3);
    EXPECT_EQ(ctrl.oaes, 0U);
    EXPECT_EQ(ctrl.mdts, 4096U << 5);
    EXPECT_EQ(ctrl.nn, 1U);
    EXPECT_EQ(nvmf_inline_max(&ctrl), 4096U);
    ASSERT_EQ(nvmf_ns_info_parse(identify_namespace(config.namespaces[0]).data(), &ns), 0);
    EXPECT_EQ(ns.blocks, 100U);
    EXPECT_EQ(ns.lba_shift, 12);
    // the descriptors agree with it
    EXPECT_TRUE(nvmf_ns_has_id(&ns));
    EXPECT_EQ(nvmf_ns_descriptors_parse(identify_descriptors(1).data(), &ns), 0);
    EXPECT_EQ(nvmf_ns_descriptors_parse(identify_descriptors(2).data(), &ns), -EPROTO);

    config = parse_script("set sgls 0; patch 1 26 05; patch controller 4 41", "s").config;
    EXPECT_EQ(nvmf_ctrl_info_parse(identify_controller(config, 3, "nqn.x").data(), 4096, &ctrl),
              -EOPNOTSUPP);
    EXPECT_EQ(ctrl.serial[0], 'A');
    EXPECT_EQ(nvmf_ns_info_parse(identify_namespace(config.namespaces[0]).data(), &ns), -EPROTO);
}

TEST(PeerIdentify, ActiveLists)
{
    const auto ids = [](const char* script, std::uint32_t after) {
        const auto page = active_list(parse_script(script, "s").config, after);
        std::vector<std::uint32_t> list;
        for (unsigned i = 0; i < 1024 && nvmf_get32(page.data(), 4 * i); i++)
            list.push_back(nvmf_get32(page.data(), 4 * i));
        return list;
    };
    using List = std::vector<std::uint32_t>;

    EXPECT_EQ(ids("namespace 9; namespace 2; namespace 5", 0), (List{2, 5, 9}));
    EXPECT_EQ(ids("namespace 9; namespace 2; namespace 5", 2), (List{5, 9}));
    EXPECT_EQ(ids("set namespaces 3; set list descending", 0), (List{3, 2, 1}));
    EXPECT_EQ(ids("set list empty", 0), List{});
    EXPECT_EQ(ids("set list same", 1), List(1024, 1));
    EXPECT_EQ(ids("set list endless", 1024).front(), 1025U);
    EXPECT_EQ(ids("set list endless", 1024).size(), 1024U);
    EXPECT_EQ(ids("set list repeating", 1024).front(), 1U);
    EXPECT_EQ(ids("set namespaces 1025", 0).size(), 1024U);
    EXPECT_EQ(ids("set namespaces 1025", 1024), List{1025});
}

}  // namespace
