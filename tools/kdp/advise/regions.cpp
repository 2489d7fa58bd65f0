// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "advise/regions.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kdp::tool::advise {
namespace {

std::vector<std::size_t> sorted(std::vector<std::size_t> paths)
{
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool same_finding(const Verdict& a, const Verdict& b)
{
    return a.finding == b.finding && sorted(a.leaders) == sorted(b.leaders);
}

/// Verdicts by block size (rows) and depth (columns); what was not measured is nullptr.
class Grid {
public:
    explicit Grid(std::span<const Verdict> verdicts)
    {
        std::set<std::uint64_t> sizes, depths;
        for (const Verdict& verdict : verdicts) {
            cells_[{verdict.bs, verdict.depth}] = &verdict;
            sizes.insert(verdict.bs);
            depths.insert(verdict.depth);
        }
        sizes_.assign(sizes.begin(), sizes.end());
        depths_.assign(depths.begin(), depths.end());
    }

    [[nodiscard]] const std::vector<std::uint64_t>& sizes() const noexcept { return sizes_; }
    [[nodiscard]] const std::vector<std::uint64_t>& depths() const noexcept { return depths_; }
    [[nodiscard]] const Verdict* at(std::size_t size, std::size_t depth) const
    {
        const auto it = cells_.find({sizes_[size], depths_[depth]});
        return it == cells_.end() ? nullptr : it->second;
    }

private:
    std::map<std::pair<std::uint64_t, std::uint64_t>, const Verdict*> cells_;
    std::vector<std::uint64_t> sizes_, depths_;
};

void add(Region& region, const Verdict& verdict)
{
    if (region.points == 0) {
        region.behind = sorted(verdict.behind);
        region.rounds = verdict.rounds;
        if (verdict.gain && verdict.gain_at_least)
            region.gain = {*verdict.gain, *verdict.gain, *verdict.gain_at_least};
    }
    region.points++;
    region.rounds = std::min(region.rounds, verdict.rounds);
    std::erase_if(region.behind, [&](std::size_t path) {
        return std::find(verdict.behind.begin(), verdict.behind.end(), path) ==
               verdict.behind.end();
    });
    for (const std::size_t path : verdict.uncertain)
        if (std::find(region.uncertain.begin(), region.uncertain.end(), path) ==
            region.uncertain.end())
            region.uncertain.push_back(path);
    if (!verdict.gain || !verdict.gain_at_least) {
        region.gain.reset();
    } else if (region.gain) {
        region.gain->least = std::min(region.gain->least, *verdict.gain);
        region.gain->most = std::max(region.gain->most, *verdict.gain);
        region.gain->sure = std::min(region.gain->sure, *verdict.gain_at_least);
    }
}

struct Span {
    std::size_t first, last;
};

/// Whether all of the rectangle can be in one region with @p like.
bool fits(const Grid& grid, const std::set<const Verdict*>& taken, const Verdict& like, Span sizes,
          Span depths)
{
    for (std::size_t s = sizes.first; s <= sizes.last; s++)
        for (std::size_t d = depths.first; d <= depths.last; d++) {
            const Verdict* cell = grid.at(s, d);
            if (!cell || taken.contains(cell) || !same_finding(*cell, like))
                return false;
        }
    return true;
}

/// The rectangle with the most points whose first corner is there.
std::pair<Span, Span> widest(const Grid& grid, const std::set<const Verdict*>& taken,
                             std::size_t size, std::size_t depth)
{
    const Verdict& like = *grid.at(size, depth);
    std::pair<Span, Span> best{{size, size}, {depth, depth}};
    std::size_t most = 1;
    std::size_t columns = grid.depths().size();
    for (std::size_t s = size; s < grid.sizes().size() && columns > depth; s++) {
        std::size_t end = depth;
        while (end < columns && fits(grid, taken, like, {s, s}, {end, end}))
            end++;
        columns = end;
        const std::size_t points = (s - size + 1) * (columns - depth);
        if (points > most) {
            most = points;
            best = {{size, s}, {depth, columns - 1}};
        }
    }
    return best;
}

/// Along one line of the grid: @p cell gives the verdict of each place, @p places their values.
template <typename Cell>
std::vector<Crossing> along(const std::vector<std::uint64_t>& places, const Cell& cell)
{
    std::vector<Crossing> all;
    const Verdict* last = nullptr;
    std::uint64_t where = 0;
    bool ties = false;
    for (std::size_t i = 0; i < places.size(); i++) {
        const Verdict* verdict = cell(i);
        if (!verdict || verdict->finding != Finding::winner) {
            ties = ties || (verdict && verdict->finding == Finding::tie);
            continue;
        }
        if (last && last->leaders.front() != verdict->leaders.front())
            all.push_back({.figure = verdict->figure,
                           .load = verdict->load,
                           .at = {},
                           .between = {where, places[i]},
                           .before = last->leaders.front(),
                           .after = verdict->leaders.front(),
                           .ties_between = ties});
        last = verdict;
        where = places[i];
        ties = false;
    }
    return all;
}

/// Append, or make the range of an equal one at the line before longer.
void collect(std::vector<Crossing>& all, Crossing crossing, std::uint64_t line,
             std::optional<std::uint64_t> line_before)
{
    for (Crossing& other : all)
        if (other.along_depth == crossing.along_depth && other.between == crossing.between &&
            other.before == crossing.before && other.after == crossing.after &&
            other.ties_between == crossing.ties_between && line_before == other.at.to) {
            other.at.to = line;
            return;
        }
    crossing.at = {line, line};
    all.push_back(crossing);
}

}  // namespace

std::vector<Region> merge(std::span<const Verdict> verdicts)
{
    const Grid grid(verdicts);
    std::set<const Verdict*> taken;
    std::vector<Region> regions;
    for (std::size_t s = 0; s < grid.sizes().size(); s++)
        for (std::size_t d = 0; d < grid.depths().size(); d++) {
            const Verdict* first = grid.at(s, d);
            if (!first || taken.contains(first))
                continue;
            const auto [sizes, depths] = widest(grid, taken, s, d);
            Region region;
            region.figure = first->figure;
            region.load = first->load;
            region.bs = {grid.sizes()[sizes.first], grid.sizes()[sizes.last]};
            region.depth = {grid.depths()[depths.first], grid.depths()[depths.last]};
            region.finding = first->finding;
            region.leaders = sorted(first->leaders);
            for (std::size_t i = sizes.first; i <= sizes.last; i++)
                for (std::size_t j = depths.first; j <= depths.last; j++) {
                    add(region, *grid.at(i, j));
                    taken.insert(grid.at(i, j));
                }
            regions.push_back(std::move(region));
        }
    return regions;
}

std::vector<Crossing> crossings(std::span<const Verdict> verdicts)
{
    const Grid grid(verdicts);
    std::vector<Crossing> all;
    std::optional<std::uint64_t> before;
    for (std::size_t s = 0; s < grid.sizes().size(); s++) {
        for (Crossing& one : along(grid.depths(), [&](std::size_t d) { return grid.at(s, d); })) {
            one.along_depth = true;
            collect(all, one, grid.sizes()[s], before);
        }
        before = grid.sizes()[s];
    }
    before.reset();
    for (std::size_t d = 0; d < grid.depths().size(); d++) {
        for (const Crossing& one :
             along(grid.sizes(), [&](std::size_t s) { return grid.at(s, d); }))
            collect(all, one, grid.depths()[d], before);
        before = grid.depths()[d];
    }
    return all;
}

}  // namespace kdp::tool::advise
