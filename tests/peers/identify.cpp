// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The Identify data structures, by their offsets (NVMe Base 2.0, figures 275, 280; NVM
// Command Set 1.0, 4.1.5).
#include <algorithm>
#include <cstring>

#include <nvmf/command.h>
#include <nvmf/identify.h>

#include "controller.hpp"

namespace kdp::peer {

namespace {

constexpr std::uint32_t version = 0x00010300;  // 1.3.0: no command sets to choose from
constexpr std::uint16_t oncs_compare = 1U << 0, oncs_write_zeroes = 1U << 3, oncs_verify = 1U << 7;

/// The 4096 bytes of Identify.
class Page {
public:
    void put(std::size_t offset, std::uint64_t value, std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes; i++)
            bytes_[offset + i] = static_cast<std::byte>(value >> (8 * i));
    }
    void text(std::size_t offset, std::string_view value, std::size_t bytes, char pad)
    {
        std::memset(&bytes_[offset], pad, bytes);
        std::memcpy(&bytes_[offset], value.data(), std::min(value.size(), bytes));
    }
    std::vector<std::byte> patched(const std::vector<Patch>& patches) &&
    {
        for (const auto& patch : patches)
            std::memcpy(&bytes_[patch.offset], patch.bytes.data(), patch.bytes.size());
        return std::move(bytes_);
    }

private:
    std::vector<std::byte> bytes_ = std::vector<std::byte>(NVMF_IDENTIFY_SIZE);
};

}  // namespace

std::vector<std::byte> identify_controller(const Config& config, std::uint16_t cntlid,
                                           const std::string& nqn)
{
    Page page;
    const auto highest = std::max_element(config.namespaces.begin(), config.namespaces.end(),
                                          [](auto& a, auto& b) { return a.nsid < b.nsid; });

    page.text(4, "kdp-peer", NVMF_SERIAL_SIZE, ' ');
    page.text(24, "kdp peer", NVMF_MODEL_SIZE, ' ');
    page.text(64, "1", NVMF_FIRMWARE_SIZE, ' ');
    page.put(76, 2, 1);  // CMIC: several controllers
    page.put(77, *config.mdts, 1);
    page.put(78, config.identify_cntlid.value_or(cntlid), 2);
    page.put(80, version, 4);
    page.put(92, *config.oaes, 4);
    page.put(111, 1, 1);  // an I/O controller
    page.put(259, 3, 1);  // four Asynchronous Event Requests
    page.put(320, *config.kas, 2);
    page.put(512, *config.sqes, 1);
    page.put(513, *config.cqes, 1);
    page.put(514, config.maxcmd.value_or(std::min<std::uint64_t>(*config.mqes + 1, 0xffff)), 2);
    page.put(516, config.nn.value_or(highest->nsid), 4);
    page.put(520, oncs_compare | oncs_write_zeroes | oncs_verify, 2);
    page.put(525, *config.vwc, 1);
    page.put(536, *config.sgls, 4);
    page.text(768, nqn, NVMF_NQN_FIELD, '\0');
    page.put(1792, *config.ioccsz, 4);
    page.put(1796, *config.iorcsz, 4);
    page.put(1800, *config.icdoff, 2);
    page.put(1803, *config.msdbd, 1);
    return std::move(page).patched(config.patches);
}

std::vector<std::byte> identify_namespace(const NamespaceConfig& config)
{
    Page page;

    page.put(0, *config.blocks, 8);
    page.put(8, config.ncap.value_or(*config.blocks), 8);
    page.put(16, config.nuse.value_or(*config.blocks), 8);
    page.put(25, *config.nlbaf, 1);
    page.put(26, *config.flbas, 1);
    page.put(29, *config.protection, 1);
    page.put(30, 1, 1);  // NMIC: shared by them
    page.put(99, *config.read_only, 1);
    page.put(104, 0x6b647000 + config.nsid, 16 / 2);
    page.put(120, 0x6b647000 + config.nsid, 8);
    for (unsigned format = 0; format <= std::min<std::uint64_t>(*config.nlbaf, 63); format++)
        page.put(128 + 4 * format, *config.metadata | *config.lbads << 16, 4);
    return std::move(page).patched(config.patches);
}

std::vector<std::byte> identify_descriptors(std::uint64_t nsid)
{
    Page page;

    // type 1, 8 bytes: the EUI-64 that Identify Namespace tells
    page.put(0, 1, 1);
    page.put(1, 8, 1);
    page.put(4, 0x6b647000 + nsid, 8);
    return std::move(page).patched({});
}

std::vector<std::byte> active_list(const Config& config, std::uint32_t after)
{
    Page page;
    std::vector<std::uint32_t> ids;

    for (const auto& ns : config.namespaces)
        ids.push_back(static_cast<std::uint32_t>(ns.nsid));
    std::sort(ids.begin(), ids.end());
    std::erase_if(ids, [&](auto nsid) { return nsid <= after; });
    switch (static_cast<List>(*config.list)) {
        case List::honest:
            break;
        case List::empty:
            ids.clear();
            break;
        case List::descending:
            std::reverse(ids.begin(), ids.end());
            break;
        case List::endless:
        case List::repeating:
            ids.resize(NVMF_ACTIVE_NS_PER_LIST);
            for (std::uint32_t i = 0; i < ids.size(); i++)
                ids[i] = i + 1 + (*config.list == unsigned(List::endless) ? after : 0);
            break;
        case List::same:
            ids.assign(NVMF_ACTIVE_NS_PER_LIST, 1);
            break;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(ids.size(), NVMF_ACTIVE_NS_PER_LIST); i++)
        page.put(4 * i, ids[i], 4);
    return std::move(page).patched({});
}

}  // namespace kdp::peer
