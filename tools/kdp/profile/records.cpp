// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/records.hpp"

#include <linux/perf_event.h>

#include <cstring>

namespace kdp::tool::profile {
namespace {

/// Reads what the kernel wrote, never beyond the record.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    bool take(T& value)
    {
        if (bytes_.size() < sizeof(value))
            return false;
        std::memcpy(&value, bytes_.data(), sizeof(value));
        bytes_ = bytes_.subspan(sizeof(value));
        return true;
    }

    bool words(std::uint64_t count, std::vector<std::uint64_t>& out)
    {
        if (count > bytes_.size() / sizeof(std::uint64_t))
            return false;
        out.resize(count);
        if (count > 0)
            std::memcpy(out.data(), bytes_.data(), count * sizeof(std::uint64_t));
        bytes_ = bytes_.subspan(count * sizeof(std::uint64_t));
        return true;
    }

private:
    std::span<const std::byte> bytes_;
};

// Markers in a call chain, the last 4095 addresses there are.
constexpr std::uint64_t first_marker = static_cast<std::uint64_t>(PERF_CONTEXT_MAX);

void split_chain(const std::vector<std::uint64_t>& chain, RawSample& sample)
{
    std::vector<std::uint64_t>* into = nullptr;
    for (const std::uint64_t address : chain) {
        if (address == static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL))
            into = &sample.kernel;
        else if (address == static_cast<std::uint64_t>(PERF_CONTEXT_USER))
            into = &sample.user;
        else if (address >= first_marker)
            into = nullptr;  // a hypervisor, a guest
        else if (into)
            into->push_back(address);
    }
}

bool parse_sample(Reader reader, RawSample& sample)
{
    std::vector<std::uint64_t> chain;
    std::uint64_t count = 0, stack_bytes = 0, used_bytes = 0;
    if (!reader.take(sample.process) || !reader.take(sample.thread) || !reader.take(count) ||
        !reader.words(count, chain) || !reader.take(stack_bytes) ||
        !reader.words(stack_bytes / sizeof(std::uint64_t), sample.user_stack))
        return false;
    // After a stack that is not empty: how much of it was there to be copied.
    if (stack_bytes > 0) {
        if (!reader.take(used_bytes))
            return false;
        const std::uint64_t used_words = used_bytes / sizeof(std::uint64_t);
        if (used_words < sample.user_stack.size())
            sample.user_stack.resize(used_words);
    }
    split_chain(chain, sample);
    return true;
}

}  // namespace

Parsed parse_records(std::span<const std::byte> bytes,
                     const std::function<void(const RawSample&)>& each)
{
    Parsed parsed;
    while (!bytes.empty()) {
        perf_event_header header{};
        if (bytes.size() < sizeof(header)) {
            parsed.malformed = true;
            break;
        }
        std::memcpy(&header, bytes.data(), sizeof(header));
        if (header.size < sizeof(header) || header.size > bytes.size()) {
            parsed.malformed = true;
            break;
        }
        Reader body(bytes.subspan(sizeof(header), header.size - sizeof(header)));
        bytes = bytes.subspan(header.size);
        if (header.type == PERF_RECORD_SAMPLE) {
            RawSample sample;
            if (!parse_sample(body, sample)) {
                parsed.malformed = true;
                break;
            }
            parsed.samples++;
            each(sample);
        } else if (header.type == PERF_RECORD_LOST) {
            std::uint64_t id = 0, lost = 0;
            if (body.take(id) && body.take(lost))
                parsed.lost += lost;
        }
    }
    return parsed;
}

}  // namespace kdp::tool::profile
