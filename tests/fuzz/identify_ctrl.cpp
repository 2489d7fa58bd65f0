// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Identify Controller. Input: CAP.MPSMIN (one byte), then the fields below.
#include <cerrno>

#include <nvmf/fabrics.h>

#include "identify_page.hpp"

namespace {

constexpr fuzz::Field fields[] = {
    {4, 20},    // SN
    {24, 40},   // MN
    {64, 8},    // FR
    {77, 1},    // MDTS
    {78, 2},    // CNTLID
    {320, 2},   // KAS
    {512, 1},   // SQES
    {513, 1},   // CQES
    {514, 2},   // MAXCMD
    {516, 4},   // NN
    {525, 1},   // VWC
    {536, 4},   // SGLS
    {1792, 4},  // IOCCSZ
    {1800, 2},  // ICDOFF
    {1803, 1},  // MSDBD
    {520, 2},   // ONCS; new ones come last, for the corpus
    {92, 4},    // OAES
};

/// A text for people: whole, printable, without the padding.
template <std::size_t n>
void check_text(const char (&text)[n])
{
    const std::size_t length = strnlen(text, n);

    FUZZ_CHECK(length < n);
    for (std::size_t i = 0; i < length; i++)
        FUZZ_CHECK(text[i] >= 0x20 && text[i] < 0x7f);
    FUZZ_CHECK(length == 0 || text[length - 1] != ' ');
}

void check_largest_transfer(const nvmf_ctrl_info& info, unsigned mdts, std::uint64_t page_min)
{
    const bool limited =
        mdts != 0 && mdts < 64 &&
        static_cast<unsigned __int128>(page_min) << mdts <= std::uint64_t{0xffffffff};

    FUZZ_CHECK(info.mdts == (limited ? page_min << mdts : 0));
}

void check_sizes(const nvmf_ctrl_info& info)
{
    FUZZ_CHECK(info.capsule >= NVMF_SQE_SIZE && info.capsule <= 1U << 24);
    FUZZ_CHECK(info.capsule % 16 == 0);
    FUZZ_CHECK((info.sgls & NVMF_SGLS_KEYED) && (info.sgls & NVMF_SGLS_SUPPORTED));
    FUZZ_CHECK(info.icdoff <= 65535U * 16);

    const std::uint32_t in_capsule = nvmf_inline_max(&info);
    FUZZ_CHECK(in_capsule <= info.capsule - NVMF_SQE_SIZE);
    FUZZ_CHECK(in_capsule == 0 || (info.icdoff == 0 && (info.sgls & NVMF_SGLS_OFFSET)));
}

/// SQES and CQES: the required size in bits 3:0, the largest in bits 7:4, as powers of two.
bool takes(std::uint8_t sizes, unsigned ours)
{
    return (sizes & 15U) <= ours && ours <= sizes >> 4U;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::Input input(data, size);
    const std::uint64_t cap = static_cast<std::uint64_t>(input.number<std::uint8_t>()) << 48;
    const std::uint64_t page_min = nvmf_cap_page_min(cap);
    const fuzz::Copy page = fuzz::identify_page(fields, input.rest(), 0);
    const fuzz::Copy same = fuzz::identify_page(fields, input.rest(), 0xff);
    auto info = fuzz::poisoned<nvmf_ctrl_info>(0xa5);
    auto again = fuzz::poisoned<nvmf_ctrl_info>(0x5a);

    const int rc = nvmf_ctrl_info_parse(page.data(), page_min, &info);
    FUZZ_CHECK(nvmf_ctrl_info_parse(same.data(), page_min, &again) == rc);
    FUZZ_CHECK(fuzz::same_bytes(&info, &again, sizeof(info)));

    FUZZ_CHECK(rc == 0 || rc == -EPROTO || rc == -EOPNOTSUPP);
    check_text(info.serial);
    check_text(info.model);
    check_text(info.firmware);
    check_largest_transfer(info, page.data()[77], page_min);
    FUZZ_CHECK(info.oaes == fuzz::little(page.data(), 92, 4));
    if (rc == 0) {
        check_sizes(info);
        FUZZ_CHECK(takes(page.data()[512], 6) && takes(page.data()[513], 4));
    }
    return 0;
}
