// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Fabrics commands, Connect data and controller properties. NVMe Base 2.0: 3.1.4, 6.

#include "wire_golden.hpp"

#include <nvmf/fabrics.h>

#include <cerrno>

using golden::Bytes;
using golden::bytes_of;
using golden::hex;
using golden::poisoned;

namespace {

const std::uint8_t host_id[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                  0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

// A fabrics command: opcode 7fh, flags, CID, FCTYPE, 35 reserved bytes of which 24-39
// are the SGL; then byte 40.

// Connect: RECFMT 40-41, QID 42-43, SQSIZE 44-45 (0-based), CATTR 46, KATO 48-51.
TEST(WireFabrics, ConnectAdminQueue)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_connect(&sqe, 0, 32, 15000);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 01 00*3 00*32 "
                                 "00 00  00 00  1f 00  00 00  98 3a 00 00  00*12"));
}

TEST(WireFabrics, ConnectIoQueue)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_connect(&sqe, 0x0102, 128, 0);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 01 00*3 00*32 "
                                 "00 00  02 01  7f 00  00 00  00 00 00 00  00*12"));
}

TEST(WireFabrics, ConnectTheLargestQueue)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_connect(&sqe, 0xffff, 65536, 0xffffffff);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 01 00*3 00*32 "
                                 "00 00  ff ff  ff ff  00 00  ff*4  00*12"));
}

// Property Get: ATTRIB 40 (bits 2:0: 0 for 4 bytes, 1 for 8), OFST 44-47.
TEST(WireFabrics, PropertyGet)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_property_get(&sqe, NVMF_PROP_CAP, true);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 04 00*3 00*32  01 00*3  00 00 00 00  00*16"));
    nvmf_build_property_get(&sqe, NVMF_PROP_VS, false);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 04 00*3 00*32  00*4  08 00 00 00  00*16"));
    nvmf_build_property_get(&sqe, NVMF_PROP_CSTS, false);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 04 00*3 00*32  00*4  1c 00 00 00  00*16"));
}

// Property Set: ATTRIB 40, OFST 44-47, VALUE 48-55.
TEST(WireFabrics, PropertySet)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_property_set(&sqe, NVMF_PROP_CC, NVMF_CC_NVM | NVMF_CC_ENABLE);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 00 00*3 00*32 "
                                 "00*4  14 00 00 00  01 00 46 00 00*4  00*8"));
    nvmf_build_property_set(&sqe, NVMF_PROP_CC, NVMF_CC_NVM | NVMF_CC_ENABLE | NVMF_CC_SHN_NORMAL);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 00 00*3 00*32 "
                                 "00*4  14 00 00 00  01 40 46 00 00*4  00*8"));
    nvmf_build_property_set(&sqe, NVMF_PROP_CC, 0xffffffff);
    EXPECT_EQ(bytes_of(sqe), hex("7f 40 00 00 00 00*3 00*32  00*4  14 00 00 00  ff*4 00*4  00*8"));
}

TEST(WireFabrics, Constants)
{
    EXPECT_EQ(NVMF_OPC_FABRICS, 0x7f);
    EXPECT_EQ(NVMF_FCTYPE_PROPERTY_SET, 0x00);
    EXPECT_EQ(NVMF_FCTYPE_CONNECT, 0x01);
    EXPECT_EQ(NVMF_FCTYPE_PROPERTY_GET, 0x04);
    EXPECT_EQ(NVMF_CNTLID_DYNAMIC, 0xffff);
    EXPECT_STREQ(NVMF_DISCOVERY_NQN, "nqn.2014-08.org.nvmexpress.discovery");
    EXPECT_EQ(NVMF_CSTS_RDY, 1u);
    EXPECT_EQ(NVMF_CSTS_CFS, 2u);
    EXPECT_EQ(NVMF_CSTS_SHST_MASK, 0xcu);
    EXPECT_EQ(NVMF_CSTS_SHST_DONE, 0x8u);
    EXPECT_EQ(NVMF_CC_SHN_MASK, 0xc000u);
    EXPECT_EQ(NVMF_CONNECT_BAD_SUBSYSNQN, 256);
    EXPECT_EQ(NVMF_CONNECT_BAD_HOSTNQN, 512);
}

// CAP: MQES 15:0 (0-based), TO 31:24 (500 ms), MPSMIN 51:48.
TEST(WireFabrics, Capabilities)
{
    // as stock nvmet of Linux 6.12 says it: CSS NVM, TO 15, CQR, MQES 127
    EXPECT_EQ(nvmf_cap_queue_entries(0x00000020'0f01007f), 128u);
    EXPECT_EQ(nvmf_cap_timeout_ms(0x00000020'0f01007f), 7500u);
    EXPECT_EQ(nvmf_cap_page_min(0x00000020'0f01007f), 4096u);

    EXPECT_EQ(nvmf_cap_queue_entries(0), 1u);
    EXPECT_EQ(nvmf_cap_timeout_ms(0), 0u);
    EXPECT_EQ(nvmf_cap_page_min(0), 4096u);

    EXPECT_EQ(nvmf_cap_queue_entries(~0ULL), 65536u);
    EXPECT_EQ(nvmf_cap_timeout_ms(~0ULL), 127500u);
    EXPECT_EQ(nvmf_cap_page_min(~0ULL), 1ULL << 27);

    EXPECT_EQ(nvmf_cap_page_min(0x00f3000000000000), 32768u);  // MPSMAX is not MPSMIN
}

// Connect data: HOSTID 0-15, CNTLID 16-17, 238 reserved, SUBNQN 256-511, HOSTNQN 512-767,
// 256 reserved.
TEST(WireConnectData, Layout)
{
    EXPECT_EQ(sizeof(nvmf_connect_data), 1024u);
    EXPECT_EQ(offsetof(nvmf_connect_data, hostid), 0u);
    EXPECT_EQ(offsetof(nvmf_connect_data, cntlid), 16u);
    EXPECT_EQ(offsetof(nvmf_connect_data, subsysnqn), 256u);
    EXPECT_EQ(offsetof(nvmf_connect_data, hostnqn), 512u);
}

TEST(WireConnectData, Filled)
{
    auto d = poisoned<nvmf_connect_data>();

    ASSERT_EQ(nvmf_connect_data_fill(&d, host_id, NVMF_CNTLID_DYNAMIC, "nqn.x", "host"), 0);
    EXPECT_EQ(bytes_of(d), hex("00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff  ff ff  00*238 "
                               "6e 71 6e 2e 78 00*251 "
                               "68 6f 73 74 00*252 "
                               "00*256"));
}

TEST(WireConnectData, ControllerIdOfAnIoQueue)
{
    auto d = poisoned<nvmf_connect_data>();

    ASSERT_EQ(nvmf_connect_data_fill(&d, host_id, 0x0102, "a", "b"), 0);
    EXPECT_EQ(bytes_of(d), hex("00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff  02 01  00*238 "
                               "61 00*255  62 00*255  00*256"));
}

TEST(WireConnectData, TheLongestNamesFitAndEndInNul)
{
    const std::string sub(223, 's'), host(223, 'h');
    auto d = poisoned<nvmf_connect_data>();

    ASSERT_EQ(nvmf_connect_data_fill(&d, host_id, 1, sub.c_str(), host.c_str()), 0);
    EXPECT_EQ(bytes_of(d), hex("00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff  01 00  00*238 "
                               "73*223 00*33  68*223 00*33  00*256"));
}

TEST(WireConnectData, NamesTooLongAreRefused)
{
    const std::string longest(223, 'x'), longer(224, 'x'), absurd(70000, 'x');
    nvmf_connect_data d;

    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, longer.c_str(), "h"), -ENAMETOOLONG);
    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, "s", longer.c_str()), -ENAMETOOLONG);
    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, longest.c_str(), longer.c_str()),
              -ENAMETOOLONG);
    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, absurd.c_str(), absurd.c_str()),
              -ENAMETOOLONG);
}

TEST(WireConnectData, EmptyNamesAreRefused)
{
    nvmf_connect_data d;

    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, "", "h"), -EINVAL);
    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, "s", ""), -EINVAL);
    EXPECT_EQ(nvmf_connect_data_fill(&d, host_id, 1, "", ""), -EINVAL);
}

// Connect: success has the controller identifier in bytes 0-1; Invalid Parameters has
// the offset in bytes 0-1 and bit 0 of byte 2 for "in the data".
TEST(WireConnectResult, ControllerId)
{
    EXPECT_EQ(nvmf_connect_cntlid(0xffffffffffff0001), 1);
    EXPECT_EQ(nvmf_connect_cntlid(0x1234), 0x1234);
}

TEST(WireConnectResult, InvalidParameters)
{
    EXPECT_EQ(nvmf_connect_bad_offset(0x00010100), NVMF_CONNECT_BAD_SUBSYSNQN);
    EXPECT_TRUE(nvmf_connect_bad_is_data(0x00010100));
    EXPECT_EQ(nvmf_connect_bad_offset(0x00010200), NVMF_CONNECT_BAD_HOSTNQN);
    EXPECT_EQ(nvmf_connect_bad_offset(0x0000002c), 44);
    EXPECT_FALSE(nvmf_connect_bad_is_data(0x0000002c));
    EXPECT_FALSE(nvmf_connect_bad_is_data(0xfffe0100));
}

}  // namespace
