// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "controller.hpp"

#include <algorithm>
#include <cstring>

#include <nvmf/command.h>
#include <nvmf/fabrics.h>
#include <nvmf/rdma.h>

namespace kdp::peer {

namespace {

constexpr std::uint32_t version = 0x00010300;
constexpr std::uint64_t cap_cqr = 1ULL << 16, cap_css_nvm = 1ULL << 37;
constexpr std::uint8_t io_compare = 0x05, io_write_zeroes = 0x08, io_verify = 0x0c;
constexpr std::uint64_t connect_bad_data = 1ULL << 16;
constexpr std::uint64_t connect_bad_cntlid = 16;  // offset in Connect's data

std::uint64_t lba_of(const nvmf_sqe& sqe)
{
    return nvmf_le32toh(sqe.cdw10) | std::uint64_t{nvmf_le32toh(sqe.cdw11)} << 32;
}

std::uint32_t blocks_of(const nvmf_sqe& sqe)
{
    return (nvmf_le32toh(sqe.cdw12) & 0xffff) + 1;
}

}  // namespace

std::optional<std::uint64_t> Controller::property(std::uint32_t offset) const
{
    std::uint64_t csts = 0;

    switch (offset) {
        case NVMF_PROP_CAP:
            return *config_.mqes | cap_cqr | *config_.to << 24 | cap_css_nvm |
                   *config_.mpsmin << 48 | std::uint64_t{15} << 52;
        case NVMF_PROP_VS:
            return version;
        case NVMF_PROP_CC:
            return cc_;
        case NVMF_PROP_CSTS:
            if ((cc_ & NVMF_CC_ENABLE) && *config_.ready)
                csts |= NVMF_CSTS_RDY;
            if ((cc_ & NVMF_CC_SHN_MASK) && *config_.shutdown)
                csts |= NVMF_CSTS_SHST_DONE;
            if (*config_.cfs)
                csts |= NVMF_CSTS_CFS;
            return csts;
        default:
            return std::nullopt;
    }
}

bool Controller::set_property(std::uint32_t offset, std::uint32_t value)
{
    if (offset != NVMF_PROP_CC)
        return false;
    cc_ = value;
    return true;
}

Subsystem::Subsystem(const Config& config, std::string nqn) : config_(config), nqn_(std::move(nqn))
{
    for (const auto& ns : config.namespaces)
        namespaces_[ns.nsid].config = ns;
}

const Subsystem::Namespace* Subsystem::find(std::uint64_t nsid) const
{
    const auto found = namespaces_.find(nsid);

    if (found != namespaces_.end())
        return &found->second;
    // a list that names namespaces that are not there stands by its word
    const auto list = static_cast<List>(*config_.list);
    if (list == List::endless || list == List::repeating)
        return &namespaces_.begin()->second;
    return nullptr;
}

Answer Subsystem::connect(const nvmf_sqe& sqe, std::span<const std::byte> data, std::uint16_t qid,
                          std::shared_ptr<Controller>& controller)
{
    nvmf_connect_data in;
    const std::uint32_t cdw10 = nvmf_le32toh(sqe.cdw10);

    if (cdw10 & 0xffff)
        return {NVMF_SC_CONNECT_FORMAT | NVMF_SC_DNR};
    if (data.size() != sizeof(in) || cdw10 >> 16 != qid || controller ||
        !(nvmf_le32toh(sqe.cdw11) & 0xffff))
        return {NVMF_SC_CONNECT_INVALID_PARAM | NVMF_SC_DNR};
    std::memcpy(&in, data.data(), sizeof(in));
    if (!std::memchr(in.subsysnqn, 0, sizeof(in.subsysnqn)) ||
        (!nqn_.empty() && nqn_ != in.subsysnqn))
        return {NVMF_SC_CONNECT_INVALID_PARAM | NVMF_SC_DNR,
                connect_bad_data | NVMF_CONNECT_BAD_SUBSYSNQN};
    if (!std::memchr(in.hostnqn, 0, sizeof(in.hostnqn)) || !in.hostnqn[0])
        return {NVMF_SC_CONNECT_INVALID_PARAM | NVMF_SC_DNR,
                connect_bad_data | NVMF_CONNECT_BAD_HOSTNQN};

    const std::uint16_t cntlid = nvmf_le16toh(in.cntlid);
    if (!qid) {
        const auto given = static_cast<std::uint16_t>(config_.cntlid.value_or(next_cntlid_++));
        controller = std::make_shared<Controller>(config_, given, in.subsysnqn);
        controllers_[given] = controller;
        return {NVMF_SC_SUCCESS, given};
    }
    const auto found = controllers_.find(cntlid);
    if (found == controllers_.end() || !(controller = found->second.lock()))
        return {NVMF_SC_CONNECT_INVALID_PARAM | NVMF_SC_DNR, connect_bad_data | connect_bad_cntlid};
    return {NVMF_SC_SUCCESS, config_.io_cntlid.value_or(cntlid)};
}

Answer Subsystem::property(const nvmf_sqe& sqe, Controller& controller)
{
    const std::uint32_t offset = nvmf_le32toh(sqe.cdw11);

    if ((nvmf_le32toh(sqe.nsid) & 0xff) == NVMF_FCTYPE_PROPERTY_SET)
        return {std::uint16_t(controller.set_property(offset, nvmf_le32toh(sqe.cdw12))
                                  ? NVMF_SC_SUCCESS
                                  : NVMF_SC_INVALID_FIELD | NVMF_SC_DNR)};
    const auto value = controller.property(offset);
    if (!value)
        return {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
    return {NVMF_SC_SUCCESS, *value};
}

std::optional<Answer> Subsystem::identify(const nvmf_sqe& sqe, const Controller& controller) const
{
    const std::uint32_t nsid = nvmf_le32toh(sqe.nsid);
    const Namespace* ns = find(nsid);

    switch (nvmf_le32toh(sqe.cdw10) & 0xff) {
        case NVMF_CNS_CTRL:
            return Answer{.data =
                              identify_controller(config_, controller.cntlid(), controller.nqn())};
        case NVMF_CNS_ACTIVE_NS:
            return Answer{.data = active_list(config_, nsid)};
        case NVMF_CNS_NS:
            if (!ns)
                return Answer{NVMF_SC_INVALID_NS | NVMF_SC_DNR};
            return Answer{.data = identify_namespace(ns->config)};
        case NVMF_CNS_NS_DESCRIPTORS:
            if (!ns)
                return Answer{NVMF_SC_INVALID_NS | NVMF_SC_DNR};
            return Answer{.data = identify_descriptors(nsid)};
        default:
            return Answer{NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
    }
}

/// Of nothing that ever happened.
Answer Subsystem::log_page(const nvmf_sqe& sqe)
{
    const std::uint32_t cdw10 = nvmf_le32toh(sqe.cdw10);
    const std::size_t dwords =
        (cdw10 >> 16 | std::size_t{nvmf_le32toh(sqe.cdw11) & 0xffff} << 16) + 1;

    if (dwords * 4 > NVMF_LOG_CHANGED_NS_SIZE)
        return {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
    switch (cdw10 & 0xff) {
        case NVMF_LOG_ERROR:
        case NVMF_LOG_SMART:
        case NVMF_LOG_CHANGED_NS:
            return {.data = std::vector<std::byte>(dwords * 4)};
        default:
            return {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
    }
}

Answer Subsystem::features(const nvmf_sqe& sqe) const
{
    const std::uint32_t feature = nvmf_le32toh(sqe.cdw10) & 0xff;

    if (feature == NVMF_FEAT_ASYNC_EVENT && !(nvmf_le32toh(sqe.cdw11) & ~*config_.oaes))
        return {};
    if (feature != NVMF_FEAT_NUM_QUEUES)
        return {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
    const auto last = static_cast<std::uint32_t>(*config_.queues - 1) & 0xffff;
    return {NVMF_SC_SUCCESS, last | last << 16};
}

std::optional<Answer> Subsystem::admin(const nvmf_sqe& sqe, const Controller& controller) const
{
    switch (sqe.opcode) {
        case NVMF_ADM_IDENTIFY:
            return identify(sqe, controller);
        case NVMF_ADM_SET_FEATURES:
        case NVMF_ADM_GET_FEATURES:
            return features(sqe);
        case NVMF_ADM_KEEP_ALIVE:
            if (controller.shutting_down())
                return Answer{NVMF_SC_CMD_SEQ_ERROR | NVMF_SC_DNR};
            return Answer{};
        case NVMF_ADM_GET_LOG_PAGE:
            return log_page(sqe);
        case NVMF_ADM_ASYNC_EVENT:
            return std::nullopt;
        default:
            return Answer{NVMF_SC_INVALID_OPCODE | NVMF_SC_DNR};
    }
}

Answer Subsystem::io(const nvmf_sqe& sqe, std::span<const std::byte> data, std::size_t room)
{
    const auto found = namespaces_.find(nvmf_le32toh(sqe.nsid));

    if (sqe.opcode == NVMF_IO_FLUSH)
        return {};
    switch (sqe.opcode) {
        case NVMF_IO_READ:
        case NVMF_IO_WRITE:
        case io_compare:
        case io_write_zeroes:
        case io_verify:
            break;
        default:
            return {NVMF_SC_INVALID_OPCODE | NVMF_SC_DNR};
    }
    if (found == namespaces_.end())
        return {NVMF_SC_INVALID_NS | NVMF_SC_DNR};
    auto& [config, store] = found->second;
    const std::uint64_t lba = lba_of(sqe);
    const std::uint32_t blocks = blocks_of(sqe);
    if (lba > *config.blocks || blocks > *config.blocks - lba)
        return {NVMF_SC_LBA_RANGE | NVMF_SC_DNR};
    if (*config.lbads > 20)
        return {NVMF_SC_INTERNAL | NVMF_SC_DNR};
    const std::uint64_t offset = lba << *config.lbads,
                        bytes = std::uint64_t{blocks} << *config.lbads;
    if (sqe.opcode == io_write_zeroes) {
        store.zero(offset, bytes);
        return {};
    }
    if (sqe.opcode == io_verify)
        return {};  // memory can be read
    const bool to_ctrl = sqe.opcode == NVMF_IO_WRITE || sqe.opcode == io_compare;
    if (to_ctrl ? data.size() != bytes : room < bytes)
        return {NVMF_SC_INVALID_FIELD | NVMF_SC_DNR};
    if (sqe.opcode == NVMF_IO_WRITE) {
        store.write(offset, data);
        return {};
    }
    Answer answer;
    answer.data.resize(bytes);
    store.read(offset, answer.data);
    if (sqe.opcode == NVMF_IO_READ)
        return answer;
    if (!std::equal(data.begin(), data.end(), answer.data.begin()))
        return {NVMF_SC_COMPARE_FAILED | NVMF_SC_DNR};
    return {};
}

std::size_t Subsystem::bytes_from_host(const nvmf_sqe& sqe)
{
    const bool to_ctrl = sqe.opcode == NVMF_OPC_FABRICS
                             ? (nvmf_le32toh(sqe.nsid) & 0xff) == NVMF_FCTYPE_CONNECT
                             : (sqe.opcode & 3) == NVMF_OPC_TO_CTRL;

    if (!to_ctrl)
        return 0;
    return sqe.dptr.data.type == NVMF_SGL_DATA_OFFSET ? nvmf_le32toh(sqe.dptr.data.length)
                                                      : nvmf_sgl_keyed_length(&sqe.dptr);
}

}  // namespace kdp::peer
