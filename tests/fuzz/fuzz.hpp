// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What the fuzz harnesses share. Each harness is one LLVMFuzzerTestOneInput(), which states
/// properties with FUZZ_CHECK; libFuzzer feeds it (make fuzz-wire), or replay.cpp the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// A property that must hold, whatever the input.
#define FUZZ_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : fuzz::violated(#condition, __FILE__, __LINE__))

namespace fuzz {

[[noreturn]] inline void violated(const char* property, const char* file, int line)
{
    std::fprintf(stderr, "%s:%d: property violated: %s\n", file, line, property);
    std::abort();
}

/// A copy on the heap of exactly so many bytes: a sanitizer sees what is read beyond.
class Copy {
public:
    explicit Copy(std::span<const std::uint8_t> bytes)
        : bytes_(new std::uint8_t[bytes.size()]), size_(bytes.size())
    {
        if (!bytes.empty())
            std::memcpy(bytes_.get(), bytes.data(), bytes.size());
    }
    [[nodiscard]] std::uint8_t* data() const { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::size_t size_;
};

/// The input as a source of numbers and texts; zeroes and empty texts when it is used up.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    template <typename T>
    T number()
    {
        T value{};
        const std::size_t n = rest_.size() < sizeof(T) ? rest_.size() : sizeof(T);
        if (n)
            std::memcpy(&value, rest_.data(), n);
        rest_ = rest_.subspan(n);
        return value;
    }

    /// What stands before the next @p separator, which is skipped.
    std::string_view text(std::uint8_t separator)
    {
        std::size_t n = 0;
        while (n < rest_.size() && rest_[n] != separator)
            n++;
        const std::string_view part(reinterpret_cast<const char*>(rest_.data()), n);
        rest_ = rest_.subspan(n < rest_.size() ? n + 1 : n);
        return part;
    }

    [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

private:
    std::span<const std::uint8_t> rest_;
};

/// A little-endian number of @p n bytes, read without the code under test.
inline std::uint64_t little(const void* base, std::size_t offset, std::size_t n)
{
    const auto* bytes = static_cast<const std::uint8_t*>(base) + offset;
    std::uint64_t value = 0;

    while (n-- > 0)
        value = value << 8 | bytes[n];
    return value;
}

/// Whether bytes @p from to @p to (beyond the last) are all zero.
inline bool zero(const void* base, std::size_t from, std::size_t to)
{
    for (const auto* bytes = static_cast<const std::uint8_t*>(base); from < to; from++)
        if (bytes[from] != 0)
            return false;
    return true;
}

/// Padding included: for objects that were filled with poisoned() or zeroes first.
inline bool same_bytes(const void* a, const void* b, std::size_t n)
{
    return std::memcmp(a, b, n) == 0;
}

/// An object full of @p byte, so that what a parser or builder left unset shows.
template <typename T>
T poisoned(int byte)
{
    T object;
    std::memset(static_cast<void*>(&object), byte, sizeof(object));
    return object;
}

}  // namespace fuzz
