// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What a peer is and what it does wrong, as its script says; the line language is in
/// Documentation/testing-peers.md and in `kdp_peer --help`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kdp::peer {

/// What may happen to a target. The last ones are classes: `admin` is every command on the
/// admin queue, `io` every one on an I/O queue that is no Connect, `command` all of them.
enum class Event : std::uint8_t {
    cm_request,
    accepted,
    established,
    connect,
    property_get,
    property_set,
    identify,
    set_features,
    get_features,
    get_log_page,
    keep_alive,
    async_event,
    read,
    write,
    flush,
    write_zeroes,
    admin,
    io,
    command,
};

/// What a rule does.
enum class Verb : std::uint8_t {
    // to the connection manager's request
    reject,
    ignore,
    drop,
    private_data,
    recfmt,
    crqsize,
    // to a connection
    disconnect,
    disconnect_all,
    exit,
    send,
    // to a command's answer
    cid,
    length,
    status,
    result,
    delay,
    data_late,
    no_data,
    half_data,
    no_response,
    patch,
    repeat,
    repeat_invalidation,
    key,
    touch_write,
    touch_read,
};

/// The word that follows some verbs.
enum class Which : std::uint8_t {
    none,
    number,
    // cid, key
    own,
    other,
    generation,
    stale,
    // touch_write, touch_read
    inside,
    past,
    before,
    wrong_key,
    // reject, private_data
    nothing,
    garbage,
    shortened,
};

struct Action {
    unsigned line = 0;  ///< of its rule
    Verb verb{};
    Which which = Which::none;
    std::uint64_t number = 0;
    std::vector<std::uint8_t> patch{};        ///< patch: the bytes; number: their offset
    std::uint32_t bytes = 64;                 ///< touch_*: how many
    std::optional<std::uint32_t> after_ms{};  ///< touch_*: after the response, not before
};

/// Which events a rule is about, beyond their kind.
struct Filter {
    std::optional<std::uint64_t> queue, opcode, nsid, lba, cns, property, lid;
};

struct Rule {
    unsigned line = 0;
    std::string text;  ///< as written
    Event event{};
    Filter filter;
    std::uint64_t first = 1;  ///< the first of the matching events that it plays at
    bool onward = false;      ///< and at every later one
    std::vector<Action> actions;
};

/// A value that a script may set. Empty: the honest one, which depends on others.
using Setting = std::optional<std::uint64_t>;

/// Bytes over an Identify data structure.
struct Patch {
    unsigned offset = 0;
    std::vector<std::uint8_t> bytes;
};

struct NamespaceConfig {
    std::uint64_t nsid = 1;
    Setting blocks = 32768;
    Setting lbads = 9;
    Setting ncap, nuse;  ///< as blocks
    Setting metadata = 0;
    Setting nlbaf = 0;
    Setting flbas = 0;
    Setting protection = 0;
    Setting read_only = 0;
    std::vector<Patch> patches;
};

/// How the list of active namespaces is told.
enum class List : std::uint8_t { honest, empty, endless, repeating, descending, same };

struct Config {
    Setting mqes = 127, to = 2, mpsmin = 0;
    Setting ready = 1, cfs = 0, shutdown = 1;
    Setting mdts = 8, maxcmd, nn, kas = 10, vwc = 1, oaes = 0;
    Setting sqes = 0x66, cqes = 0x44, sgls = 0x00100005;
    Setting ioccsz = 260, iorcsz = 1, icdoff = 0, msdbd = 1;
    Setting cntlid, identify_cntlid, io_cntlid;
    Setting queues = 16, receives = 128;
    Setting list = 0;  ///< a List
    std::vector<Patch> patches;
    std::vector<NamespaceConfig> namespaces;
};

struct Script {
    Config config;
    std::vector<Rule> rules;
};

/// "FILE:LINE: what is wrong, and what is known".
class ScriptError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Parse @p text; @p name stands for it in errors. Lines end with a newline or a ';'.
/// Throws ScriptError. Without a namespace in the script there is one, number 1.
Script parse_script(std::string_view text, const std::string& name);

// -- vocabulary: what is known, for the parser, for messages and for --help -----------

struct EventWord {
    std::string_view name;
    Event event;
    std::string_view help;
};

struct VerbWord {
    std::string_view name;
    Verb verb;
    enum class On : std::uint8_t { request, connection, command } on;
    std::string_view arguments;  ///< for --help
    std::string_view help;
};

template <typename Owner>
struct SettingWord {
    std::string_view name;
    std::uint64_t max;
    Setting Owner::*field;
    std::string_view help;
};

extern const std::array<EventWord, 19> event_words;
extern const std::array<VerbWord, 25> verb_words;
extern const std::array<SettingWord<Config>, 26> setting_words;
extern const std::array<SettingWord<NamespaceConfig>, 9> namespace_words;
extern const std::array<std::string_view, 6> list_words;

/// The words that @p verb takes, and what they mean; empty if it takes none.
struct WhichWord {
    std::string_view name;
    Which which;
};
std::vector<WhichWord> which_words(Verb verb);

/// The language in full, for --help.
std::string language_help();

}  // namespace kdp::peer
