// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The kernel's functions by address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <kdp/result.hpp>

#include "profile/sample.hpp"

namespace kdp::tool::profile {

class KernelSymbols {
public:
    /// Read /proc/kallsyms: all functions, of modules as well, as they are now.
    /// Errors: EACCES, it shows no addresses (kptr_restrict, or no CAP_SYSLOG); errno of reading.
    [[nodiscard]] static Result<KernelSymbols> load();
    /// The same of @p kallsyms, a text in its format: "ADDRESS TYPE NAME[\t[MODULE]]" a line.
    [[nodiscard]] static Result<KernelSymbols> parse(std::string kallsyms);

    /// The function that @p address lies in: the one that begins last before it. An address below
    /// all functions has no symbol. Valid as long as this object.
    [[nodiscard]] Frame find(std::uint64_t address) const;

    [[nodiscard]] std::size_t size() const noexcept { return functions_.size(); }

private:
    struct Function {
        std::uint64_t address;
        std::uint32_t name;  // where in text_
        std::uint16_t name_length;
        std::uint16_t module_length;  // it begins after "\t["; 0: none
    };

    std::string text_;
    std::vector<Function> functions_;  // by address, one of each
};

}  // namespace kdp::tool::profile
