// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Admin and NVM commands. NVMe Base 2.0, chapter 5; NVM Command Set 1.0, 3.2.

#include "wire_golden.hpp"

#include <nvmf/command.h>

using golden::bytes_of;
using golden::hex;
using golden::poisoned;

namespace {

// Bytes 0-7: opcode, flags, command identifier, namespace; 8-39: cdw2, cdw3, metadata
// and data pointer, all zero here. What is left is cdw10 to cdw15.

TEST(WireCommand, Opcodes)
{
    EXPECT_EQ(NVMF_ADM_GET_LOG_PAGE, 0x02);
    EXPECT_EQ(NVMF_ADM_IDENTIFY, 0x06);
    EXPECT_EQ(NVMF_ADM_SET_FEATURES, 0x09);
    EXPECT_EQ(NVMF_ADM_GET_FEATURES, 0x0a);
    EXPECT_EQ(NVMF_ADM_ASYNC_EVENT, 0x0c);
    EXPECT_EQ(NVMF_ADM_KEEP_ALIVE, 0x18);
    EXPECT_EQ(NVMF_IO_FLUSH, 0x00);
    EXPECT_EQ(NVMF_IO_WRITE, 0x01);
    EXPECT_EQ(NVMF_IO_READ, 0x02);
    EXPECT_EQ(NVMF_IO_WRITE_ZEROES, 0x08);
    EXPECT_EQ(NVMF_IO_DSM, 0x09);
    EXPECT_EQ(NVMF_FEAT_NUM_QUEUES, 0x07);
}

// Bits 1:0 of the opcodes above say which way their data go.
TEST(WireCommand, DirectionBits)
{
    EXPECT_EQ(NVMF_OPC_TO_CTRL, 0x01);
    EXPECT_EQ(NVMF_OPC_TO_HOST, 0x02);
    EXPECT_EQ(NVMF_IO_WRITE & 3, NVMF_OPC_TO_CTRL);
    EXPECT_EQ(NVMF_IO_READ & 3, NVMF_OPC_TO_HOST);
    EXPECT_EQ(NVMF_IO_FLUSH & 3, 0);
    EXPECT_EQ(NVMF_IO_WRITE_ZEROES & 3, 0);
    EXPECT_EQ(NVMF_IO_DSM & 3, NVMF_OPC_TO_CTRL);
    EXPECT_EQ(NVMF_ADM_IDENTIFY & 3, NVMF_OPC_TO_HOST);
    EXPECT_EQ(NVMF_ADM_SET_FEATURES & 3, NVMF_OPC_TO_CTRL);
}

TEST(WireCommand, IdentifyController)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_identify(&sqe, NVMF_CNS_CTRL, 0);
    EXPECT_EQ(bytes_of(sqe), hex("06 40 00 00 00*4 00*32  01 00 00 00 00*20"));
}

TEST(WireCommand, IdentifyNamespace)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_identify(&sqe, NVMF_CNS_NS, 0x01020304);
    EXPECT_EQ(bytes_of(sqe), hex("06 40 00 00 04 03 02 01 00*32  00*24"));
}

TEST(WireCommand, IdentifyActiveNamespaces)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_identify(&sqe, NVMF_CNS_ACTIVE_NS, 0xfffffffd);
    EXPECT_EQ(bytes_of(sqe), hex("06 40 00 00 fd ff ff ff 00*32  02 00*23"));
    EXPECT_EQ(NVMF_IDENTIFY_SIZE / 4, NVMF_ACTIVE_NS_PER_LIST);
}

TEST(WireCommand, IdentifyDescriptors)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_identify(&sqe, NVMF_CNS_NS_DESCRIPTORS, 2);
    EXPECT_EQ(bytes_of(sqe), hex("06 40 00 00 02 00 00 00 00*32  03 00*23"));
}

TEST(WireCommand, SetNumberOfQueues)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_set_num_queues(&sqe, 1);
    EXPECT_EQ(bytes_of(sqe), hex("09 40 00 00 00*4 00*32  07 00 00 00  00 00 00 00  00*16"));

    nvmf_build_set_num_queues(&sqe, 128);
    EXPECT_EQ(bytes_of(sqe), hex("09 40 00 00 00*4 00*32  07 00 00 00  7f 00 7f 00  00*16"));

    nvmf_build_set_num_queues(&sqe, 65535);
    EXPECT_EQ(bytes_of(sqe), hex("09 40 00 00 00*4 00*32  07 00 00 00  fe ff fe ff  00*16"));
}

// Dword 0 of the answer: submission queues in 15:0, completion queues in 31:16, 0-based.
TEST(WireCommand, NumberOfQueuesAllotted)
{
    EXPECT_EQ(nvmf_num_queues(0x00000000), 1u);
    EXPECT_EQ(nvmf_num_queues(0x007f007f), 128u);
    EXPECT_EQ(nvmf_num_queues(0x00030007), 4u);
    EXPECT_EQ(nvmf_num_queues(0x00070003), 4u);
    EXPECT_EQ(nvmf_num_queues(0xffffffff), 65536u);
    EXPECT_EQ(nvmf_num_queues(0xdeadbeef00010001), 2u);
}

TEST(WireCommand, TellOfNamespaceChanges)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_set_events(&sqe, NVMF_EVENT_NS_ATTR);
    EXPECT_EQ(bytes_of(sqe), hex("09 40 00 00 00*4 00*32  0b 00 00 00  00 01 00 00  00*16"));
}

TEST(WireCommand, AsynchronousEventRequest)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_async_event(&sqe);
    EXPECT_EQ(bytes_of(sqe), hex("0c 40 00*62"));
}

// Dword 0 of its answer: type in 2:0, information in 15:8, log page in 23:16.
TEST(WireCommand, AnEvent)
{
    nvmf_event event = nvmf_event_parse(0x00040002);

    EXPECT_EQ(event.type, NVMF_EVENT_NOTICE);
    EXPECT_EQ(event.info, NVMF_NOTICE_NS_CHANGED);
    EXPECT_EQ(event.lid, NVMF_LOG_CHANGED_NS);
    EXPECT_TRUE(nvmf_event_is_ns_change(&event));

    event = nvmf_event_parse(0xdeadbeefff0cab0f);
    EXPECT_EQ(event.type, 7);
    EXPECT_EQ(event.info, 0xab);
    EXPECT_EQ(event.lid, 0x0c);
    EXPECT_FALSE(nvmf_event_is_ns_change(&event));

    event = nvmf_event_parse(0x000c0302);  // asymmetric access changed
    EXPECT_FALSE(nvmf_event_is_ns_change(&event));
    event = nvmf_event_parse(0x00040001);  // health
    EXPECT_FALSE(nvmf_event_is_ns_change(&event));
}

// NUMD, in dwords and 0-based: its lower half in CDW10 31:16, its upper half in CDW11.
TEST(WireCommand, GetLogPage)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_get_log_page(&sqe, NVMF_LOG_CHANGED_NS, NVMF_NSID_ALL, NVMF_LOG_CHANGED_NS_SIZE);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 ff*4 00*32  04 00 ff 03  00*20"));
    nvmf_build_get_log_page(&sqe, NVMF_LOG_SMART, 1, 512);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 01 00 00 00 00*32  02 00 7f 00  00*20"));
    nvmf_build_get_log_page(&sqe, NVMF_LOG_ERROR, 0, 4);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 00*4 00*32  01 00 00 00  00*20"));
    nvmf_build_get_log_page(&sqe, 0xff, 0, 0x00140000);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 00*4 00*32  ff 00 ff ff  04 00 00 00  00*16"));
}

TEST(WireCommand, KeepAlive)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_keep_alive(&sqe);
    EXPECT_EQ(bytes_of(sqe), hex("18 40 00*62"));
}

TEST(WireCommand, ReadOneBlock)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_rw(&sqe, NVMF_IO_READ, 1, 0, 1, 0);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 01 00 00 00 00*32  00*8  00 00 00 00  00*12"));
}

TEST(WireCommand, ReadFarOut)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_rw(&sqe, NVMF_IO_READ, 7, 0x1122334455667788, 8, 0);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 07 00 00 00 00*32 "
                                 "88 77 66 55 44 33 22 11  07 00 00 00  00*12"));
}

TEST(WireCommand, ReadTheMostBlocks)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_rw(&sqe, NVMF_IO_READ, 1, 0xffffffff, NVMF_RW_NLB_MAX, 0);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 01 00 00 00 00*32 "
                                 "ff ff ff ff 00 00 00 00  ff ff 00 00  00*12"));
}

TEST(WireCommand, WriteWithForceUnitAccess)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_rw(&sqe, NVMF_IO_WRITE, 2, 0x100000000, 16, NVMF_RW_FUA);
    EXPECT_EQ(bytes_of(sqe), hex("01 40 00 00 02 00 00 00 00*32 "
                                 "00 00 00 00 01 00 00 00  0f 00 00 40  00*12"));
}

TEST(WireCommand, LimitedRetryIsTheTopBit)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_rw(&sqe, NVMF_IO_READ, 1, 0, NVMF_RW_NLB_MAX, NVMF_RW_LIMITED_RETRY | NVMF_RW_FUA);
    EXPECT_EQ(bytes_of(sqe), hex("02 40 00 00 01 00 00 00 00*32  00*8  ff ff 00 c0  00*12"));
}

TEST(WireCommand, DeallocateOneRange)
{
    auto sqe = poisoned<nvmf_sqe>();
    auto range = poisoned<nvmf_dsm_range>();

    nvmf_build_deallocate(&sqe, &range, 3, 0x1122334455667788, 0x01020304);
    EXPECT_EQ(bytes_of(sqe), hex("09 40 00 00 03 00 00 00 00*32 "
                                 "00 00 00 00 04 00 00 00  00*16"));
    EXPECT_EQ(bytes_of(range), hex("00 00 00 00 04 03 02 01 88 77 66 55 44 33 22 11"));
}

TEST(WireCommand, Flush)
{
    auto sqe = poisoned<nvmf_sqe>();

    nvmf_build_flush(&sqe, 1);
    EXPECT_EQ(bytes_of(sqe), hex("00 40 00 00 01 00 00 00 00*56"));
    nvmf_build_flush(&sqe, 0xffffffff);
    EXPECT_EQ(bytes_of(sqe), hex("00 40 00 00 ff*4 00*56"));
}

}  // namespace
