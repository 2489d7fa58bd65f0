// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Who a namespace is: the Namespace Identification Descriptor list, right and wrong, and when two
// are the same. NVMe Base 2.0, 5.17.2.3 (figure 277).

#include "wire_golden.hpp"

#include <nvmf/identify.h>

#include <cerrno>

using golden::Bytes;
using golden::hex;

namespace {

/// A namespace of 1000 blocks of 512 bytes that tells no identifier.
nvmf_ns_info nobody()
{
    nvmf_ns_info info{};

    info.blocks = 1000;
    info.lba_shift = 9;
    return info;
}

/// The data structure: @p at bytes of one unknown descriptor after the other, @p list, zeroes.
int parse(const std::string& list, nvmf_ns_info& info, std::size_t at = 0)
{
    Bytes data;

    while (data.size() < at) {
        const std::size_t left = at - data.size();
        // a rest of less than 5 bytes would have no room for one
        const std::size_t whole = left > 259 + 5 ? 259 : left > 259 ? left - 5 : left;
        data.insert(data.end(), {0xee, static_cast<std::uint8_t>(whole - 4), 0, 0});
        data.resize(data.size() + whole - 4, 0x77);
    }
    const Bytes wanted = hex(list);
    data.insert(data.end(), wanted.begin(), wanted.end());
    EXPECT_LE(data.size(), 4096u);
    data.resize(4096);
    return nvmf_ns_descriptors_parse(data.data(), &info);
}

template <std::size_t n>
Bytes bytes(const std::uint8_t (&field)[n])
{
    return {field, field + n};
}

const std::string uuid = "f8 1d 4f ae 7d ec 11 d0 a7 65 00 a0 c9 1e 6b f6";
const std::string nguid = "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f";
const std::string eui64 = "11 22 33 44 55 66 77 88";

TEST(WireNsIdentity, AllFourTypes)
{
    auto info = nobody();

    ASSERT_EQ(parse("01 08 00 00" + eui64 + "02 10 00 00" + nguid + "03 10 00 00" + uuid +
                        "04 01 00 00 00",
                    info),
              0);
    EXPECT_EQ(bytes(info.eui64), hex(eui64));
    EXPECT_EQ(bytes(info.nguid), hex(nguid));
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
    EXPECT_EQ(info.blocks, 1000u);
    EXPECT_EQ(info.lba_shift, 9);
}

// As stock nvmet sends it: UUID, then the command set.
TEST(WireNsIdentity, UuidAlone)
{
    auto info = nobody();

    ASSERT_EQ(parse("03 10 00 00" + uuid + "04 01 00 00 00", info), 0);
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
    EXPECT_EQ(bytes(info.nguid), hex("00*16"));
    EXPECT_EQ(bytes(info.eui64), hex("00*8"));
}

TEST(WireNsIdentity, AnEmptyListTellsNothing)
{
    auto info = nobody();

    EXPECT_EQ(parse("", info), 0);
    EXPECT_FALSE(nvmf_ns_has_id(&info));
}

TEST(WireNsIdentity, ALengthOfZeroEndsTheList)
{
    auto info = nobody();

    EXPECT_EQ(parse("03 00 00 00 03 10 00 00" + uuid, info), 0);
    EXPECT_FALSE(nvmf_ns_has_id(&info));
    EXPECT_EQ(parse("00 00 00 00 03 ff ff ff", info), 0);
}

TEST(WireNsIdentity, UnknownTypesAreSkipped)
{
    auto info = nobody();

    ASSERT_EQ(
        parse("00 01 00 00 aa 05 03 00 00 01 02 03 ff ff 00 00 55*255 03 10 00 00" + uuid, info),
        0);
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
}

TEST(WireNsIdentity, ReservedBytesDoNotMatter)
{
    auto info = nobody();

    ASSERT_EQ(parse("03 10 ff ff" + uuid, info), 0);
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
}

TEST(WireNsIdentity, LengthsThatAreNotTheTypes)
{
    const char* const cases[] = {"01 07 00 00 11*7",  "01 09 00 00 11*9",  "01 10 00 00 11*16",
                                 "02 0f 00 00 11*15", "02 11 00 00 11*17", "02 08 00 00 11*8",
                                 "03 0f 00 00 11*15", "03 11 00 00 11*17", "03 ff 00 00 11*255",
                                 "04 02 00 00 00 00"};

    for (const char* list : cases) {
        auto info = nobody();

        EXPECT_EQ(parse(list, info), -EPROTO) << list;
        EXPECT_FALSE(nvmf_ns_has_id(&info)) << list;
    }
}

// What came before the mistake does not count either.
TEST(WireNsIdentity, AWrongListTellsNothing)
{
    auto info = nobody();

    EXPECT_EQ(parse("03 10 00 00" + uuid + "02 01 00 00 11", info), -EPROTO);
    EXPECT_FALSE(nvmf_ns_has_id(&info));
}

TEST(WireNsIdentity, TheSameTwice)
{
    auto info = nobody();

    EXPECT_EQ(parse("03 10 00 00" + uuid + "03 10 00 00" + uuid, info), 0);
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
}

TEST(WireNsIdentity, TwiceAndDifferent)
{
    auto info = nobody();

    EXPECT_EQ(parse("03 10 00 00" + uuid + "03 10 00 00" + nguid, info), -EPROTO);
    EXPECT_EQ(parse("01 08 00 00" + eui64 + "01 08 00 00 99*8", info), -EPROTO);
    EXPECT_EQ(parse("02 10 00 00" + uuid + "02 10 00 00" + nguid, info), -EPROTO);
}

TEST(WireNsIdentity, AgainstIdentifyNamespace)
{
    auto info = nobody();
    const Bytes told = hex(eui64);

    std::memcpy(info.eui64, told.data(), told.size());
    EXPECT_EQ(parse("01 08 00 00 99*8", info), -EPROTO);
    EXPECT_EQ(bytes(info.eui64), hex(eui64));
    EXPECT_EQ(parse("01 08 00 00" + eui64 + "03 10 00 00" + uuid, info), 0);
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
}

TEST(WireNsIdentity, AnotherCommandSet)
{
    auto info = nobody();

    EXPECT_EQ(parse("04 01 00 00 02", info), -EOPNOTSUPP);  // zoned
    EXPECT_EQ(parse("04 01 00 00 01", info = nobody()), -EOPNOTSUPP);
    EXPECT_EQ(parse("04 01 00 00 ff", info = nobody()), -EOPNOTSUPP);
    EXPECT_EQ(parse("04 01 00 00 02 04 01 00 00 00", info = nobody()), -EPROTO);
}

TEST(WireNsIdentity, UpToTheEnd)
{
    auto info = nobody();

    ASSERT_EQ(parse("03 10 00 00" + uuid, info, 4096 - 20), 0);
    EXPECT_EQ(bytes(info.uuid), hex(uuid));
    EXPECT_EQ(parse("", info = nobody(), 4096), 0);
    EXPECT_EQ(parse("03 10 00", info = nobody(), 4093), 0);  // no whole header
    EXPECT_FALSE(nvmf_ns_has_id(&info));
}

TEST(WireNsIdentity, BeyondTheEnd)
{
    auto info = nobody();

    EXPECT_EQ(parse("03 10 00 00 11*15", info, 4096 - 19), -EPROTO);
    EXPECT_EQ(parse("03 10 00 00", info, 4096 - 4), -EPROTO);
    EXPECT_EQ(parse("ee 01 00 00", info, 4096 - 4), -EPROTO);
    EXPECT_EQ(parse("ee ff 00 00", info, 4096 - 258), -EPROTO);
    EXPECT_EQ(parse("ee ff 00 00", info, 4096 - 259), 0);
}

TEST(WireNsIdentity, AllOnesAreRefused)
{
    auto info = nobody();

    EXPECT_EQ(parse("ff*4096", info), -EPROTO);
}

TEST(WireNsIdentity, OfOneThatSaysWhoItIsTheSizeMayChange)
{
    for (int which = 0; which < 3; which++) {
        nvmf_ns_info a = nobody(), b = nobody();

        (which == 0 ? a.eui64 : which == 1 ? a.nguid : a.uuid)[7] = 1;
        b = a;
        b.blocks = 1;
        b.read_only = true;
        EXPECT_TRUE(nvmf_ns_has_id(&a)) << which;
        EXPECT_TRUE(nvmf_ns_same(&a, &b)) << which;
        b.lba_shift = 12;
        EXPECT_FALSE(nvmf_ns_same(&a, &b)) << which;
    }
}

TEST(WireNsIdentity, OneMoreOrOneLessIsAnother)
{
    nvmf_ns_info a = nobody(), b;

    a.uuid[0] = 1;
    b = a;
    b.nguid[15] = 1;
    EXPECT_FALSE(nvmf_ns_same(&a, &b));
    EXPECT_FALSE(nvmf_ns_same(&b, &a));
    b = nobody();
    EXPECT_FALSE(nvmf_ns_same(&a, &b));
    EXPECT_FALSE(nvmf_ns_same(&b, &a));
    b = a;
    b.eui64[0] = 1;
    EXPECT_FALSE(nvmf_ns_same(&a, &b));
}

TEST(WireNsIdentity, WithoutIdentifiersTheSizeTells)
{
    nvmf_ns_info a = nobody(), b = nobody();

    EXPECT_TRUE(nvmf_ns_same(&a, &b));
    b.read_only = true;
    EXPECT_TRUE(nvmf_ns_same(&a, &b));
    b.blocks++;
    EXPECT_FALSE(nvmf_ns_same(&a, &b));
}

}  // namespace
