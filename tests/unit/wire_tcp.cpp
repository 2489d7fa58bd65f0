// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// PDUs of NVMe over TCP. NVMe TCP Transport 1.0, 3.6.2.

#include "wire_golden.hpp"

#include <nvmf/tcp.h>

#include <cerrno>

using golden::bytes_of;
using golden::hex;
using golden::Page;
using golden::poisoned;

namespace {

constexpr nvmf_tcp_params no_digests{false, false, 0, 0, 4096};
constexpr nvmf_tcp_params both_digests{true, true, 0, 0, 4096};

// Common header: type 0, flags 1, HLEN 2, PDO 3, PLEN 4-7.
// ICReq: PFV 8-9, HPDA 10, DGST 11, MAXR2T 12-15 (0-based), 112 reserved.
TEST(WireTcp, IcReq)
{
    auto req = poisoned<nvmf_tcp_icreq>();

    nvmf_tcp_icreq_fill(&req, 7, NVMF_TCP_DGST_HEADER | NVMF_TCP_DGST_DATA, 0x01020304);
    EXPECT_EQ(bytes_of(req), hex("00 00 80 00  80 00 00 00  00 00 07 03  03 03 02 01  00*112"));
    nvmf_tcp_icreq_fill(&req, 0, 0, 1);
    EXPECT_EQ(bytes_of(req), hex("00 00 80 00  80 00 00 00  00 00 00 00  00 00 00 00  00*112"));
}

class WireTcpIcResp : public testing::Test {
protected:
    WireTcpIcResp()
    {
        nvmf_tcp_icreq_fill(&req_, 3, NVMF_TCP_DGST_HEADER, 1);
        page_.put8(0, 1).put8(2, 128).put32(4, 128);
        page_.put8(10, 31).put8(11, 1).put32(12, 0x00400000);
    }
    int parse() { return nvmf_tcp_icresp_parse(page_.data(), &req_, &params_, &fault_); }
    void expect_fault(int error, unsigned fes, unsigned fei)
    {
        fault_ = {};
        EXPECT_EQ(parse(), error);
        EXPECT_EQ(fault_.fes, fes);
        EXPECT_EQ(fault_.fei, fei);
    }

    nvmf_tcp_icreq req_;
    Page page_{128};
    nvmf_tcp_params params_ = poisoned<nvmf_tcp_params>();
    nvmf_tcp_fault fault_{};
};

TEST_F(WireTcpIcResp, IsRead)
{
    ASSERT_EQ(parse(), 0);
    EXPECT_TRUE(params_.hdgst);
    EXPECT_FALSE(params_.ddgst);
    EXPECT_EQ(params_.hpda, 3);
    EXPECT_EQ(params_.cpda, 31);
    EXPECT_EQ(params_.maxh2cdata, 0x00400000U);
}

TEST_F(WireTcpIcResp, LimitsOfMaxh2cdata)
{
    page_.put32(12, 4096);
    EXPECT_EQ(parse(), 0);
    page_.put32(12, 0xfffffffc);
    EXPECT_EQ(parse(), 0);
    for (const unsigned bad : {0U, 4092U, 4097U, 0xffffffffU}) {
        page_.put32(12, bad);
        expect_fault(-EPROTO, 1, 12);
    }
}

TEST_F(WireTcpIcResp, IsRefused)
{
    page_.put8(0, 5);
    expect_fault(-EPROTO, 2, 0);
    page_.put8(0, 1).put8(2, 24);
    expect_fault(-EPROTO, 1, 2);
    page_.put8(2, 128).put32(4, 132);
    expect_fault(-EPROTO, 1, 4);
    page_.put32(4, 128).put16(8, 1);
    expect_fault(-EPROTONOSUPPORT, 6, 8);
    page_.put16(8, 0).put8(10, 32);
    expect_fault(-EPROTO, 1, 10);
    page_.put8(10, 0).put8(11, 3);  // a digest that nobody asked for
    expect_fault(-EPROTO, 1, 11);
    page_.put8(11, 0);
    expect_fault(-EOPNOTSUPP, 6, 11);
    page_.put8(11, 1);
    EXPECT_EQ(parse(), 0);
}

TEST(WireTcp, PlaceOfData)
{
    EXPECT_EQ(nvmf_tcp_pdo(72, false, 0), 72);
    EXPECT_EQ(nvmf_tcp_pdo(72, true, 0), 76);
    EXPECT_EQ(nvmf_tcp_pdo(72, false, 1), 72);
    EXPECT_EQ(nvmf_tcp_pdo(72, true, 1), 80);
    EXPECT_EQ(nvmf_tcp_pdo(72, true, 31), 128);
    EXPECT_EQ(nvmf_tcp_pdo(24, false, 2), 24);
    EXPECT_EQ(nvmf_tcp_pdo(24, true, 2), 36);
}

TEST(WireTcp, CapsuleCmd)
{
    auto cmd = poisoned<nvmf_tcp_cmd>();

    std::memset(&cmd.sqe, 0x11, sizeof(cmd.sqe));
    nvmf_tcp_cmd_fill(&cmd, 0, &no_digests);
    EXPECT_EQ(bytes_of(cmd), hex("04 00 48 00  48 00 00 00  11*64"));
    nvmf_tcp_cmd_fill(&cmd, 0, &both_digests);
    EXPECT_EQ(bytes_of(cmd), hex("04 01 48 00  4c 00 00 00  11*64"));
    nvmf_tcp_cmd_fill(&cmd, 0x1000, &no_digests);
    EXPECT_EQ(bytes_of(cmd), hex("04 00 48 48  48 10 00 00  11*64"));
    nvmf_tcp_cmd_fill(&cmd, 0x1000, &both_digests);
    EXPECT_EQ(bytes_of(cmd), hex("04 03 48 4c  50 10 00 00  11*64"));
    nvmf_tcp_params aligned = both_digests;
    aligned.cpda = 31;
    nvmf_tcp_cmd_fill(&cmd, 0x1000, &aligned);
    EXPECT_EQ(bytes_of(cmd), hex("04 03 48 80  84 10 00 00  11*64"));
}

// CCCID 8-9, TTAG 10-11, DATAO 12-15, DATAL 16-19, 4 reserved.
TEST(WireTcp, H2CData)
{
    auto data = poisoned<nvmf_tcp_data>();

    nvmf_tcp_h2c_data_fill(&data, 0x0102, 0x0304, 0x05060708, 0x200, false, &no_digests);
    EXPECT_EQ(bytes_of(data),
              hex("06 00 18 18  18 02 00 00  02 01 04 03  08 07 06 05  00 02 00 00  00*4"));
    nvmf_tcp_h2c_data_fill(&data, 0x0102, 0x0304, 0, 0x200, true, &both_digests);
    EXPECT_EQ(bytes_of(data),
              hex("06 07 18 1c  20 02 00 00  02 01 04 03  00 00 00 00  00 02 00 00  00*4"));
}

// FES 8-9, FEI 10-13, 10 reserved; then what was wrong.
TEST(WireTcp, TerminateRequests)
{
    auto term = poisoned<nvmf_tcp_term>();
    const nvmf_tcp_fault fault{NVMF_TCP_FES_HDGST, 0x04030201};
    nvmf_tcp_fault read{};

    nvmf_tcp_h2c_term_fill(&term, &fault, 24);
    EXPECT_EQ(bytes_of(term), hex("02 00 18 00  30 00 00 00  03 00 01 02 03 04  00*10"));
    nvmf_tcp_term_parse(&term, &read);
    EXPECT_EQ(read.fes, 3);
    EXPECT_EQ(read.fei, 0x04030201U);
    nvmf_tcp_h2c_term_fill(&term, &fault, 4000);
    EXPECT_EQ(term.hdr.plen, 152U);
    for (unsigned fes = 0; fes < 8; fes++)
        EXPECT_GT(std::strlen(nvmf_tcp_fes_text(static_cast<std::uint16_t>(fes))), 0U);
}

TEST(WireTcp, Descriptor)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_tcp_sgl_set(&sgl, 0x01020304);
    EXPECT_EQ(bytes_of(sgl), hex("00*8 04 03 02 01 00*3 5a"));
}

TEST(WireTcp, Digest)
{
    std::uint8_t at[4];

    // RFC 3720, B.4: the CRC of 32 zeroes, as it stands on the wire
    nvmf_tcp_put_digest(at, 0x8a9136aa);
    EXPECT_EQ(bytes_of(at), hex("aa 36 91 8a"));
    EXPECT_EQ(nvmf_tcp_get_digest(at), 0x8a9136aaU);
}

class WireTcpHeader : public testing::Test {
protected:
    int parse(std::string_view text, const nvmf_tcp_params& params = no_digests)
    {
        const auto bytes = hex(text);
        layout_ = poisoned<nvmf_tcp_layout>();
        fault_ = {};
        return nvmf_tcp_hdr_parse(bytes.data(), &params, &layout_, &fault_);
    }
    void expect_layout(unsigned head, unsigned data, unsigned tail)
    {
        EXPECT_EQ(layout_.hlen, 24);
        EXPECT_EQ(layout_.head, head);
        EXPECT_EQ(layout_.data, data);
        EXPECT_EQ(layout_.tail, tail);
    }
    void expect_fault(std::string_view text, unsigned fes, unsigned fei,
                      const nvmf_tcp_params& params = no_digests)
    {
        EXPECT_EQ(parse(text, params), -EPROTO) << text;
        EXPECT_EQ(fault_.fes, fes) << text;
        EXPECT_EQ(fault_.fei, fei) << text;
    }

    nvmf_tcp_layout layout_;
    nvmf_tcp_fault fault_;
};

TEST_F(WireTcpHeader, CapsuleRespAndR2T)
{
    for (const char* type : {"05", "09"}) {
        const std::string t = type;
        ASSERT_EQ(parse(t + " 00 18 00  18 00 00 00"), 0);
        expect_layout(24, 0, 0);
        ASSERT_EQ(parse(t + " 01 18 00  1c 00 00 00", both_digests), 0);
        expect_layout(28, 0, 0);
        expect_fault(t + " 00 18 00  1c 00 00 00", 1, 4);
        expect_fault(t + " 00 18 00  17 00 00 00", 1, 4);
        expect_fault(t + " 00 19 00  19 00 00 00", 1, 2);
        expect_fault(t + " 01 18 00  1c 00 00 00", 1, 1);
        expect_fault(t + " 00 18 00  18 00 00 00", 1, 1, both_digests);
    }
}

TEST_F(WireTcpHeader, C2HData)
{
    ASSERT_EQ(parse("07 04 18 18  18 10 00 00"), 0);
    expect_layout(24, 0x1000, 0);
    ASSERT_EQ(parse("07 0f 18 1c  20 10 00 00", both_digests), 0);
    expect_layout(28, 0x1000, 4);
    EXPECT_EQ(layout_.flags, 0x0f);
    // padding that we did not ask for
    ASSERT_EQ(parse("07 00 18 fc  fd 00 00 00"), 0);
    expect_layout(252, 1, 0);
    ASSERT_EQ(parse("07 00 18 18  ff ff ff ff"), 0);
    expect_layout(24, 0xffffffff - 24, 0);

    expect_fault("07 00 18 18  18 00 00 00", 1, 4);                // no data
    expect_fault("07 03 18 1c  20 00 00 00", 1, 4, both_digests);  // nothing but a digest
    expect_fault("07 03 18 1c  1d 00 00 00", 1, 4, both_digests);
    expect_fault("07 00 18 18  00 00 00 00", 1, 4);
    expect_fault("07 00 18 14  18 10 00 00", 1, 3);  // inside the header
    expect_fault("07 00 18 00  18 10 00 00", 1, 3);
    expect_fault("07 03 18 18  20 10 00 00", 1, 3, both_digests);  // inside its digest
    expect_fault("07 00 18 19  19 10 00 00", 1, 3);                // not aligned
    expect_fault("07 08 18 18  18 10 00 00", 1, 1);                // SUCCESS, but not the last
    expect_fault("07 02 18 18  1c 10 00 00", 1, 1);
    expect_fault("07 01 18 1c  20 10 00 00", 1, 1, both_digests);
    nvmf_tcp_params aligned = no_digests;
    aligned.hpda = 15;
    expect_fault("07 00 18 20  30 10 00 00", 1, 3, aligned);
    EXPECT_EQ(parse("07 00 18 40  50 10 00 00", aligned), 0);
}

TEST_F(WireTcpHeader, C2HTermReq)
{
    ASSERT_EQ(parse("03 00 18 00  18 00 00 00"), 0);
    expect_layout(24, 0, 0);
    ASSERT_EQ(parse("03 00 18 00  98 00 00 00", both_digests), 0);
    expect_layout(24, 128, 0);
    expect_fault("03 00 18 00  17 00 00 00", 1, 4);
    expect_fault("03 00 18 00  99 00 00 00", 1, 4);
}

TEST_F(WireTcpHeader, WhatNoControllerSends)
{
    expect_fault("01 00 80 00  80 00 00 00", 2, 0);
    for (const char* type : {"00", "02", "04", "06", "08", "0a", "ff"})
        expect_fault(std::string(type) + " 00 18 00  18 00 00 00", 1, 0);
}

TEST(WireTcp, TransferFields)
{
    const auto bytes = hex("07 04 18 18  18 02 00 00  02 01 04 03  08 07 06 05  00 02 00 00  00*4");
    nvmf_tcp_layout layout{NVMF_TCP_C2H_DATA, 4, 24, 24, 0x200, 0};
    nvmf_tcp_transfer t{};
    nvmf_tcp_fault fault{};

    ASSERT_EQ(nvmf_tcp_transfer_parse(bytes.data(), &layout, &t, &fault), 0);
    EXPECT_EQ(t.cid, 0x0102);
    EXPECT_EQ(t.ttag, 0x0304);
    EXPECT_EQ(t.offset, 0x05060708U);
    EXPECT_EQ(t.length, 0x200U);
    layout.data = 0x201;
    EXPECT_EQ(nvmf_tcp_transfer_parse(bytes.data(), &layout, &t, &fault), -EPROTO);
    EXPECT_EQ(fault.fei, 16U);
    layout = {NVMF_TCP_R2T, 0, 24, 24, 0, 0};
    EXPECT_EQ(nvmf_tcp_transfer_parse(bytes.data(), &layout, &t, &fault), 0);
    const auto none = hex("09 00 18 00  18 00 00 00  02 01 04 03  00*12");
    EXPECT_EQ(nvmf_tcp_transfer_parse(none.data(), &layout, &t, &fault), -EPROTO);
}

TEST(WireTcp, RangesDoNotWrap)
{
    const auto inside = [](std::uint32_t offset, std::uint32_t length, std::uint32_t size) {
        const nvmf_tcp_transfer t{0, 0, offset, length};
        return nvmf_tcp_transfer_inside(&t, size);
    };

    EXPECT_TRUE(inside(0, 4096, 4096));
    EXPECT_TRUE(inside(4095, 1, 4096));
    EXPECT_TRUE(inside(4096, 0, 4096));
    EXPECT_FALSE(inside(0, 4097, 4096));
    EXPECT_FALSE(inside(4096, 1, 4096));
    EXPECT_FALSE(inside(4097, 0, 4096));
    EXPECT_FALSE(inside(0xfffff000, 0x2000, 4096));
    EXPECT_FALSE(inside(0x1000, 0xfffff001, 0x2000));
}

}  // namespace
