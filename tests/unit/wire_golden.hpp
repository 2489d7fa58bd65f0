// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Golden bytes: what the specification puts on the wire, written down by hand.
// Nothing here uses the functions under test to compute an expectation.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace golden {

/// A vector of bytes that GoogleTest prints as a hex dump.
struct Bytes : std::vector<std::uint8_t> {
    using vector::vector;

    friend void PrintTo(const Bytes& bytes, std::ostream* out)
    {
        static const char digits[] = "0123456789abcdef";

        for (std::size_t i = 0; i < bytes.size(); i++)
            *out << (i % 32 ? " " : "\n    ") << digits[bytes[i] >> 4] << digits[bytes[i] & 15];
    }
};

/// "7f 40 00*2 05": hex bytes; *N repeats the byte before it N times in all.
inline Bytes hex(std::string_view text)
{
    Bytes out;
    std::size_t i = 0;

    auto nibble = [](char c) -> unsigned {
        if (c >= '0' && c <= '9')
            return static_cast<unsigned>(c - '0');
        return static_cast<unsigned>(std::tolower(static_cast<unsigned char>(c)) - 'a') + 10;
    };
    while (i < text.size()) {
        if (std::isspace(static_cast<unsigned char>(text[i]))) {
            i++;
        } else if (text[i] == '*') {
            std::size_t n = 0;
            for (i++; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); i++)
                n = n * 10 + static_cast<std::size_t>(text[i] - '0');
            if (!out.empty() && n)
                out.insert(out.end(), n - 1, out.back());
        } else {
            out.push_back(static_cast<std::uint8_t>(nibble(text[i]) << 4 | nibble(text.at(i + 1))));
            i += 2;
        }
    }
    return out;
}

template <typename T>
Bytes bytes_of(const T& object)
{
    Bytes out(sizeof(T));
    std::memcpy(out.data(), &object, sizeof(T));
    return out;
}

/// An object full of 0xa5, so that a byte which a builder forgot shows.
template <typename T>
T poisoned()
{
    T object;
    std::memset(static_cast<void*>(&object), 0xa5, sizeof(object));
    return object;
}

/// A data structure of the Identify command that a test fills byte by byte.
class Page {
public:
    explicit Page(std::size_t size) : d_(size) {}

    /// Little endian, @p n bytes at byte @p off.
    Page& put(std::size_t off, std::uint64_t value, std::size_t n)
    {
        for (std::size_t i = 0; i < n; i++)
            d_.at(off + i) = static_cast<std::uint8_t>(value >> (8 * i));
        return *this;
    }
    Page& put8(std::size_t off, std::uint64_t v) { return put(off, v, 1); }
    Page& put16(std::size_t off, std::uint64_t v) { return put(off, v, 2); }
    Page& put32(std::size_t off, std::uint64_t v) { return put(off, v, 4); }
    Page& put64(std::size_t off, std::uint64_t v) { return put(off, v, 8); }

    Page& text(std::size_t off, std::string_view s, std::size_t width)
    {
        for (std::size_t i = 0; i < width; i++)
            d_.at(off + i) = i < s.size() ? static_cast<std::uint8_t>(s[i]) : ' ';
        return *this;
    }
    [[nodiscard]] const std::uint8_t* data() const { return d_.data(); }

private:
    Bytes d_;
};

}  // namespace golden
