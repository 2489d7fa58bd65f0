// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Which of the script's rules are due when something happens.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "journal.hpp"
#include "script.hpp"

namespace kdp::peer {

/// Something that happened. Fields that make no sense for it are empty.
struct Occurrence {
    Event event{};
    std::optional<std::uint64_t> queue{}, opcode{}, nsid{}, lba{}, cns{}, property{}, lid{};
    std::uint16_t cid = 0;
};

class Rules {
public:
    Rules(std::vector<Rule> rules, Journal& journal);

    /// Count @p occurrence; the actions of all rules that are due, in the script's order.
    std::vector<Action> due(const Occurrence& occurrence);

    /// Every rule was played at least once; says which were not.
    bool all_played();

private:
    struct Counted {
        Rule rule;
        std::uint64_t seen = 0;
        std::uint64_t played = 0;
    };

    std::vector<Counted> rules_;
    Journal& journal_;
};

/// Whether @p rule is about @p occurrence at all.
bool matches(const Rule& rule, const Occurrence& occurrence);

}  // namespace kdp::peer
