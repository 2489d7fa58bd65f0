// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Identify Controller and Identify Namespace from controllers that say sensible
// things and from those that do not. NVMe Base 2.0, 5.17; NVM Command Set 1.0, 4.1.5.

#include "wire_golden.hpp"

#include <nvmf/identify.h>

#include <cerrno>

using golden::Page;

namespace {

constexpr std::uint64_t page_min = 4096;

/// Identify Controller as a plain NVMe-oF/RDMA target fills it.
Page controller()
{
    Page page(4096);

    page.text(4, "0123456789", 20)  // SN
        .text(24, "Linux", 40)      // MN
        .text(64, "6.12.1", 8)      // FR
        .put8(77, 5)                // MDTS: 2^5 pages
        .put16(78, 0x0203)          // CNTLID
        .put32(92, 0x00000900)      // OAES: namespaces and access changes
        .put16(320, 10)             // KAS
        .put8(512, 0x66)            // SQES
        .put8(513, 0x44)            // CQES
        .put16(514, 128)            // MAXCMD
        .put32(516, 1024)           // NN
        .put16(520, 0x000c)         // ONCS: DSM, Write Zeroes
        .put8(525, 1)               // VWC
        .put32(536, 0x00100005)     // SGLS: supported, keyed, offset
        .put32(1792, 260)           // IOCCSZ: 64 + 4096 bytes
        .put32(1796, 1)             // IORCSZ
        .put16(1800, 0)             // ICDOFF
        .put8(1803, 1);             // MSDBD
    return page;
}

/// 2^20 blocks of 512 bytes.
Page name_space()
{
    Page page(4096);

    page.put64(0, 1u << 20)     // NSZE
        .put64(8, 1u << 20)     // NCAP
        .put32(128, 9u << 16);  // LBAF0: LBADS 9
    return page;
}

int parse(const Page& page, nvmf_ctrl_info& info, std::uint64_t min = page_min)
{
    info = golden::poisoned<nvmf_ctrl_info>();
    return nvmf_ctrl_info_parse(page.data(), min, &info);
}

int parse(const Page& page, nvmf_ns_info& info)
{
    info = golden::poisoned<nvmf_ns_info>();
    return nvmf_ns_info_parse(page.data(), &info);
}

TEST(WireIdentifyCtrl, APlainTarget)
{
    nvmf_ctrl_info info;

    ASSERT_EQ(parse(controller(), info), 0);
    EXPECT_STREQ(info.serial, "0123456789");
    EXPECT_STREQ(info.model, "Linux");
    EXPECT_STREQ(info.firmware, "6.12.1");
    EXPECT_EQ(info.cntlid, 0x0203);
    EXPECT_EQ(info.mdts, 131072u);
    EXPECT_EQ(info.kas, 10);
    EXPECT_EQ(info.oaes, 0x00000900u);
    EXPECT_TRUE(info.oaes & NVMF_OAES_NS_ATTR);
    EXPECT_EQ(info.maxcmd, 128);
    EXPECT_EQ(info.nn, 1024u);
    EXPECT_EQ(info.oncs, NVMF_ONCS_DSM | NVMF_ONCS_WRITE_ZEROES);
    EXPECT_TRUE(info.vwc);
    EXPECT_EQ(info.sgls, 0x00100005u);
    EXPECT_EQ(info.capsule, 4160u);
    EXPECT_EQ(info.icdoff, 0u);
    EXPECT_EQ(info.msdbd, 1);
    EXPECT_EQ(nvmf_inline_max(&info), 4096u);
}

struct Mdts {
    unsigned mdts;
    std::uint64_t page;
    std::uint32_t bytes;
};

TEST(WireIdentifyCtrl, MaximumTransfer)
{
    const Mdts cases[] = {
        {0, 4096, 0},  // no limit
        {1, 4096, 8192},
        {8, 4096, 1u << 20},
        {19, 4096, 1u << 31},  // the largest that 32 bits hold
        {20, 4096, 0},         // 4 GiB: as good as none
        {31, 4096, 0},
        {32, 4096, 0},
        {52, 4096, 0},  // 2^64: must not wrap to 0 pages
        {63, 4096, 0},
        {64, 4096, 0},  // a shift by 64 is undefined: must not happen
        {255, 4096, 0},
        {1, 1ULL << 27, 1u << 28},  // MPSMIN 15
        {4, 1ULL << 27, 1u << 31},
        {5, 1ULL << 27, 0},
        {255, 1ULL << 27, 0},
    };

    for (const Mdts& c : cases) {
        nvmf_ctrl_info info;

        ASSERT_EQ(parse(controller().put8(77, c.mdts), info, c.page), 0);
        EXPECT_EQ(info.mdts, c.bytes) << "MDTS " << c.mdts << ", page " << c.page;
    }
}

struct Capsule {
    std::uint32_t ioccsz;
    int result;
    std::uint32_t in_capsule;
};

TEST(WireIdentifyCtrl, CapsuleSize)
{
    const Capsule cases[] = {
        {0, -EPROTO, 0},
        {1, -EPROTO, 0},
        {3, -EPROTO, 0},  // 48 bytes: no SQE fits
        {4, 0, 0},        // an SQE and nothing else
        {5, 0, 16},
        {36, 0, 512},
        {1028, 0, 16384},
        {0x100000, 0, (1u << 24) - 64},  // 16 MiB
        {0x100001, -EPROTO, 0},
        {0x10000000, -EPROTO, 0},  // 16 times this is 2^32
        {0x10000004, -EPROTO, 0},  // and this 2^32 + 64
        {0xffffffff, -EPROTO, 0},
    };

    for (const Capsule& c : cases) {
        nvmf_ctrl_info info;

        ASSERT_EQ(parse(controller().put32(1792, c.ioccsz), info), c.result) << c.ioccsz;
        if (c.result == 0) {
            EXPECT_EQ(nvmf_inline_max(&info), c.in_capsule) << c.ioccsz;
        }
    }
}

TEST(WireIdentifyCtrl, InCapsuleDataNeedsOffsetSglsRightBehindTheSqe)
{
    nvmf_ctrl_info info;

    ASSERT_EQ(parse(controller().put32(536, 0x00000005), info), 0);
    EXPECT_EQ(nvmf_inline_max(&info), 0u);
    ASSERT_EQ(parse(controller().put16(1800, 1), info), 0);
    EXPECT_EQ(info.icdoff, 16u);
    EXPECT_EQ(nvmf_inline_max(&info), 0u);
    ASSERT_EQ(parse(controller().put16(1800, 0xffff), info), 0);
    EXPECT_EQ(info.icdoff, 1048560u);
    EXPECT_EQ(nvmf_inline_max(&info), 0u);
}

TEST(WireIdentifyCtrl, KeyedSglsAreRequired)
{
    nvmf_ctrl_info info;

    EXPECT_EQ(parse(controller().put32(536, 0), info), -EOPNOTSUPP);
    EXPECT_EQ(parse(controller().put32(536, 0x00100001), info), -EOPNOTSUPP);
    EXPECT_EQ(parse(controller().put32(536, 0x00100004), info), -EOPNOTSUPP);
    EXPECT_EQ(parse(controller().put32(536, 0x00000006), info), 0);  // dword aligned
    EXPECT_EQ(parse(controller().put32(536, 0xffffffff), info), 0);
}

struct EntrySizes {
    unsigned sqes, cqes;
    int result;
};

TEST(WireIdentifyCtrl, QueueEntrySizes)
{
    const EntrySizes cases[] = {
        {0x66, 0x44, 0},       {0x76, 0x44, 0},       {0x66, 0x54, 0},       {0xf0, 0xf0, 0},
        {0x00, 0x44, -EPROTO}, {0x66, 0x00, -EPROTO}, {0x77, 0x44, -EPROTO},  // needs 128
        {0x55, 0x44, -EPROTO},                                                // takes 32 at most
        {0x56, 0x44, -EPROTO},  // takes less than it needs
        {0x66, 0x55, -EPROTO}, {0x66, 0x33, -EPROTO}, {0x66, 0x34, -EPROTO}, {0xff, 0xff, -EPROTO},
    };

    for (const EntrySizes& c : cases) {
        nvmf_ctrl_info info;

        EXPECT_EQ(parse(controller().put8(512, c.sqes).put8(513, c.cqes), info), c.result)
            << std::hex << c.sqes << " " << c.cqes;
    }
}

TEST(WireIdentifyCtrl, StringsThatFillTheirFields)
{
    nvmf_ctrl_info info;
    Page page = controller();

    page.text(4, std::string(20, 'S'), 20)
        .text(24, std::string(40, 'M'), 40)
        .text(64, "FIRMWARE", 8);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.serial, std::string(20, 'S'));
    EXPECT_EQ(info.model, std::string(40, 'M'));
    EXPECT_STREQ(info.firmware, "FIRMWARE");
}

TEST(WireIdentifyCtrl, StringsOfNothing)
{
    nvmf_ctrl_info info;
    Page page = controller();

    page.text(4, "", 20).text(24, std::string(40, '\0'), 40).text(64, std::string("\0 \0 ", 4), 8);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_STREQ(info.serial, "");
    EXPECT_STREQ(info.model, "");
    EXPECT_STREQ(info.firmware, "");
}

TEST(WireIdentifyCtrl, StringsComeOutPrintable)
{
    nvmf_ctrl_info info;
    Page page = controller();

    page.text(4, "a b\tc\nd\x7f\x80\xff\x1b[2J", 20)
        .text(24, std::string("x\0y", 3), 40)
        .text(64, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_STREQ(info.serial, "a b?c?d????[2J");
    EXPECT_STREQ(info.model, "x?y");
    EXPECT_STREQ(info.firmware, "????????");
}

TEST(WireIdentifyCtrl, OtherVolatileWriteCacheBitsAreNotPresence)
{
    nvmf_ctrl_info info;

    ASSERT_EQ(parse(controller().put8(525, 0x06), info), 0);
    EXPECT_FALSE(info.vwc);
    ASSERT_EQ(parse(controller().put8(525, 0x07), info), 0);
    EXPECT_TRUE(info.vwc);
}

TEST(WireIdentifyCtrl, AllZeroesAndAllOnesAreRefused)
{
    nvmf_ctrl_info info;
    Page ones(4096);

    for (std::size_t i = 0; i < 4096; i++)
        ones.put8(i, 0xff);
    EXPECT_EQ(parse(Page(4096), info), -EPROTO);
    EXPECT_EQ(parse(ones, info), -EPROTO);
}

TEST(WireIdentifyNs, APlainNamespace)
{
    nvmf_ns_info info;
    Page page = name_space();

    page.put64(104, 0x0706050403020100)
        .put64(112, 0x0f0e0d0c0b0a0908)
        .put64(120, 0x8877665544332211);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.blocks, 1u << 20);
    EXPECT_EQ(info.lba_shift, 9);
    EXPECT_FALSE(info.read_only);
    for (unsigned i = 0; i < 16; i++)
        EXPECT_EQ(info.nguid[i], i);
    for (unsigned i = 0; i < 8; i++)
        EXPECT_EQ(info.eui64[i], 0x11 * (i + 1));
}

struct Lbads {
    unsigned shift;
    int result;
};

TEST(WireIdentifyNs, BlockSizes)
{
    const Lbads cases[] = {{0, -EPROTO}, {1, -EPROTO},  {8, -EPROTO},  {9, 0},        {12, 0},
                           {16, 0},      {17, -EPROTO}, {31, -EPROTO}, {255, -EPROTO}};

    for (const Lbads& c : cases) {
        nvmf_ns_info info;

        ASSERT_EQ(parse(name_space().put32(128, c.shift << 16), info), c.result) << c.shift;
        if (c.result == 0) {
            EXPECT_EQ(info.lba_shift, c.shift);
        }
    }
}

TEST(WireIdentifyNs, RelativePerformanceIsNoBlockSize)
{
    nvmf_ns_info info;

    ASSERT_EQ(parse(name_space().put32(128, 0x030c0000), info), 0);
    EXPECT_EQ(info.lba_shift, 12);
}

struct Size {
    std::uint64_t blocks;
    unsigned shift;
    int result;
};

// A disk's size in bytes is a signed 64-bit number (loff_t): 2^63 does not fit.
TEST(WireIdentifyNs, Capacities)
{
    const Size cases[] = {
        {0, 9, -ENODEV},
        {1, 9, 0},
        {1, 16, 0},
        {(1ULL << 54) - 1, 9, 0},
        {1ULL << 54, 9, -EPROTO},
        {(1ULL << 51) - 1, 12, 0},
        {1ULL << 51, 12, -EPROTO},
        {(1ULL << 47) - 1, 16, 0},
        {1ULL << 47, 16, -EPROTO},
        {1ULL << 55, 9, -EPROTO},  // 2^64 bytes: must not wrap to 0
        {(1ULL << 55) + 8, 9, -EPROTO},
        {~0ULL, 9, -EPROTO},
        {~0ULL, 12, -EPROTO},
    };

    for (const Size& c : cases) {
        nvmf_ns_info info;

        EXPECT_EQ(parse(name_space().put64(0, c.blocks).put32(128, c.shift << 16), info), c.result)
            << c.blocks << " blocks of 2^" << c.shift;
    }
}

TEST(WireIdentifyNs, TheFormatInUseIsReadNotTheFirst)
{
    nvmf_ns_info info;
    Page page = name_space();

    page.put8(25, 2).put8(26, 2).put32(136, 12u << 16);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.lba_shift, 12);
}

TEST(WireIdentifyNs, TheLastFormat)
{
    nvmf_ns_info info;
    Page page = name_space();

    page.put8(25, 15).put8(26, 15).put32(128 + 4 * 15, 13u << 16);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.lba_shift, 13);
}

// More than 16 formats: FLBAS bits 6:5 are the index's bits 5:4.
TEST(WireIdentifyNs, FormatIndicesOfSixBits)
{
    nvmf_ns_info info;
    Page page = name_space();

    page.put8(25, 63).put8(26, 0x6f).put32(128 + 4 * 63, 14u << 16);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.lba_shift, 14);

    page.put8(26, 0x21).put32(128 + 4 * 17, 10u << 16);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.lba_shift, 10);
}

// "If the NLBAF field is less than or equal to 16, the host should ignore these bits."
TEST(WireIdentifyNs, TheUpperIndexBitsOfAShortListAreIgnored)
{
    nvmf_ns_info info;
    Page page = name_space();

    page.put8(25, 1).put8(26, 0x61).put32(132, 12u << 16);
    ASSERT_EQ(parse(page, info), 0);
    EXPECT_EQ(info.lba_shift, 12);
}

TEST(WireIdentifyNs, AFormatThatDoesNotExist)
{
    nvmf_ns_info info;

    EXPECT_EQ(parse(name_space().put8(26, 1), info), -EPROTO);
    EXPECT_EQ(parse(name_space().put8(25, 7).put8(26, 8), info), -EPROTO);
    EXPECT_EQ(parse(name_space().put8(25, 14).put8(26, 0x0f), info), -EPROTO);
    EXPECT_EQ(parse(name_space().put8(25, 20).put8(26, 0x2f), info), -EPROTO);
    EXPECT_EQ(parse(name_space().put8(25, 255).put8(26, 0x6f), info), -EPROTO);  // LBADS 0 there
}

TEST(WireIdentifyNs, MetadataIsRefused)
{
    nvmf_ns_info info;

    EXPECT_EQ(parse(name_space().put32(128, 9u << 16 | 8), info), -EOPNOTSUPP);
    EXPECT_EQ(parse(name_space().put32(128, 9u << 16 | 0xffff), info), -EOPNOTSUPP);
    EXPECT_EQ(parse(name_space().put8(26, 0x10).put32(128, 9u << 16 | 8), info), -EOPNOTSUPP);
    EXPECT_EQ(parse(name_space().put8(26, 0x10), info), 0);  // extended, but of 0 bytes
}

TEST(WireIdentifyNs, ProtectionInformationIsRefused)
{
    nvmf_ns_info info;

    for (unsigned type = 1; type <= 7; type++)
        EXPECT_EQ(parse(name_space().put8(29, type), info), -EOPNOTSUPP) << type;
    EXPECT_EQ(parse(name_space().put8(29, 0x08), info), 0);  // its place, no type
}

TEST(WireIdentifyNs, WriteProtected)
{
    nvmf_ns_info info;

    ASSERT_EQ(parse(name_space().put8(99, 1), info), 0);
    EXPECT_TRUE(info.read_only);
    ASSERT_EQ(parse(name_space().put8(99, 0xfe), info), 0);
    EXPECT_FALSE(info.read_only);
}

TEST(WireIdentifyNs, AllZeroesAndAllOnesAreRefused)
{
    nvmf_ns_info info;
    Page ones(4096);

    for (std::size_t i = 0; i < 4096; i++)
        ones.put8(i, 0xff);
    EXPECT_EQ(parse(Page(4096), info), -ENODEV);
    EXPECT_LT(parse(ones, info), 0);
}

}  // namespace
