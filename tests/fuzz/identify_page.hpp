// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A 4096-byte data structure of Identify, made from an input that has only the fields which
/// the host is meant to read.
#pragma once

#include <nvmf/identify.h>

#include "fuzz.hpp"

namespace fuzz {

/// Bytes that the host reads.
struct Field {
    std::size_t offset, length;
};

/// @p input fills the @p fields one behind the other, zeroes where it ends too soon. All other
/// bytes are @p filling: what a parser makes of a page must not depend on them.
inline Copy identify_page(std::span<const Field> fields, std::span<const std::uint8_t> input,
                          std::uint8_t filling)
{
    std::uint8_t page[NVMF_IDENTIFY_SIZE];
    std::memset(page, filling, sizeof(page));
    for (const Field& field : fields) {
        const std::size_t n = input.size() < field.length ? input.size() : field.length;
        std::memset(page + field.offset, 0, field.length);
        if (n)
            std::memcpy(page + field.offset, input.data(), n);
        input = input.subspan(n);
    }
    return Copy(page);
}

}  // namespace fuzz
