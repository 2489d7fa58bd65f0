// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The private data of RDMA_CM_REQUEST, _ACCEPT and _REJECT.
// NVMe over Fabrics RDMA Transport 1.0, 3.2.

#include "wire_golden.hpp"

#include <nvmf/rdma.h>

#include <cerrno>

using golden::Bytes;
using golden::bytes_of;
using golden::hex;
using golden::poisoned;

namespace {

// RECFMT 0-1, QID 2-3, HRQSIZE 4-5, HSQSIZE 6-7 (0-based), CNTLID 8-9, 22 reserved.
TEST(WireCm, RequestForTheAdminQueue)
{
    auto req = poisoned<nvmf_rdma_cm_req>();

    nvmf_rdma_req_fill(&req, 0, 32, 0xffff);
    EXPECT_EQ(bytes_of(req), hex("00 00  00 00  20 00  1f 00  00 00  00*22"));
}

TEST(WireCm, RequestForAnIoQueue)
{
    auto req = poisoned<nvmf_rdma_cm_req>();

    nvmf_rdma_req_fill(&req, 0x0203, 0x0100, 0x0405);
    EXPECT_EQ(bytes_of(req), hex("00 00  03 02  00 01  ff 00  05 04  00*22"));
}

TEST(WireCm, RequestForTheLargestQueue)
{
    auto req = poisoned<nvmf_rdma_cm_req>();

    nvmf_rdma_req_fill(&req, 0xffff, 0xffff, 0xfffe);
    EXPECT_EQ(bytes_of(req), hex("00 00  ff ff  ff ff  fe ff  fe ff  00*22"));
}

// RECFMT 0-1, CRQSIZE 2-3, 28 reserved.
TEST(WireCm, Reply)
{
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("00 00 80 00 00*28").data(), 32), 128);
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("00 00 01 00 00*28").data(), 32), 1);
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("00 00 ff ff 00*28").data(), 32), 65535);
}

TEST(WireCm, ReplyMayBePadded)
{
    const Bytes wire = hex("00 00 20 00 00*28 ff*164");  // the CM hands 196 bytes up

    EXPECT_EQ(nvmf_rdma_rep_parse(wire.data(), wire.size()), 32);
}

TEST(WireCm, ReservedBytesOfAReplyAreIgnored)
{
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("00 00 20 00 ff*28").data(), 32), 32);
}

TEST(WireCm, BadReplies)
{
    EXPECT_EQ(nvmf_rdma_rep_parse(nullptr, 0), -EPROTO);
    EXPECT_EQ(nvmf_rdma_rep_parse(nullptr, 32), -EPROTO);
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("01 00 20 00 00*28").data(), 32), -EPROTO);
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("00 01 20 00 00*28").data(), 32), -EPROTO);
    EXPECT_EQ(nvmf_rdma_rep_parse(hex("00 00 00 00 00*28").data(), 32), -EPROTO);
    for (std::size_t len = 0; len < 32; len++) {
        Bytes wire = hex("00 00 20 00 00*28");

        wire.resize(len);
        wire.shrink_to_fit();
        EXPECT_EQ(nvmf_rdma_rep_parse(wire.data(), len), -EPROTO) << len;
    }
}

// RECFMT 0-1, STS 2-3.
TEST(WireCm, Reject)
{
    EXPECT_EQ(nvmf_rdma_rej_parse(hex("00 00 06 00").data(), 4), NVMF_RDMA_REJ_NO_RESOURCES);
    EXPECT_EQ(nvmf_rdma_rej_parse(hex("00 00 09 00 00*144").data(), 148),
              NVMF_RDMA_REJ_INVALID_CNTLID);
    EXPECT_EQ(nvmf_rdma_rej_parse(hex("00 00 ff ff").data(), 4), 0xffff);
    EXPECT_EQ(nvmf_rdma_rej_parse(hex("01 00 06 00").data(), 4), 0);
    EXPECT_EQ(nvmf_rdma_rej_parse(hex("a5*148").data(), 148), 0);
    EXPECT_EQ(nvmf_rdma_rej_parse(nullptr, 0), 0);
    EXPECT_EQ(nvmf_rdma_rej_parse(nullptr, 148), 0);
    for (std::size_t len = 0; len < 4; len++)
        EXPECT_EQ(nvmf_rdma_rej_parse(hex("00 00 06").data(), len), 0) << len;
}

TEST(WireCm, RejectStatusValues)
{
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_LEN, 1);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_RECFMT, 2);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_QID, 3);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_HSQSIZE, 4);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_HRQSIZE, 5);
    EXPECT_EQ(NVMF_RDMA_REJ_NO_RESOURCES, 6);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_IRD, 7);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_ORD, 8);
    EXPECT_EQ(NVMF_RDMA_REJ_INVALID_CNTLID, 9);
    EXPECT_EQ(NVMF_RDMA_PORT, 4420);
}

TEST(WireCm, EveryRejectHasItsOwnText)
{
    const std::string none = nvmf_rdma_rej_text(0);
    std::string last = none;

    for (int status = 1; status <= 9; status++) {
        const std::string text = nvmf_rdma_rej_text(status);

        EXPECT_NE(text, none) << status;
        EXPECT_NE(text, last) << status;
        last = text;
    }
    EXPECT_EQ(nvmf_rdma_rej_text(10), none);
    EXPECT_EQ(nvmf_rdma_rej_text(-1), none);
    EXPECT_EQ(nvmf_rdma_rej_text(0xffff), none);
}

}  // namespace
