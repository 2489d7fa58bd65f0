// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What perf events write into their ring buffer, taken apart. Layout: perf_event_open(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kdp::tool::profile {

/// A sample of PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER.
struct RawSample {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::vector<std::uint64_t> kernel;      ///< addresses, innermost first
    std::vector<std::uint64_t> user;        ///< likewise; as far as frame pointers tell
    std::vector<std::uint64_t> user_stack;  ///< words from the stack pointer on
};

/// A stretch of the ring: what it held, and how much of it could be read.
struct Parsed {
    std::uint64_t samples = 0;
    std::uint64_t lost = 0;  ///< as PERF_RECORD_LOST tells
    bool malformed = false;  ///< a record that does not fit; what follows was left
};

/// Hand each sample in @p bytes, whole records in a row, to @p each.
Parsed parse_records(std::span<const std::byte> bytes,
                     const std::function<void(const RawSample&)>& each);

}  // namespace kdp::tool::profile
