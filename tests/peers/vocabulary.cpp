// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The words of a peer's script and what they mean. The tables are the only place that
// knows a word: parser, messages and --help all read them.
#include <fmt/format.h>

#include "script.hpp"

namespace kdp::peer {

constexpr std::uint64_t u8 = 0xff, u16 = 0xffff, u32 = 0xffffffff, u64 = UINT64_MAX;

const std::array<EventWord, 19> event_words{{
    {"cm-request", Event::cm_request, "a host asks for a connection"},
    {"accepted", Event::accepted, "we have accepted; the host may not know it yet"},
    {"established", Event::established, "the connection stands"},
    {"connect", Event::connect, "Fabrics Connect"},
    {"property-get", Event::property_get, "Property Get"},
    {"property-set", Event::property_set, "Property Set"},
    {"identify", Event::identify, "Identify"},
    {"set-features", Event::set_features, "Set Features"},
    {"get-features", Event::get_features, "Get Features"},
    {"get-log-page", Event::get_log_page, "Get Log Page"},
    {"keep-alive", Event::keep_alive, "Keep Alive"},
    {"async-event", Event::async_event,
     "Asynchronous Event Request: kept, unless the fault is a result, a status or a hang-up"},
    {"read", Event::read, "Read"},
    {"write", Event::write, "Write"},
    {"flush", Event::flush, "Flush"},
    {"write-zeroes", Event::write_zeroes, "Write Zeroes"},
    {"admin", Event::admin, "any command on the admin queue"},
    {"io", Event::io, "any command on an I/O queue but Connect"},
    {"command", Event::command, "any command"},
}};

using On = VerbWord::On;

const std::array<VerbWord, 25> verb_words{{
    {"reject", Verb::reject, On::request, "STATUS|nothing|garbage|short",
     "refuse, with that status, without private data, with 148 bytes of 0xa5, or with 2 bytes"},
    {"ignore", Verb::ignore, On::request, "", "never answer"},
    {"drop", Verb::drop, On::request, "", "throw the request away"},
    {"private", Verb::private_data, On::request, "nothing|garbage|short|BYTES",
     "accept with no private data, with 32 bytes of 0xa5, with 2 bytes, or with the first BYTES"},
    {"recfmt", Verb::recfmt, On::request, "N", "accept with that record format"},
    {"crqsize", Verb::crqsize, On::request, "N", "accept with that size of our receive queue"},
    {"disconnect", Verb::disconnect, On::connection, "", "hang up instead of answering"},
    {"disconnect-all", Verb::disconnect_all, On::connection, "", "hang up on every queue"},
    {"exit", Verb::exit, On::connection, "", "end the process, as if killed"},
    {"send", Verb::send, On::connection, "BYTES", "a SEND of zeroes that nobody asked for"},
    {"cid", Verb::cid, On::command, "N|other|generation",
     "answer with identifier N, another one in flight (waits for one), or a wrong generation"},
    {"length", Verb::length, On::command, "BYTES", "the response is that long"},
    {"status", Verb::status, On::command, "N", "its status (SC, SCT << 8, DNR 0x4000)"},
    {"result", Verb::result, On::command, "N", "its result (dwords 0 and 1)"},
    {"delay", Verb::delay, On::command, "MS", "answer so much later"},
    {"data-late", Verb::data_late, On::command, "MS", "data so long after the response"},
    {"no-data", Verb::no_data, On::command, "", "a response without its data"},
    {"half-data", Verb::half_data, On::command, "", "only the first half of the data"},
    {"no-response", Verb::no_response, On::command, "", "data, but no response"},
    {"patch", Verb::patch, On::command, "OFFSET HEX", "bytes over its data"},
    {"repeat", Verb::repeat, On::command, "N", "the response N times more"},
    {"repeat-invalidation", Verb::repeat_invalidation, On::command, "N",
     "the response N times more, the invalidation too"},
    {"key", Verb::key, On::command, "N|none|own|other|stale|wrong",
     "invalidate key N, no key, the command's (even unasked), another command's (waits for "
     "one), the one that the slot had before, or one that never was"},
    {"write", Verb::touch_write, On::command, "inside|past|before|wrong-key|stale-key ...",
     "RDMA WRITE of 0xee, where it is not wanted: [bytes N] [after MS], that is after the "
     "response"},
    {"fetch", Verb::touch_read, On::command, "inside|past|before|wrong-key|stale-key ...",
     "RDMA READ, the same way"},
}};

const std::array<SettingWord<Config>, 26> setting_words{{
    {"mqes", u16, &Config::mqes, "CAP.MQES, entries of a queue less one"},
    {"to", u8, &Config::to, "CAP.TO, in units of 500 ms"},
    {"mpsmin", 15, &Config::mpsmin, "CAP.MPSMIN, pages of 2^(12+N) bytes"},
    {"ready", 1, &Config::ready, "0: CSTS.RDY never comes"},
    {"cfs", 1, &Config::cfs, "1: CSTS.CFS, a fatal status"},
    {"shutdown", 1, &Config::shutdown, "0: CSTS.SHST never says that it is done"},
    {"mdts", u8, &Config::mdts, "2^N pages in a transfer, 0 no limit"},
    {"maxcmd", u16, &Config::maxcmd, "commands in flight a queue"},
    {"nn", u32, &Config::nn, "the highest namespace identifier"},
    {"kas", u16, &Config::kas, "keep-alive granularity"},
    {"vwc", u8, &Config::vwc, "volatile write cache"},
    {"oaes", u32, &Config::oaes, "events that we tell of; 0x100: of namespaces"},
    {"sqes", u8, &Config::sqes, "sizes of a submission queue entry"},
    {"cqes", u8, &Config::cqes, "sizes of a completion queue entry"},
    {"sgls", u32, &Config::sgls, "SGL support"},
    {"ioccsz", u32, &Config::ioccsz, "bytes of a command capsule / 16"},
    {"iorcsz", u32, &Config::iorcsz, "bytes of a response capsule / 16"},
    {"icdoff", u16, &Config::icdoff, "in-capsule data offset / 16"},
    {"msdbd", u8, &Config::msdbd, "SGL descriptors a command"},
    {"cntlid", u16, &Config::cntlid, "the controller's identifier"},
    {"identify-cntlid", u16, &Config::identify_cntlid, "what Identify says of it"},
    {"io-cntlid", u16, &Config::io_cntlid, "what Connect of an I/O queue says of it"},
    {"queues", 65536, &Config::queues, "I/O queues that we allot"},
    {"receives", 4096, &Config::receives, "our receive queue, and what we say of it"},
    {"list", 5, &Config::list,
     "active namespaces: honest, empty, endless (N+1 to N+1024), repeating (always 1 to 1024), "
     "descending, same (1024 times 1)"},
    {"namespaces", 4096, nullptr, "so many, 1 to N, alike"},
}};

const std::array<SettingWord<NamespaceConfig>, 9> namespace_words{{
    {"blocks", u64, &NamespaceConfig::blocks, "NSZE"},
    {"lbads", u8, &NamespaceConfig::lbads, "blocks of 2^N bytes"},
    {"ncap", u64, &NamespaceConfig::ncap, "NCAP"},
    {"nuse", u64, &NamespaceConfig::nuse, "NUSE"},
    {"metadata", u16, &NamespaceConfig::metadata, "bytes of metadata a block"},
    {"nlbaf", u8, &NamespaceConfig::nlbaf, "number of formats less one"},
    {"flbas", u8, &NamespaceConfig::flbas, "the format in use"},
    {"protection", u8, &NamespaceConfig::protection, "DPS"},
    {"read-only", 1, &NamespaceConfig::read_only, "write protected"},
}};

const std::array<std::string_view, 6> list_words{"honest",    "empty",      "endless",
                                                 "repeating", "descending", "same"};

std::vector<WhichWord> which_words(Verb verb)
{
    switch (verb) {
        case Verb::reject:
        case Verb::private_data:
            return {{"nothing", Which::nothing},
                    {"garbage", Which::garbage},
                    {"short", Which::shortened}};
        case Verb::cid:
            return {{"other", Which::other}, {"generation", Which::generation}};
        case Verb::key:
            return {{"none", Which::nothing},
                    {"own", Which::own},
                    {"other", Which::other},
                    {"stale", Which::stale},
                    {"wrong", Which::wrong_key}};
        case Verb::touch_write:
        case Verb::touch_read:
            return {{"inside", Which::inside},
                    {"past", Which::past},
                    {"before", Which::before},
                    {"wrong-key", Which::wrong_key},
                    {"stale-key", Which::stale}};
        default:
            return {};
    }
}

namespace {

template <typename Words>
std::string settings_help(const Words& words)
{
    std::string text;

    for (const auto& word : words)
        text += fmt::format("  {:<20} {}\n", word.name, word.help);
    return text;
}

}  // namespace

std::string language_help()
{
    std::string text =
        "A script has a statement a line (or up to a ';'); '#' begins a comment.\n"
        "\n"
        "set NAME VALUE\n";

    text += settings_help(setting_words);
    text += "\nnamespace NSID [NAME VALUE]...\n";
    text += settings_help(namespace_words);
    text +=
        "\npatch controller OFFSET HEX, patch NSID OFFSET HEX\n"
        "  bytes over the 4096 of Identify\n"
        "\nat N|N+|every EVENT [FILTER VALUE]... do FAULT[, FAULT]...\n"
        "  at the N-th event of that kind (and filter), from the N-th on, or at every one\n"
        "\n  EVENT\n";
    for (const auto& word : event_words)
        text += fmt::format("  {:<20} {}\n", word.name, word.help);
    text +=
        "\n  FILTER: queue, opcode, nsid, lba, cns, property (its offset), lid (log page)\n"
        "\n  FAULT, at cm-request\n";
    for (const On on : {On::request, On::connection, On::command}) {
        if (on == On::connection)
            text += "\n  FAULT, at anything later\n";
        else if (on == On::command)
            text += "\n  FAULT, at a command\n";
        for (const auto& word : verb_words) {
            if (word.on == on)
                text += fmt::format("  {} {}\n      {}\n", word.name, word.arguments, word.help);
        }
    }
    return text;
}

}  // namespace kdp::peer
