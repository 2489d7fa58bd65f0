// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/print_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "advise/sentences.hpp"
#include "lines.hpp"

namespace kdp::tool::advise {
namespace {

using document::Bench;

std::string paths_text(const Bench& bench, const Advice& advice)
{
    std::string out;
    for (const Candidate& candidate : advice.candidates) {
        const document::BenchPath& path = bench.paths[candidate.path];
        out += fmt::format("[{}] {}{}\n", candidate.path + 1, path.name,
                           path.uri == path.name ? "" : fmt::format("   {}", path.uri));
        for (const std::string& why : candidate.excluded)
            out += filled("no candidate, ", 4, why);
    }
    return out;
}

/// Areas in a column of their own, what holds there beside them.
std::string regions_text(const Bench& bench, const Comparison& comparison)
{
    std::size_t width = 0;
    for (const Region& region : comparison.regions)
        width = std::max(width, places(area(region)));
    std::string out;
    for (const Region& region : comparison.regions) {
        const std::string where = area(region);
        out += filled(where + std::string(width - places(where) + 2, ' '), 4,
                      statement(bench, region));
    }
    return out;
}

std::string comparison_text(const Bench& bench, const Comparison& comparison)
{
    std::string out =
        filled("", 2, fmt::format("{}: {}", heading(comparison), sureness(comparison)));
    out += regions_text(bench, comparison);
    for (const Crossing& crossing : comparison.crossings)
        out += filled("crossing  ", 4, statement(bench, crossing));
    return out;
}

std::string comparisons_text(const Bench& bench, const Advice& advice)
{
    std::string out;
    const document::Load* load = nullptr;
    for (const Comparison& comparison : advice.comparisons) {
        if (!load || *load != comparison.load)
            out += fmt::format("\n{}\n", document::load_name(comparison.load));
        load = &comparison.load;
        out += comparison_text(bench, comparison);
    }
    return out;
}

std::string needs_text(const Advice& advice)
{
    std::string out;
    for (const Need need : all_needs) {
        const bool given =
            std::find(advice.needs.begin(), advice.needs.end(), need) != advice.needs.end();
        out += filled(given ? "* given: " : "* if ", 0,
                      fmt::format("{} (--need {}): {}", need_condition(need), need_name(need),
                                  need_caveat(need)));
    }
    return out;
}

}  // namespace

std::string to_text(const Bench& bench, const Advice& advice)
{
    std::string out;
    if (!advice.claim.headline.empty()) {
        out += filled("! ", 0, advice.claim.headline);
        out += filled("  ", 0, advice.claim.explanation) + "\n";
    }
    out += paths_text(bench, advice);
    if (!advice.limits.empty())
        out += "\n";
    for (const std::string& limit : advice.limits)
        out += filled("! ", 0, limit);
    out += comparisons_text(bench, advice);
    out += "\nHow it is decided\n";
    out += filled("* ", 0, std::string(rule()));
    for (const std::string& distortion : bench.environment.distortions)
        out += filled("* ", 0, distortion);
    out += "\nWhat overrules these figures\n" + needs_text(advice);
    return printable(out);
}

}  // namespace kdp::tool::advise
