// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The Namespace Identification Descriptor list, and whether two namespaces are the same.
// Input: how far into the data structure the list begins (so many unknown descriptors of 255 bytes
// in all, then one of that length), EUI64 and NGUID as Identify Namespace tells them, the list.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "identify_page.hpp"

namespace {

struct Descriptor {
    unsigned type;
    std::vector<std::uint8_t> id;
};

/// The descriptors up to the list's end; false if one reaches beyond the data.
bool walk(std::span<const std::uint8_t> data, std::vector<Descriptor>& list)
{
    while (data.size() >= 4 && data[1] != 0) {
        const std::size_t whole = 4U + data[1];
        if (data.size() < whole)
            return false;
        list.push_back({data[0], {data.begin() + 4, data.begin() + static_cast<long>(whole)}});
        data = data.subspan(whole);
    }
    return true;
}

/// What all that is told of one identifier comes to: one value, or a contradiction.
bool agree(const std::vector<Descriptor>& list, unsigned type, std::vector<std::uint8_t>& value)
{
    const std::vector<std::uint8_t> nothing(value.size());

    for (const auto& [is, id] : list) {
        if (is != type)
            continue;
        if (id.size() != value.size() || (value != nothing && id != value))
            return false;
        value = id;
    }
    return true;
}

template <std::size_t n>
std::vector<std::uint8_t> bytes(const std::uint8_t (&field)[n])
{
    return {field, field + n};
}

void check_list(const nvmf_ns_info& before, const nvmf_ns_info& info, int rc,
                std::span<const std::uint8_t> page)
{
    std::vector<Descriptor> list;
    auto eui64 = bytes(before.eui64), nguid = bytes(before.nguid), uuid = bytes(before.uuid);
    std::vector<std::uint8_t> csi = {before.csi};
    const bool good = walk(page, list) && agree(list, 1, eui64) && agree(list, 2, nguid) &&
                      agree(list, 3, uuid) && agree(list, 4, csi);

    FUZZ_CHECK(rc == 0 || rc == -EPROTO || rc == -EOPNOTSUPP);
    FUZZ_CHECK((rc == -EPROTO) == !good);
    if (!good) {
        FUZZ_CHECK(fuzz::same_bytes(&before, &info, sizeof(info)));
        return;
    }
    FUZZ_CHECK((rc == 0) == (csi[0] == 0));
    FUZZ_CHECK(bytes(info.eui64) == eui64 && bytes(info.nguid) == nguid);
    FUZZ_CHECK(bytes(info.uuid) == uuid && info.csi == csi[0]);
    FUZZ_CHECK(info.blocks == before.blocks && info.lba_shift == before.lba_shift &&
               info.read_only == before.read_only);
    const auto told = [](const auto& id) {
        return std::any_of(id.begin(), id.end(), [](auto b) { return b; });
    };
    FUZZ_CHECK(nvmf_ns_has_id(&info) == (told(eui64) || told(nguid) || told(uuid)));
}

/// It is itself, resized only if it says who it is, and never with another identifier or block.
void check_same(const nvmf_ns_info& info, unsigned flip)
{
    nvmf_ns_info other = info;

    FUZZ_CHECK(nvmf_ns_same(&info, &other));
    other.read_only = !other.read_only;
    FUZZ_CHECK(nvmf_ns_same(&info, &other));
    other.blocks++;
    FUZZ_CHECK(nvmf_ns_same(&info, &other) == nvmf_ns_has_id(&info));
    other = info;
    other.lba_shift++;
    FUZZ_CHECK(!nvmf_ns_same(&info, &other));
    other = info;
    std::uint8_t* const ids[] = {other.eui64, other.nguid, other.uuid};
    const std::size_t size = flip % 3 ? 16 : 8;
    ids[flip % 3][flip / 3 % size] ^= 1U << flip % 8;
    FUZZ_CHECK(!nvmf_ns_same(&info, &other) && !nvmf_ns_same(&other, &info));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz::Input input(data, size);
    const std::size_t unknown = input.number<std::uint8_t>() % 17;
    const std::size_t last = input.number<std::uint8_t>();
    auto before = fuzz::poisoned<nvmf_ns_info>(0);
    before.blocks = 1;
    before.lba_shift = 9;
    for (auto& byte : before.eui64)
        byte = input.number<std::uint8_t>();
    for (auto& byte : before.nguid)
        byte = input.number<std::uint8_t>();

    std::vector<std::uint8_t> list;
    for (std::size_t i = 0; i <= unknown; i++) {
        const std::size_t length = i == unknown ? last : 251;
        if (length == 0)
            continue;
        list.insert(list.end(), {0xee, static_cast<std::uint8_t>(length), 0xff, 0xff});
        list.insert(list.end(), length, 0x01);
    }
    list.insert(list.end(), input.rest().begin(), input.rest().end());
    list.resize(NVMF_IDENTIFY_SIZE);

    const fuzz::Copy page(list);
    auto info = fuzz::poisoned<nvmf_ns_info>(0);
    std::memcpy(&info, &before, sizeof(info));  // padding, too
    const int rc = nvmf_ns_descriptors_parse(page.data(), &info);
    check_list(before, info, rc, list);
    check_same(info, last);
    return 0;
}
