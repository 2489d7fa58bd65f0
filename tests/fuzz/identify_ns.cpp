// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Identify Namespace, and commands to the namespace's ends. Input: the fields below.
#include <cerrno>

#include "identify_page.hpp"

namespace {

constexpr fuzz::Field fields[] = {
    {0, 8},      // NSZE
    {25, 1},     // NLBAF
    {26, 1},     // FLBAS
    {29, 1},     // DPS
    {99, 1},     // NSATTR
    {104, 16},   // NGUID
    {120, 8},    // EUI64
    {128, 256},  // LBAF 0 to 63
};

/// What must hold of a namespace that a host may use, and the size of its blocks.
bool usable(const std::uint8_t* page, unsigned& shift)
{
    const unsigned formats = page[25] + 1U;
    const unsigned format = (page[26] & 15U) | (formats > 16 ? (page[26] >> 5U & 3U) << 4U : 0);
    const std::size_t at = 128 + std::size_t{4} * format;

    if (fuzz::little(page, 0, 8) == 0 || format >= formats)
        return false;
    shift = page[at + 2];
    return fuzz::little(page, at, 2) == 0 && (page[29] & 7U) == 0 && shift >= 9 && shift <= 16 &&
           static_cast<unsigned __int128>(fuzz::little(page, 0, 8)) << shift < 1ULL << 63;
}

void check_usable(const std::uint8_t* page, const nvmf_ns_info& info)
{
    // the size in bytes, as a disk has it
    const auto bytes = static_cast<std::int64_t>(info.blocks) * (std::int64_t{1} << info.lba_shift);

    FUZZ_CHECK(info.blocks == fuzz::little(page, 0, 8));
    FUZZ_CHECK(bytes > 0 && static_cast<std::uint64_t>(bytes) >> info.lba_shift == info.blocks);
    FUZZ_CHECK(info.read_only == ((page[99] & 1) != 0));
    FUZZ_CHECK(std::memcmp(info.nguid, page + 104, sizeof(info.nguid)) == 0);
    FUZZ_CHECK(std::memcmp(info.eui64, page + 120, sizeof(info.eui64)) == 0);
    // the descriptors tell these
    FUZZ_CHECK(fuzz::zero(info.uuid, 0, sizeof(info.uuid)) && info.csi == 0);
}

/// The largest command that ends with the last block names exactly these blocks.
void check_last_command(const nvmf_ns_info& info)
{
    const auto nlb =
        static_cast<std::uint32_t>(info.blocks < NVMF_RW_NLB_MAX ? info.blocks : NVMF_RW_NLB_MAX);
    auto sqe = fuzz::poisoned<nvmf_sqe>(0xa5);

    nvmf_build_rw(&sqe, NVMF_IO_READ, 1, info.blocks - nlb, nlb, NVMF_RW_FUA);
    FUZZ_CHECK(fuzz::little(&sqe, 40, 8) + fuzz::little(&sqe, 48, 2) + 1 == info.blocks);
    FUZZ_CHECK(fuzz::little(&sqe, 48, 2) + 1 == nlb);
    FUZZ_CHECK(fuzz::little(&sqe, 50, 2) == NVMF_RW_FUA >> 16);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::Copy page = fuzz::identify_page(fields, {data, size}, 0);
    const fuzz::Copy same = fuzz::identify_page(fields, {data, size}, 0xff);
    auto info = fuzz::poisoned<nvmf_ns_info>(0xa5);
    auto again = fuzz::poisoned<nvmf_ns_info>(0x5a);
    unsigned shift = 0;

    const int rc = nvmf_ns_info_parse(page.data(), &info);
    FUZZ_CHECK(nvmf_ns_info_parse(same.data(), &again) == rc);
    FUZZ_CHECK(fuzz::same_bytes(&info, &again, sizeof(info)));

    FUZZ_CHECK(rc == 0 || rc == -ENODEV || rc == -EOPNOTSUPP || rc == -EPROTO);
    FUZZ_CHECK((rc == -ENODEV) == (fuzz::little(page.data(), 0, 8) == 0));
    FUZZ_CHECK((rc == 0) == usable(page.data(), shift));
    if (rc == 0) {
        FUZZ_CHECK(info.lba_shift == shift);
        check_usable(page.data(), info);
        check_last_command(info);
    }
    return 0;
}
