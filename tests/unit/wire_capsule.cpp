// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Capsules: the layout of an SQE, each form of SGL descriptor, response capsules
// and command identifiers. NVMe Base 2.0: 3.3.3, 4.1.2; NVMe-oF RDMA Transport
// 1.0: 3.1, 3.3.

#include "wire_golden.hpp"

#include <nvmf/capsule.h>

#include <cerrno>
#include <set>

using golden::Bytes;
using golden::bytes_of;
using golden::hex;
using golden::poisoned;

namespace {

// Base 2.0, 3.3.3: the common command format and the completion queue entry.
TEST(WireLayout, SqeFieldsLieWhereTheSpecificationPutsThem)
{
    EXPECT_EQ(sizeof(nvmf_sqe), 64u);
    EXPECT_EQ(offsetof(nvmf_sqe, opcode), 0u);
    EXPECT_EQ(offsetof(nvmf_sqe, flags), 1u);
    EXPECT_EQ(offsetof(nvmf_sqe, cid), 2u);
    EXPECT_EQ(offsetof(nvmf_sqe, nsid), 4u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw2), 8u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw3), 12u);
    EXPECT_EQ(offsetof(nvmf_sqe, mptr), 16u);
    EXPECT_EQ(offsetof(nvmf_sqe, dptr), 24u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw10), 40u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw11), 44u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw12), 48u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw13), 52u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw14), 56u);
    EXPECT_EQ(offsetof(nvmf_sqe, cdw15), 60u);
}

TEST(WireLayout, CqeFieldsLieWhereTheSpecificationPutsThem)
{
    EXPECT_EQ(sizeof(nvmf_cqe), 16u);
    EXPECT_EQ(offsetof(nvmf_cqe, result), 0u);
    EXPECT_EQ(offsetof(nvmf_cqe, sqhd), 8u);
    EXPECT_EQ(offsetof(nvmf_cqe, sqid), 10u);
    EXPECT_EQ(offsetof(nvmf_cqe, cid), 12u);
    EXPECT_EQ(offsetof(nvmf_cqe, status), 14u);
}

TEST(WireLayout, ConstantsOfTheSpecification)
{
    EXPECT_EQ(NVMF_SQE_SIZE, 64);
    EXPECT_EQ(NVMF_CQE_SIZE, 16);
    EXPECT_EQ(NVMF_FLAGS_SGL, 0x40);        // PSDT 01b in bits 7:6
    EXPECT_EQ(NVMF_SGL_DATA_OFFSET, 0x01);  // type 0h, subtype 1h
    EXPECT_EQ(NVMF_SGL_KEYED, 0x40);        // type 4h, subtype 0h
    EXPECT_EQ(NVMF_SGL_KEYED_INV, 0x4f);    // type 4h, subtype Fh
    EXPECT_EQ(NVMF_KEYED_LEN_MAX, 16777215u);
}

// Base 2.0, 3.3.3.2 and NVM Command Set 1.0: SCT in bits 10:8, SC in bits 7:0.
TEST(WireLayout, StatusCodes)
{
    EXPECT_EQ(NVMF_SC_SUCCESS, 0x000);
    EXPECT_EQ(NVMF_SC_INVALID_OPCODE, 0x001);
    EXPECT_EQ(NVMF_SC_INVALID_FIELD, 0x002);
    EXPECT_EQ(NVMF_SC_DATA_XFER_ERROR, 0x004);
    EXPECT_EQ(NVMF_SC_INTERNAL, 0x006);
    EXPECT_EQ(NVMF_SC_ABORT_REQ, 0x007);
    EXPECT_EQ(NVMF_SC_INVALID_NS, 0x00b);
    EXPECT_EQ(NVMF_SC_LBA_RANGE, 0x080);
    EXPECT_EQ(NVMF_SC_CAP_EXCEEDED, 0x081);
    EXPECT_EQ(NVMF_SC_NS_NOT_READY, 0x082);
    EXPECT_EQ(NVMF_SC_RESERVATION_CONFLICT, 0x083);
    EXPECT_EQ(NVMF_SC_CONNECT_FORMAT, 0x180);
    EXPECT_EQ(NVMF_SC_CONNECT_CTRL_BUSY, 0x181);
    EXPECT_EQ(NVMF_SC_CONNECT_INVALID_PARAM, 0x182);
    EXPECT_EQ(NVMF_SC_CONNECT_RESTART_DISC, 0x183);
    EXPECT_EQ(NVMF_SC_CONNECT_INVALID_HOST, 0x184);
    EXPECT_EQ(NVMF_SC_WRITE_FAULT, 0x280);
    EXPECT_EQ(NVMF_SC_READ_ERROR, 0x281);
    EXPECT_EQ(NVMF_SC_GUARD_CHECK, 0x282);
    EXPECT_EQ(NVMF_SC_COMPARE_FAILED, 0x285);
    EXPECT_EQ(NVMF_SC_ACCESS_DENIED, 0x286);
    EXPECT_EQ(NVMF_SC_HOST_PATH_ERROR, 0x370);
    EXPECT_EQ(NVMF_SC_HOST_ABORTED_CMD, 0x371);
    EXPECT_EQ(NVMF_SC_DNR, 0x4000);
    EXPECT_EQ(NVMF_SC_MASK, 0x7ff);
}

TEST(WireSqe, InitZeroesEverythingElse)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_sqe_init(&sqe, 0xc1, 0x12345678);
    EXPECT_EQ(bytes_of(sqe), hex("c1 40 00 00 78 56 34 12 00*56"));
}

TEST(WireSqe, AllOnesNamespace)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_sqe_init(&sqe, 0x00, 0xffffffff);
    EXPECT_EQ(bytes_of(sqe), hex("00 40 00 00 ff*4 00*56"));
}

TEST(WireSgl, NoData)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_sgl_set_none(&sgl);
    EXPECT_EQ(bytes_of(sgl), hex("00*8 00*3 00*4 40"));
}

TEST(WireSgl, InCapsuleAtOffset0)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_sgl_set_inline(&sgl, 0, 4096);
    EXPECT_EQ(bytes_of(sgl), hex("00*8 00 10 00 00 00*3 01"));
}

TEST(WireSgl, InCapsuleAtAnOffset)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_sgl_set_inline(&sgl, 0x0102030405060708, 0x090a0b0c);
    EXPECT_EQ(bytes_of(sgl), hex("08 07 06 05 04 03 02 01 0c 0b 0a 09 00*3 01"));
}

TEST(WireSgl, Keyed)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_sgl_set_keyed(&sgl, 0xffff888012345000, 0x010203, 0xa1b2c3d4, false);
    EXPECT_EQ(bytes_of(sgl), hex("00 50 34 12 80 88 ff ff 03 02 01 d4 c3 b2 a1 40"));
    EXPECT_EQ(nvmf_sgl_keyed_length(&sgl), 0x010203u);
    EXPECT_EQ(nvmf_sgl_keyed_rkey(&sgl), 0xa1b2c3d4u);
}

TEST(WireSgl, KeyedWithInvalidation)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_sgl_set_keyed(&sgl, 0x1000, 65536, 0x00000001, true);
    EXPECT_EQ(bytes_of(sgl), hex("00 10 00*6 00 00 01 01 00 00 00 4f"));
}

TEST(WireSgl, KeyedLengthsAtTheEnds)
{
    auto sgl = poisoned<nvmf_sgl>();

    nvmf_sgl_set_keyed(&sgl, 0, 0, 0, false);
    EXPECT_EQ(bytes_of(sgl), hex("00*15 40"));
    EXPECT_EQ(nvmf_sgl_keyed_length(&sgl), 0u);

    nvmf_sgl_set_keyed(&sgl, ~0ULL, 0xffffff, 0xffffffff, true);
    EXPECT_EQ(bytes_of(sgl), hex("ff*15 4f"));
    EXPECT_EQ(nvmf_sgl_keyed_length(&sgl), 0xffffffu);
    EXPECT_EQ(nvmf_sgl_keyed_rkey(&sgl), 0xffffffffu);
}

TEST(WireSgl, KeyedReadsBackUnaligned)
{
    const Bytes wire = hex("aa 00*8 34 12 ff 01 80 00 fe 40");
    nvmf_sgl sgl;

    std::memcpy(&sgl, wire.data() + 1, sizeof(sgl));
    EXPECT_EQ(nvmf_sgl_keyed_length(&sgl), 0xff1234u);
    EXPECT_EQ(nvmf_sgl_keyed_rkey(&sgl), 0xfe008001u);
}

TEST(WireResponse, Success)
{
    const Bytes wire = hex("88 77 66 55 44 33 22 11 34 12 00 00 cd ab 00 00");
    auto rsp = poisoned<nvmf_response>();

    ASSERT_EQ(nvmf_response_parse(wire.data(), wire.size(), &rsp), 0);
    EXPECT_EQ(rsp.result, 0x1122334455667788u);
    EXPECT_EQ(rsp.sqhd, 0x1234);
    EXPECT_EQ(rsp.cid, 0xabcd);
    EXPECT_EQ(rsp.status, 0);
}

TEST(WireResponse, ThePhaseBitIsNoStatus)
{
    const Bytes wire = hex("00*12 01 00 01 00");
    nvmf_response rsp;

    ASSERT_EQ(nvmf_response_parse(wire.data(), wire.size(), &rsp), 0);
    EXPECT_EQ(rsp.cid, 1);
    EXPECT_EQ(rsp.status, 0);
}

// LBA Out of Range, do not retry: SC 80h, SCT 0, DNR: 0x4080 << 1 = 0x8100.
TEST(WireResponse, DoNotRetry)
{
    nvmf_response rsp;

    ASSERT_EQ(nvmf_response_parse(hex("00*14 00 81").data(), 16, &rsp), 0);
    EXPECT_EQ(rsp.status, 0x4080);
    EXPECT_EQ(rsp.status & NVMF_SC_MASK, NVMF_SC_LBA_RANGE);
    EXPECT_TRUE(rsp.status & NVMF_SC_DNR);
}

// Connect Invalid Host: SCT 1, SC 84h, with the phase bit set: 0x184 << 1 | 1 = 0x309.
TEST(WireResponse, CommandSpecificStatus)
{
    nvmf_response rsp;

    ASSERT_EQ(nvmf_response_parse(hex("00*14 09 03").data(), 16, &rsp), 0);
    EXPECT_EQ(rsp.status, NVMF_SC_CONNECT_INVALID_HOST);
}

TEST(WireResponse, EveryStatusBit)
{
    nvmf_response rsp;

    ASSERT_EQ(nvmf_response_parse(hex("ff*16").data(), 16, &rsp), 0);
    EXPECT_EQ(rsp.status, 0x7fff);
    EXPECT_EQ(rsp.cid, 0xffff);
    EXPECT_EQ(rsp.sqhd, 0xffff);
    EXPECT_EQ(rsp.result, ~0ULL);
}

TEST(WireResponse, ShortCapsulesAreRefusedAndNotRead)
{
    for (std::size_t len = 0; len < 16; len++) {
        const Bytes wire(len, 0xff);  // exactly so long: a sanitizer sees a longer read
        auto rsp = poisoned<nvmf_response>();

        EXPECT_EQ(nvmf_response_parse(wire.data(), len, &rsp), -EBADMSG) << len;
        EXPECT_EQ(rsp.cid, 0xa5a5) << len;
    }
}

TEST(WireResponse, LongerCapsulesAreReadAtTheFront)
{
    const Bytes wire = hex("01 00*7 02 00 00 00 03 00 08 00 ff*48");
    nvmf_response rsp;

    ASSERT_EQ(nvmf_response_parse(wire.data(), wire.size(), &rsp), 0);
    EXPECT_EQ(rsp.result, 1u);
    EXPECT_EQ(rsp.sqhd, 2);
    EXPECT_EQ(rsp.cid, 3);
    EXPECT_EQ(rsp.status, 4);
}

TEST(WireResponse, AnyAlignment)
{
    const Bytes wire = hex("ee 0d f0*3 00*4 02 00 00 00 34 12 00 00");
    nvmf_response rsp;

    ASSERT_EQ(nvmf_response_parse(wire.data() + 1, 16, &rsp), 0);
    EXPECT_EQ(rsp.result, 0xf0f0f00dULL);
    EXPECT_EQ(rsp.cid, 0x1234);
}

TEST(WireCid, SlotAndGeneration)
{
    EXPECT_EQ(nvmf_cid(0, 0), 0x0000);
    EXPECT_EQ(nvmf_cid(0x123, 0x7), 0x7123);
    EXPECT_EQ(nvmf_cid(4095, 15), 0xffff);
    EXPECT_EQ(nvmf_cid_slot(0x7123), 0x123);
    EXPECT_EQ(nvmf_cid_generation(0x7123), 0x7);
    EXPECT_EQ(nvmf_cid_slot(0xffff), 4095);
    EXPECT_EQ(nvmf_cid_generation(0xffff), 15);
    EXPECT_EQ(NVMF_CID_SLOTS, 4096);
}

TEST(WireCid, AGenerationThatWrapsLeavesTheSlotAlone)
{
    EXPECT_EQ(nvmf_cid(5, 0x10), 0x0005);
    EXPECT_EQ(nvmf_cid(5, 0xff), 0xf005);
}

TEST(WireCid, ASlotThatIsTooLargeLeavesTheGenerationAlone)
{
    EXPECT_EQ(nvmf_cid_generation(nvmf_cid(0x1000, 3)), 3);
    EXPECT_EQ(nvmf_cid_slot(nvmf_cid(0x1fff, 3)), 0xfff);
}

TEST(WireCid, AllDistinct)
{
    std::set<std::uint16_t> seen;

    for (unsigned slot = 0; slot < NVMF_CID_SLOTS; slot++)
        for (unsigned gen = 0; gen < 16; gen++)
            seen.insert(nvmf_cid(static_cast<__u16>(slot), static_cast<__u8>(gen)));
    EXPECT_EQ(seen.size(), 65536u);
}

}  // namespace
