// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Whose code of this process lies at an address: the RDMA provider's library, or anybody else's.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kdp/result.hpp>

#include "profile/sample.hpp"

namespace kdp::tool::profile {

class UserMap {
public:
    /// /proc/self/maps as it is now. A provider is what libibverbs keeps beside itself in the
    /// directory "libibverbs", links followed.
    [[nodiscard]] static Result<UserMap> load();
    /// The same of @p maps, a text in that format; @p is_provider tells a library's path.
    [[nodiscard]] static UserMap parse(std::string_view maps,
                                       const std::function<bool(std::string_view)>& is_provider);

    /// Code in [begin, end) polls, or pauses between polls.
    void mark_polling(std::uint64_t begin, std::uint64_t end);

    /// Who ran at @p address, with @p stack being the topmost words of the stack. The C library
    /// works for who called it, the first address of code on the stack: it is not unwound (the
    /// libraries have no frame pointers), but what lies above the stack pointer is live.
    [[nodiscard]] UserCode who(std::uint64_t address, std::span<const std::uint64_t> stack) const;

private:
    enum class Kind : std::uint8_t { application, provider, servant, polling };
    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
        Kind kind;
    };

    [[nodiscard]] const Range* find(std::uint64_t address) const;

    std::vector<Range> code_;     // by address, apart
    std::vector<Range> polling_;  // within the former
};

}  // namespace kdp::tool::profile
