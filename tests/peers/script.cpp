// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The parser of a peer's script: text → statements → tokens.
#include "script.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kdp::peer {

namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr unsigned identify_bytes = 4096;

std::optional<std::uint64_t> to_number(std::string_view text)
{
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    std::uint64_t value = 0;

    if (hex)
        text.remove_prefix(2);
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

std::vector<std::string_view> split(std::string_view line)
{
    std::vector<std::string_view> tokens;
    std::size_t at = 0;

    while (at < line.size()) {
        if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
            at++;
            continue;
        }
        std::size_t end = at + 1;
        if (line[at] != ',')
            end = std::min(line.find_first_of(" \t\r,", at), line.size());
        tokens.push_back(line.substr(at, end - at));
        at = end;
    }
    return tokens;
}

template <typename Words>
std::string names_of(const Words& words)
{
    std::vector<std::string_view> names;

    for (const auto& word : words)
        names.push_back(word.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// One statement being read, token by token.
class Statement {
public:
    Statement(std::string_view text, const std::string& name, unsigned line)
        : tokens_(split(text)), name_(name), line_(line)
    {
    }

    [[noreturn]] void fail(const std::string& what) const
    {
        throw ScriptError(fmt::format("{}:{}: {}", name_, line_, what));
    }

    [[nodiscard]] bool empty() const { return at_ == tokens_.size(); }
    [[nodiscard]] std::string_view peek() const { return empty() ? "" : tokens_[at_]; }

    std::string_view word(std::string_view what)
    {
        if (empty() || tokens_[at_] == ",")
            fail(fmt::format("{} is missing", what));
        return tokens_[at_++];
    }

    bool take(std::string_view wanted)
    {
        if (peek() != wanted)
            return false;
        at_++;
        return true;
    }

    std::uint64_t number(std::string_view what, std::uint64_t max = any)
    {
        const auto text = word(what);
        const auto value = to_number(text);

        if (!value)
            fail(fmt::format("{}: \"{}\" is no number (12 or 0x0c)", what, text));
        if (*value > max)
            fail(fmt::format("{}: {} is more than {}", what, text, max));
        return *value;
    }

    template <typename Words>
    const auto& one_of(std::string_view what, const Words& words)
    {
        const auto text = word(what);
        const auto found =
            std::find_if(words.begin(), words.end(), [&](auto& w) { return w.name == text; });

        if (found == words.end())
            fail(fmt::format("\"{}\" is no {}; known: {}", text, what, names_of(words)));
        return *found;
    }

    void end() const
    {
        if (!empty())
            fail(fmt::format("\"{}\" is too much", peek()));
    }

private:
    std::vector<std::string_view> tokens_;
    std::size_t at_ = 0;
    const std::string& name_;
    unsigned line_;
};

NamespaceConfig& namespace_of(Config& config, std::uint64_t nsid)
{
    auto found = std::find_if(config.namespaces.begin(), config.namespaces.end(),
                              [&](auto& ns) { return ns.nsid == nsid; });

    if (found == config.namespaces.end()) {
        found = config.namespaces.insert(found, NamespaceConfig{});
        found->nsid = nsid;
    }
    return *found;
}

void parse_set(Statement& in, Config& config)
{
    const auto& word = in.one_of("setting", setting_words);

    if (word.name == "list") {
        const auto text = in.word("how the list is told");
        const auto found = std::find(list_words.begin(), list_words.end(), text);
        if (found == list_words.end())
            in.fail(fmt::format("\"{}\" is no list; known: {}", text, fmt::join(list_words, ", ")));
        config.list = static_cast<std::uint64_t>(found - list_words.begin());
        return;
    }
    const auto value = in.number(word.name, word.max);
    if (word.field) {
        config.*word.field = value;
        return;
    }
    for (std::uint64_t nsid = 1; nsid <= value; nsid++)
        namespace_of(config, nsid);
}

void parse_namespace(Statement& in, Config& config)
{
    auto& ns = namespace_of(config, in.number("namespace identifier", 0xffffffff));

    while (!in.empty()) {
        const auto& word = in.one_of("setting of a namespace", namespace_words);
        ns.*word.field = in.number(word.name, word.max);
    }
}

std::vector<std::uint8_t> parse_hex(Statement& in)
{
    std::vector<std::uint8_t> bytes;
    const auto hex = in.word("bytes in hex");
    if (hex.size() % 2)
        in.fail(fmt::format("\"{}\" has an odd number of hex digits", hex));
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        const auto value = to_number(fmt::format("0x{}", hex.substr(at, 2)));
        if (!value)
            in.fail(fmt::format("\"{}\" is not bytes in hex", hex));
        bytes.push_back(static_cast<std::uint8_t>(*value));
    }
    return bytes;
}

void parse_patch(Statement& in, Config& config)
{
    auto& patches = in.take("controller")
                        ? config.patches
                        : namespace_of(config, in.number("namespace", 0xffffffff)).patches;
    Patch patch;

    patch.offset = static_cast<unsigned>(in.number("offset", identify_bytes - 1));
    patch.bytes = parse_hex(in);
    if (patch.offset + patch.bytes.size() > identify_bytes)
        in.fail(fmt::format("a patch ends at byte {} at most", identify_bytes));
    patches.push_back(std::move(patch));
}

struct FilterWord {
    std::string_view name;
    std::optional<std::uint64_t> Filter::*field;
};

constexpr std::array<FilterWord, 7> filter_words{{{"queue", &Filter::queue},
                                                  {"opcode", &Filter::opcode},
                                                  {"nsid", &Filter::nsid},
                                                  {"lba", &Filter::lba},
                                                  {"cns", &Filter::cns},
                                                  {"property", &Filter::property},
                                                  {"lid", &Filter::lid}}};

/// The largest number that a verb takes, if it takes one at all.
std::optional<std::uint64_t> number_max(Verb verb)
{
    switch (verb) {
        case Verb::reject:
        case Verb::recfmt:
        case Verb::crqsize:
        case Verb::cid:
            return 0xffff;
        case Verb::status:
            return 0x7fff;
        case Verb::private_data:
            return 32;
        case Verb::send:
        case Verb::length:
            return 4096;
        case Verb::patch:
            return identify_bytes - 1;
        case Verb::delay:
        case Verb::data_late:
            return 600000;
        case Verb::repeat:
        case Verb::repeat_invalidation:
            return 64;
        case Verb::key:
            return 0xffffffff;
        case Verb::result:
            return any;
        default:
            return std::nullopt;
    }
}

void parse_argument(Statement& in, const VerbWord& verb, Action& action)
{
    const auto words = which_words(verb.verb);
    const auto max = number_max(verb.verb);

    for (const auto& word : words) {
        if (in.take(word.name)) {
            action.which = word.which;
            return;
        }
    }
    if (max && (words.empty() || to_number(in.peek()))) {
        action.which = Which::number;
        action.number = in.number(verb.name, *max);
    } else if (!words.empty()) {
        const auto text = in.word(verb.name);
        in.fail(fmt::format("{} \"{}\"; known: {}{}", verb.name, text, max ? "a number, " : "",
                            names_of(words)));
    }
}

Action parse_action(Statement& in, Event event)
{
    const VerbWord& verb = in.one_of("fault", verb_words);
    const bool request = event == Event::cm_request;
    const bool command = !request && event != Event::accepted && event != Event::established;
    Action action;

    if (request != (verb.on == VerbWord::On::request) ||
        (verb.on == VerbWord::On::command && !command))
        in.fail(fmt::format("{} cannot be done at that event", verb.name));
    action.verb = verb.verb;
    parse_argument(in, verb, action);
    if (verb.verb == Verb::patch)
        action.patch = parse_hex(in);
    if (verb.verb != Verb::touch_write && verb.verb != Verb::touch_read)
        return action;
    for (;;) {
        if (in.take("bytes"))
            action.bytes = static_cast<std::uint32_t>(in.number("bytes", 65536));
        else if (in.take("after"))
            action.after_ms = static_cast<std::uint32_t>(in.number("after", 600000));
        else
            return action;
    }
}

Rule parse_rule(Statement& in)
{
    Rule rule;

    if (in.take("every")) {
        rule.onward = true;
    } else {
        auto text = in.word("when (N, N+ or every)");
        rule.onward = text.ends_with('+');
        if (rule.onward)
            text.remove_suffix(1);
        const auto first = to_number(text);
        if (!first || !*first)
            in.fail(fmt::format("\"{}\" is not when; known: N, N+, every, N from 1", text));
        rule.first = *first;
    }
    rule.event = in.one_of("event", event_words).event;
    while (!in.take("do")) {
        if (in.empty())
            in.fail("\"do\" is missing");
        const auto& word = in.one_of("filter", filter_words);
        rule.filter.*word.field = in.number(word.name);
    }
    do
        rule.actions.push_back(parse_action(in, rule.event));
    while (in.take(","));
    return rule;
}

void parse_statement(std::string_view text, const std::string& name, unsigned line, Script& script)
{
    Statement in(text, name, line);

    if (in.empty())
        return;
    if (in.take("set")) {
        parse_set(in, script.config);
    } else if (in.take("namespace")) {
        parse_namespace(in, script.config);
    } else if (in.take("patch")) {
        parse_patch(in, script.config);
    } else if (in.take("at")) {
        Rule rule = parse_rule(in);
        rule.line = line;
        for (auto& action : rule.actions)
            action.line = line;
        rule.text = fmt::format("{}", fmt::join(split(text), " "));
        script.rules.push_back(std::move(rule));
    } else {
        in.fail(fmt::format("\"{}\" is no statement; known: set, namespace, patch, at", in.peek()));
    }
    in.end();
}

}  // namespace

Script parse_script(std::string_view text, const std::string& name)
{
    Script script;
    unsigned line = 1;

    while (!text.empty()) {
        const auto end = std::min(text.find_first_of("\n;"), text.size());
        auto statement = text.substr(0, end);
        // a comment goes on to the end of the line, whatever it contains
        if (const auto hash = statement.find('#'); hash != std::string_view::npos) {
            parse_statement(statement.substr(0, hash), name, line, script);
            text.remove_prefix(std::min(text.find('\n', hash), text.size()));
            continue;
        }
        parse_statement(statement, name, line, script);
        if (end < text.size() && text[end] == '\n')
            line++;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (script.config.namespaces.empty())
        script.config.namespaces.emplace_back();
    return script;
}

}  // namespace kdp::peer
