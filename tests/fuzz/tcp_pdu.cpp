// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// PDUs of NVMe over TCP, as a host receives them. Input: digests and alignment (two bytes), the
// size of a command's data (4), then the PDU.
#include <nvmf/tcp.h>

#include <cerrno>

#include "fuzz.hpp"

namespace {

struct Settings {
    nvmf_tcp_params params;
    std::uint32_t size;
};

/// Wrong is told with a fault that the specification has.
void check_fault(int rc, const nvmf_tcp_fault& fault)
{
    FUZZ_CHECK(rc == -EPROTO || rc == -EPROTONOSUPPORT || rc == -EOPNOTSUPP);
    FUZZ_CHECK(fault.fes >= 1 && fault.fes <= 6);
    FUZZ_CHECK(std::strlen(nvmf_tcp_fes_text(fault.fes)) > 0);
}

void check_ic_resp(const fuzz::Copy& pdu, std::uint8_t dgst)
{
    nvmf_tcp_icreq request;
    auto params = fuzz::poisoned<nvmf_tcp_params>(0);
    auto fault = fuzz::poisoned<nvmf_tcp_fault>(0xa5);

    if (pdu.size() < 128)
        return;
    nvmf_tcp_icreq_fill(&request, 0, dgst & 3, 1);
    const int rc = nvmf_tcp_icresp_parse(pdu.data(), &request, &params, &fault);
    if (rc) {
        check_fault(rc, fault);
        return;
    }
    FUZZ_CHECK(fuzz::little(pdu.data(), 0, 1) == 1 && fuzz::little(pdu.data(), 2, 1) == 128);
    FUZZ_CHECK(fuzz::little(pdu.data(), 4, 4) == 128 && fuzz::little(pdu.data(), 8, 2) == 0);
    FUZZ_CHECK(params.cpda == fuzz::little(pdu.data(), 10, 1) && params.cpda <= 31);
    FUZZ_CHECK(params.maxh2cdata == fuzz::little(pdu.data(), 12, 4));
    FUZZ_CHECK(params.maxh2cdata >= 4096 && params.maxh2cdata % 4 == 0);
    FUZZ_CHECK(params.hdgst == ((dgst & 1) != 0) && params.ddgst == ((dgst & 2) != 0));
    // what we send then has its parts in order, whatever was agreed on
    nvmf_tcp_cmd cmd{};
    nvmf_tcp_cmd_fill(&cmd, 4096, &params);
    FUZZ_CHECK(cmd.hdr.pdo >= 72 + (params.hdgst ? 4 : 0) && cmd.hdr.pdo <= 128);
    FUZZ_CHECK(cmd.hdr.pdo % ((params.cpda + 1) * 4) == 0);
    FUZZ_CHECK(cmd.hdr.plen == cmd.hdr.pdo + 4096U + (params.ddgst ? 4 : 0));
}

void check_transfer(const fuzz::Copy& pdu, const nvmf_tcp_layout& layout, std::uint32_t size)
{
    auto transfer = fuzz::poisoned<nvmf_tcp_transfer>(0xa5);
    auto fault = fuzz::poisoned<nvmf_tcp_fault>(0xa5);
    const int rc = nvmf_tcp_transfer_parse(pdu.data(), &layout, &transfer, &fault);
    const std::uint64_t offset = fuzz::little(pdu.data(), 12, 4);
    const std::uint64_t length = fuzz::little(pdu.data(), 16, 4);
    const bool good = length != 0 && (layout.type == NVMF_TCP_R2T || length == layout.data);

    FUZZ_CHECK(good == (rc == 0));
    if (rc) {
        check_fault(rc, fault);
        return;
    }
    FUZZ_CHECK(transfer.cid == fuzz::little(pdu.data(), 8, 2));
    FUZZ_CHECK(transfer.ttag == fuzz::little(pdu.data(), 10, 2));
    FUZZ_CHECK(transfer.offset == offset && transfer.length == length);
    // in 64 bits nothing wraps
    FUZZ_CHECK(nvmf_tcp_transfer_inside(&transfer, size) == (offset + length <= size));
}

void check_layout(const fuzz::Copy& pdu, const nvmf_tcp_layout& layout,
                  const nvmf_tcp_params& params)
{
    const std::uint64_t plen = fuzz::little(pdu.data(), 4, 4);

    FUZZ_CHECK(layout.type == pdu.data()[0] && layout.flags == pdu.data()[1]);
    FUZZ_CHECK(layout.hlen == 24 && layout.head >= 24);
    // the parts are the whole
    FUZZ_CHECK(std::uint64_t{layout.head} + layout.data + layout.tail == plen);
    const bool term = layout.type == NVMF_TCP_C2H_TERM;
    FUZZ_CHECK(layout.head >= 24 + (params.hdgst && !term ? 4 : 0));
    if (layout.type == NVMF_TCP_C2H_DATA) {
        FUZZ_CHECK(layout.data != 0 && layout.tail == (params.ddgst ? 4 : 0));
        FUZZ_CHECK(layout.head == pdu.data()[3]);
        FUZZ_CHECK(layout.head % ((params.hpda + 1) * 4) == 0);
        FUZZ_CHECK(!(layout.flags & NVMF_TCP_F_SUCCESS) || (layout.flags & NVMF_TCP_F_LAST));
    } else {
        FUZZ_CHECK(layout.tail == 0 && layout.data <= (term ? 128 : 0));
    }
}

void check_pdu(const fuzz::Copy& pdu, const Settings& settings)
{
    auto layout = fuzz::poisoned<nvmf_tcp_layout>(0xa5);
    auto fault = fuzz::poisoned<nvmf_tcp_fault>(0xa5);

    if (pdu.size() < 8)
        return;
    const int rc = nvmf_tcp_hdr_parse(pdu.data(), &settings.params, &layout, &fault);
    if (rc) {
        check_fault(rc, fault);
        return;
    }
    check_layout(pdu, layout, settings.params);
    if (pdu.size() < 24)
        return;
    if (layout.type == NVMF_TCP_C2H_DATA || layout.type == NVMF_TCP_R2T)
        check_transfer(pdu, layout, settings.size);
    if (layout.type == NVMF_TCP_C2H_TERM) {
        nvmf_tcp_term_parse(pdu.data(), &fault);
        FUZZ_CHECK(fault.fes == fuzz::little(pdu.data(), 8, 2));
        FUZZ_CHECK(fault.fei == fuzz::little(pdu.data(), 10, 4));
        FUZZ_CHECK(std::strlen(nvmf_tcp_fes_text(fault.fes)) > 0);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::Input input(data, size);
    const auto dgst = input.number<std::uint8_t>();
    Settings settings{};
    settings.params.hdgst = dgst & 1;
    settings.params.ddgst = dgst & 2;
    settings.params.hpda = input.number<std::uint8_t>() & 31;
    settings.size = input.number<std::uint32_t>();
    const fuzz::Copy pdu(input.rest());

    check_ic_resp(pdu, dgst);
    check_pdu(pdu, settings);
    return 0;
}
