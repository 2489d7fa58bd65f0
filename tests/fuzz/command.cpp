// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Builders of commands and their data: what they put into an SQE stands where the specification
// has it, and nothing else is set. Input: arguments, one behind the other.
#include <cerrno>
#include <string>

#include <nvmf/command.h>
#include <nvmf/fabrics.h>

#include "fuzz.hpp"

namespace {

using fuzz::little;
using fuzz::zero;

void check_sgl(fuzz::Input& input)
{
    const auto address = input.number<std::uint64_t>();
    const auto length = input.number<std::uint32_t>();
    const auto rkey = input.number<std::uint32_t>();
    const bool invalidate = input.number<std::uint8_t>() & 1;
    auto sgl = fuzz::poisoned<nvmf_sgl>(0xa5);

    nvmf_sgl_set_keyed(&sgl, address, length & NVMF_KEYED_LEN_MAX, rkey, invalidate);
    FUZZ_CHECK(nvmf_sgl_keyed_length(&sgl) == (length & NVMF_KEYED_LEN_MAX));
    FUZZ_CHECK(nvmf_sgl_keyed_rkey(&sgl) == rkey);
    FUZZ_CHECK(little(&sgl, 0, 8) == address);
    FUZZ_CHECK(little(&sgl, 8, 3) == (length & NVMF_KEYED_LEN_MAX));
    FUZZ_CHECK(little(&sgl, 11, 4) == rkey);
    FUZZ_CHECK(little(&sgl, 15, 1) == (invalidate ? 0x4f : 0x40));

    nvmf_sgl_set_inline(&sgl, address, length);
    FUZZ_CHECK(little(&sgl, 0, 8) == address && little(&sgl, 8, 4) == length);
    FUZZ_CHECK(zero(&sgl, 12, 15) && little(&sgl, 15, 1) == 0x01);

    nvmf_sgl_set_none(&sgl);
    FUZZ_CHECK(zero(&sgl, 0, 15) && little(&sgl, 15, 1) == 0x40);
}

/// Opcode, flags, namespace or type; no identifier, metadata or data pointer; cdw @p used and on 0.
void check_head(const nvmf_sqe& sqe, unsigned opcode, std::uint32_t nsid, std::size_t used)
{
    FUZZ_CHECK(little(&sqe, 0, 1) == opcode && little(&sqe, 1, 1) == 0x40);
    FUZZ_CHECK(zero(&sqe, 2, 4));
    FUZZ_CHECK(little(&sqe, 4, 4) == nsid);
    FUZZ_CHECK(zero(&sqe, 8, 40));
    FUZZ_CHECK(zero(&sqe, used, 64));
}

void check_io(fuzz::Input& input)
{
    const auto nsid = input.number<std::uint32_t>();
    const auto slba = input.number<std::uint64_t>();
    const std::uint32_t nlb = input.number<std::uint16_t>() + 1U;
    const auto control = input.number<std::uint8_t>() & 3U;
    const auto opcode = static_cast<std::uint8_t>(control & 1 ? NVMF_IO_READ : NVMF_IO_WRITE);
    auto sqe = fuzz::poisoned<nvmf_sqe>(0xa5);

    nvmf_build_rw(&sqe, opcode, nsid, slba, nlb, control << 30);
    check_head(sqe, opcode, nsid, 52);
    FUZZ_CHECK(little(&sqe, 40, 8) == slba);
    FUZZ_CHECK(little(&sqe, 48, 2) + 1 == nlb);
    FUZZ_CHECK(little(&sqe, 50, 2) == control << 14);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    auto range = fuzz::poisoned<nvmf_dsm_range>(0xa5);
    nvmf_build_deallocate(&sqe, &range, nsid, slba, nlb);
    check_head(sqe, 0x09, nsid, 48);
    FUZZ_CHECK(little(&sqe, 40, 4) == 0 && little(&sqe, 44, 4) == 4);
    FUZZ_CHECK(zero(&range, 0, 4));
    FUZZ_CHECK(little(&range, 4, 4) == nlb && little(&range, 8, 8) == slba);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_flush(&sqe, nsid);
    check_head(sqe, 0x00, nsid, 40);
}

void check_admin(fuzz::Input& input)
{
    const auto cns = input.number<std::uint8_t>();
    const auto nsid = input.number<std::uint32_t>();
    const std::uint32_t queues = input.number<std::uint16_t>() % 65535U + 1;
    auto sqe = fuzz::poisoned<nvmf_sqe>(0xa5);

    nvmf_build_identify(&sqe, cns, nsid);
    check_head(sqe, 0x06, nsid, 44);
    FUZZ_CHECK(little(&sqe, 40, 4) == cns);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_set_num_queues(&sqe, queues);
    check_head(sqe, 0x09, 0, 48);
    FUZZ_CHECK(little(&sqe, 40, 4) == 0x07);
    FUZZ_CHECK(little(&sqe, 44, 2) + 1 == queues && little(&sqe, 46, 2) + 1 == queues);
    // a controller that allots what was asked for answers with the same dword
    FUZZ_CHECK(nvmf_num_queues(little(&sqe, 44, 4)) == queues);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_keep_alive(&sqe);
    check_head(sqe, 0x18, 0, 40);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_set_events(&sqe, nsid);
    check_head(sqe, 0x09, 0, 48);
    FUZZ_CHECK(little(&sqe, 40, 4) == 0x0b && little(&sqe, 44, 4) == nsid);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_async_event(&sqe);
    check_head(sqe, 0x0c, 0, 40);

    const std::uint32_t bytes = queues * 4 + (nsid & 0x7fff0000);
    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_get_log_page(&sqe, cns, nsid, bytes);
    check_head(sqe, 0x02, nsid, 46);
    FUZZ_CHECK(little(&sqe, 40, 1) == cns && little(&sqe, 41, 1) == 0);
    FUZZ_CHECK((little(&sqe, 42, 4) + 1) * 4 == bytes);
}

void check_properties(fuzz::Input& input)
{
    const auto offset = input.number<std::uint32_t>();
    const auto value = input.number<std::uint32_t>();
    const bool eight = value & 1;
    auto sqe = fuzz::poisoned<nvmf_sqe>(0xa5);

    nvmf_build_property_get(&sqe, offset, eight);
    check_head(sqe, 0x7f, 0x04, 48);
    FUZZ_CHECK(little(&sqe, 40, 4) == (eight ? 1 : 0) && little(&sqe, 44, 4) == offset);

    sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    nvmf_build_property_set(&sqe, offset, value);
    check_head(sqe, 0x7f, 0x00, 56);
    FUZZ_CHECK(zero(&sqe, 40, 44));
    FUZZ_CHECK(little(&sqe, 44, 4) == offset && little(&sqe, 48, 8) == value);
}

/// Results of commands, in 64 bits that the controller chose.
void check_results(fuzz::Input& input)
{
    const auto result = input.number<std::uint64_t>();
    const std::uint64_t page = nvmf_cap_page_min(result);

    const nvmf_event event = nvmf_event_parse(result);
    FUZZ_CHECK(event.type == (result & 7) && event.info == (result >> 8 & 255) &&
               event.lid == (result >> 16 & 255));
    FUZZ_CHECK(nvmf_event_is_ns_change(&event) == ((result & 0xff07) == 2));

    FUZZ_CHECK(nvmf_num_queues(result) >= 1 && nvmf_num_queues(result) <= 65536);
    FUZZ_CHECK(nvmf_cap_queue_entries(result) >= 1 && nvmf_cap_queue_entries(result) <= 65536);
    FUZZ_CHECK(nvmf_cap_timeout_ms(result) <= 255 * 500);
    FUZZ_CHECK(page >= 1U << 12 && page <= 1U << 27 && (page & (page - 1)) == 0);
    FUZZ_CHECK(nvmf_connect_cntlid(result) == (result & 0xffff));
    FUZZ_CHECK(nvmf_connect_bad_offset(result) == (result & 0xffff));
    FUZZ_CHECK(nvmf_connect_bad_is_data(result) == ((result & 0x10000) != 0));
}

/// @p field: 256 bytes that hold @p name, a NUL, and only zeroes behind.
void check_name(const void* field, const std::string& name)
{
    FUZZ_CHECK(std::memcmp(field, name.c_str(), name.size() + 1) == 0);
    FUZZ_CHECK(zero(field, name.size(), NVMF_NQN_FIELD));
}

void check_connect(fuzz::Input& input)
{
    const auto qid = input.number<std::uint16_t>();
    const std::uint32_t entries = input.number<std::uint16_t>() + 1U;
    const auto kato = input.number<std::uint32_t>();
    const auto cntlid = input.number<std::uint16_t>();
    const std::string subsystem(input.text(0)), host(input.text(0));
    const fuzz::Copy id(std::span<const std::uint8_t>(
        reinterpret_cast<const std::uint8_t*>("0123456789abcdef"), NVMF_HOSTID_SIZE));
    auto sqe = fuzz::poisoned<nvmf_sqe>(0xa5);
    auto data = fuzz::poisoned<nvmf_connect_data>(0xa5);

    nvmf_build_connect(&sqe, qid, entries, kato);
    check_head(sqe, 0x7f, 0x01, 52);
    FUZZ_CHECK(little(&sqe, 40, 2) == 0 && little(&sqe, 42, 2) == qid);
    FUZZ_CHECK(little(&sqe, 44, 2) + 1 == entries && little(&sqe, 46, 2) == 0);
    FUZZ_CHECK(little(&sqe, 48, 4) == kato);

    const int rc =
        nvmf_connect_data_fill(&data, id.data(), cntlid, subsystem.c_str(), host.c_str());
    if (subsystem.size() > NVMF_NQN_SIZE || host.size() > NVMF_NQN_SIZE) {
        FUZZ_CHECK(rc == -ENAMETOOLONG);
        return;
    }
    if (subsystem.empty() || host.empty()) {
        FUZZ_CHECK(rc == -EINVAL);
        return;
    }
    FUZZ_CHECK(rc == 0);
    FUZZ_CHECK(std::memcmp(&data, id.data(), NVMF_HOSTID_SIZE) == 0);
    FUZZ_CHECK(little(&data, 16, 2) == cntlid && zero(&data, 18, 256) && zero(&data, 768, 1024));
    check_name(data.subsysnqn, subsystem);
    check_name(data.hostnqn, host);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::Input input(data, size);

    check_results(input);
    check_sgl(input);
    check_io(input);
    check_admin(input);
    check_properties(input);
    check_connect(input);
    return 0;
}
