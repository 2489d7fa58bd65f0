// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/user_map.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "profile/files.hpp"

namespace kdp::tool::profile {
namespace {

namespace fs = std::filesystem;

/// "7f12a000-7f12b000 r-xp 00001000 08:01 1234    /usr/lib/libc.so.6"
struct Line {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool code = false;
    std::string_view path;
};

Line parse_line(std::string_view text)
{
    Line line;
    const char* const last = text.data() + text.size();
    const auto first = std::from_chars(text.data(), last, line.begin, 16);
    if (first.ec != std::errc() || first.ptr == last)
        return {};
    const auto second = std::from_chars(first.ptr + 1, last, line.end, 16);
    if (second.ec != std::errc() || last - second.ptr < 5)
        return {};
    line.code = second.ptr[3] == 'x';
    for (const std::string_view begin : {" /", " ["})
        if (const auto at = text.find(begin); at != std::string_view::npos) {
            line.path = text.substr(at + 1);
            break;
        }
    return line;
}

template <typename Each>
void for_each_line(std::string_view text, Each&& each)
{
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        each(parse_line(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string_view base_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

bool is_servant(std::string_view path)
{
    const std::string_view name = base_name(path);
    return name.starts_with("libc.so") || name.starts_with("libc-") ||
           name.starts_with("libpthread") || name.starts_with("ld-linux") || name == "[vdso]";
}

/// The providers' libraries beside the libibverbs that is mapped.
std::set<std::string, std::less<>> installed_providers(std::string_view maps)
{
    std::set<std::string, std::less<>> found;
    fs::path directory;
    for_each_line(maps, [&](const Line& line) {
        if (base_name(line.path).starts_with("libibverbs.so"))
            directory = fs::path(line.path).parent_path() / "libibverbs";
    });
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
        const fs::path target = fs::canonical(entry.path(), error);
        if (!error)
            found.insert(target.string());
    }
    return found;
}

}  // namespace

Result<UserMap> UserMap::load()
{
    const auto maps = read_whole("/proc/self/maps");
    if (!maps)
        return maps.error();
    const auto providers = installed_providers(maps.value());
    return parse(maps.value(), [&](std::string_view path) {
        // on a merged /usr the map may say /lib
        std::error_code error;
        const fs::path real = fs::canonical(fs::path(path), error);
        return !error && providers.contains(real.string());
    });
}

UserMap UserMap::parse(std::string_view maps,
                       const std::function<bool(std::string_view)>& is_provider)
{
    UserMap map;
    for_each_line(maps, [&](const Line& line) {
        if (!line.code)
            return;
        const Kind kind = is_servant(line.path)    ? Kind::servant
                          : is_provider(line.path) ? Kind::provider
                                                   : Kind::application;
        map.code_.push_back({line.begin, line.end, kind});
    });
    std::sort(map.code_.begin(), map.code_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    return map;
}

void UserMap::mark_polling(std::uint64_t begin, std::uint64_t end)
{
    if (begin < end)
        polling_.push_back({begin, end, Kind::polling});
}

const UserMap::Range* UserMap::find(std::uint64_t address) const
{
    for (const Range& range : polling_)
        if (address >= range.begin && address < range.end)
            return &range;
    const auto after =
        std::upper_bound(code_.begin(), code_.end(), address,
                         [](std::uint64_t wanted, const Range& r) { return wanted < r.begin; });
    if (after == code_.begin() || address >= std::prev(after)->end)
        return nullptr;
    return &*std::prev(after);
}

UserCode UserMap::who(std::uint64_t address, std::span<const std::uint64_t> stack) const
{
    const Range* leaf = find(address);
    if (!leaf)
        return UserCode::application;
    if (leaf->kind == Kind::polling)
        return UserCode::polling;
    if (leaf->kind == Kind::application)
        return UserCode::application;
    // A servant's caller; a provider that was called by a poll.
    for (const std::uint64_t word : stack) {
        const Range* caller = find(word);
        if (!caller || caller->kind == Kind::servant)
            continue;
        if (caller->kind == Kind::polling)
            return UserCode::polling;
        if (caller->kind == Kind::provider || leaf->kind == Kind::provider)
            return UserCode::provider;
        return UserCode::application;
    }
    return leaf->kind == Kind::provider ? UserCode::provider : UserCode::application;
}

}  // namespace kdp::tool::profile
