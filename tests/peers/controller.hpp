// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The NVMe half: what a subsystem answers to each command. It knows no RDMA and no faults
/// but those that are values (Config).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmf/capsule.h>
#include <nvmf/fabrics.h>

#include "script.hpp"
#include "store.hpp"

namespace kdp::peer {

/// What one host has connected to.
class Controller {
public:
    /// @p nqn: as the host calls the subsystem.
    Controller(const Config& config, std::uint16_t cntlid, std::string nqn)
        : config_(config), cntlid_(cntlid), nqn_(std::move(nqn))
    {
    }

    [[nodiscard]] std::uint16_t cntlid() const { return cntlid_; }
    [[nodiscard]] const std::string& nqn() const { return nqn_; }
    [[nodiscard]] std::optional<std::uint64_t> property(std::uint32_t offset) const;
    bool set_property(std::uint32_t offset, std::uint32_t value);
    [[nodiscard]] bool shutting_down() const { return cc_ & NVMF_CC_SHN_MASK; }

private:
    const Config& config_;
    std::uint16_t cntlid_;
    std::string nqn_;
    std::uint32_t cc_ = 0;
};

/// The end of a command; nothing at all for one that stays parked.
struct Answer {
    std::uint16_t status = NVMF_SC_SUCCESS;
    std::uint64_t result = 0;
    std::vector<std::byte> data{};  ///< for the host
};

class Subsystem {
public:
    /// @p nqn empty: any name is ours.
    Subsystem(const Config& config, std::string nqn);

    /// Fabrics Connect of queue @p qid; on success @p controller is the queue's.
    Answer connect(const nvmf_sqe& sqe, std::span<const std::byte> data, std::uint16_t qid,
                   std::shared_ptr<Controller>& controller);
    /// Property Get and Set.
    static Answer property(const nvmf_sqe& sqe, Controller& controller);
    /// Any other command on the admin queue.
    std::optional<Answer> admin(const nvmf_sqe& sqe, const Controller& controller) const;
    /// A command on an I/O queue; @p data is the host's for a write, @p room what it has for
    /// our data.
    Answer io(const nvmf_sqe& sqe, std::span<const std::byte> data, std::size_t room);

    /// How many bytes the host's data of @p sqe have, which we must fetch first.
    [[nodiscard]] static std::size_t bytes_from_host(const nvmf_sqe& sqe);

private:
    struct Namespace {
        NamespaceConfig config;
        Store store;
    };

    [[nodiscard]] const Namespace* find(std::uint64_t nsid) const;
    [[nodiscard]] std::optional<Answer> identify(const nvmf_sqe& sqe,
                                                 const Controller& controller) const;
    [[nodiscard]] Answer features(const nvmf_sqe& sqe) const;
    [[nodiscard]] static Answer log_page(const nvmf_sqe& sqe);

    const Config& config_;
    std::string nqn_;
    std::map<std::uint64_t, Namespace> namespaces_;
    std::map<std::uint16_t, std::weak_ptr<Controller>> controllers_;
    std::uint16_t next_cntlid_ = 1;
};

// identify.cpp
std::vector<std::byte> identify_controller(const Config& config, std::uint16_t cntlid,
                                           const std::string& nqn);
std::vector<std::byte> identify_namespace(const NamespaceConfig& config);
std::vector<std::byte> identify_descriptors(std::uint64_t nsid);
/// The active identifiers above @p after, as config.list tells them.
std::vector<std::byte> active_list(const Config& config, std::uint32_t after);

}  // namespace kdp::peer
