// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "admin.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "nvme_error.hpp"

namespace kdp::fabrics {

using namespace std::chrono_literals;

namespace {

// the whole of the shutdown, and one command of it, which the destructor waits for
constexpr auto shutdown_time = 5000ms;
constexpr auto shutdown_command_time = 2000ms;

/// Check of CSTS in growing steps: a software target is ready at once.
void nap(std::chrono::milliseconds& step)
{
    std::this_thread::sleep_for(step);
    step = std::min(step * 2, 100ms);
}

}  // namespace

Result<std::unique_ptr<Admin>> Admin::open(std::unique_ptr<CommandQueue> queue, Subsystem subsystem,
                                           Patience patience)
{
    std::unique_ptr<Admin> admin(new Admin(std::move(queue), std::move(subsystem), patience));

    Result<std::uint16_t> cntlid =
        admin->connect(*admin->queue_, 0, admin_entries, admin->subsystem_.keep_alive_ms);
    if (!cntlid)
        return cntlid.error();
    admin->cntlid_ = *cntlid;
    if (Status s = admin->enable(); !s)
        return s.error();
    if (Status s = admin->identify(); !s)
        return s.error();
    return admin;
}

Admin::~Admin()
{
    if (!queue_->broken())
        shut_down();
}

/// A command of the admin queue that must succeed.
Result<nvmf_response> Admin::command(const nvmf_sqe& sqe, PageData data, const char* what)
{
    Result<nvmf_response> response = queue_->run(sqe, data, patience_.for_part(step_time_), what);

    if (response && (response->status & NVMF_SC_MASK) != NVMF_SC_SUCCESS)
        return error_from_nvme(response->status, std::string(what) + " at " + peer());
    return response;
}

Result<std::uint16_t> Admin::connect(CommandQueue& queue, std::uint16_t qid, unsigned entries,
                                     std::uint32_t keep_alive_ms)
{
    const std::string& nqn = subsystem_.nqn;
    const HostIdentity& host = subsystem_.host;
    auto* data = reinterpret_cast<nvmf_connect_data*>(queue.page().data());
    const int rc =
        nvmf_connect_data_fill(data, host.id.data(), cntlid_, nqn.c_str(), host.nqn.c_str());
    if (rc)
        return Error{-rc, "the NQN '" + nqn + "' or the host NQN '" + host.nqn +
                              "' is empty or longer than " + std::to_string(NVMF_NQN_SIZE) +
                              " characters"};
    nvmf_sqe sqe;
    nvmf_build_connect(&sqe, qid, entries, keep_alive_ms);
    if (qid && subsystem_.no_sq_flow)
        sqe.cdw11 |= nvmf_htole32(NVMF_CONNECT_NO_SQ_FLOW);
    Result<nvmf_response> response = queue.run(sqe, {PageData::Way::to_controller, sizeof(*data)},
                                               patience_.for_part(step_time_), "Connect");
    if (!response)
        return response.error();
    if ((response->status & NVMF_SC_MASK) != NVMF_SC_SUCCESS)
        return error_from_connect(*response, nqn, host.nqn, queue.peer());
    const std::uint16_t cntlid = nvmf_connect_cntlid(response->result);
    // a queue of another controller would lead to other namespaces
    if (cntlid == NVMF_CNTLID_DYNAMIC || (qid && cntlid != cntlid_))
        return Error{EPROTO, queue.peer() + " answered Connect of queue " + std::to_string(qid) +
                                 " with the identifier of another controller"};
    return cntlid;
}

Status Admin::join(CommandQueue& queue, std::uint16_t qid, unsigned depth)
{
    Result<std::uint16_t> cntlid = connect(queue, qid, queue_entries(depth), 0);

    return cntlid ? ok() : Status(cntlid.error());
}

Status Admin::ask_for_queues(unsigned count)
{
    nvmf_sqe sqe;

    if (count == 0 || count > queues_at_most)
        return Error{EINVAL, std::to_string(count) + " I/O queues: 1 to " +
                                 std::to_string(queues_at_most) + " are possible"};
    nvmf_build_set_num_queues(&sqe, count);
    Result<nvmf_response> response = command(sqe, {}, "Set Features (number of queues)");
    if (!response)
        return response.error();
    const std::uint32_t granted = nvmf_num_queues(response->result);
    if (granted < count)
        return Error{EBUSY, "the controller at " + peer() + " has " + std::to_string(granted) +
                                " I/O queues for this host, " + std::to_string(count) +
                                " were asked for; use fewer threads"};
    return ok();
}

Result<std::uint64_t> Admin::property_get(std::uint32_t offset, bool eight_bytes, const char* what)
{
    nvmf_sqe sqe;

    nvmf_build_property_get(&sqe, offset, eight_bytes);
    Result<nvmf_response> response = command(sqe, {}, what);
    if (!response)
        return response.error();
    return response->result;
}

Status Admin::property_set(std::uint32_t offset, std::uint32_t value, const char* what)
{
    nvmf_sqe sqe;

    nvmf_build_property_set(&sqe, offset, value);
    Result<nvmf_response> response = command(sqe, {}, what);
    return response ? ok() : Status(response.error());
}

Status Admin::enable()
{
    Result<std::uint64_t> cap = property_get(NVMF_PROP_CAP, true, "Property Get (CAP)");
    if (!cap)
        return cap.error();
    cap_ = *cap;

    // CC.MPS, bits 10:7, as CAP.MPSMIN: the smallest page that the controller takes
    cc_ = NVMF_CC_NVM | static_cast<std::uint32_t>(cap_ >> 48 & 0xf) << 7 | NVMF_CC_ENABLE;
    if (Status s = property_set(NVMF_PROP_CC, cc_, "Property Set (CC, enable)"); !s)
        return s;

    // CAP.TO of 0 gives a controller no time at all; half a second is its unit
    const auto limit = std::chrono::milliseconds(std::max(nvmf_cap_timeout_ms(cap_), 500U));
    const Deadline deadline = Deadline::in(limit).or_sooner(patience_.until);
    auto step = 1ms;
    for (;;) {
        const bool last = deadline.passed() || patience_.hurried();
        Result<std::uint64_t> csts = property_get(NVMF_PROP_CSTS, false, "Property Get (CSTS)");
        if (!csts)
            return csts.error();
        if (*csts & NVMF_CSTS_CFS)
            return Error{EIO, "the controller at " + peer() + " reports a fatal status (CSTS.CFS)"};
        if (*csts & NVMF_CSTS_RDY)
            return ok();
        if (last)
            return Error{ETIMEDOUT, "the controller at " + peer() + " was not ready within the " +
                                        std::to_string(limit.count()) +
                                        " ms that it asks for (CAP.TO)"};
        nap(step);
    }
}

Result<nvmf_response> Admin::ask(std::uint8_t cns, std::uint32_t nsid, const char* what)
{
    nvmf_sqe sqe;

    nvmf_build_identify(&sqe, cns, nsid);
    return command(sqe, {PageData::Way::to_host, NVMF_IDENTIFY_SIZE}, what);
}

Status Admin::identify()
{
    const std::string who = "the controller at " + peer();
    Result<nvmf_response> response = ask(NVMF_CNS_CTRL, 0, "Identify Controller");
    if (!response)
        return response.error();
    const int rc = nvmf_ctrl_info_read(queue_->page().data(), nvmf_cap_page_min(cap_), &info_);
    if (rc)
        return Error{-rc, who + " contradicts itself in Identify Controller"};
    if (!(info_.sgls & NVMF_SGLS_SUPPORTED))
        return Error{EOPNOTSUPP, who + " takes no SGLs, which NVMe over Fabrics needs"};
    if (subsystem_.keyed_sgls && !(info_.sgls & NVMF_SGLS_KEYED))
        return Error{EOPNOTSUPP, who + " takes no keyed SGLs, which NVMe over RDMA needs"};
    if (info_.cntlid != cntlid_)
        return Error{EPROTO, who + " has another identifier in Identify than in Connect"};
    return ok();
}

Result<nvmf_ns_info> Admin::identify_namespace(std::uint32_t nsid)
{
    const std::string name =
        "namespace " + std::to_string(nsid) + " of " + subsystem_.nqn + " at " + peer();

    if (nsid == 0 || nsid == NVMF_NSID_ALL)
        return Error{EINVAL, std::to_string(nsid) + " is no namespace identifier"};

    // the list holds the active identifiers above the one given, in order
    Result<nvmf_response> response =
        ask(NVMF_CNS_ACTIVE_NS, nsid - 1, "Identify (active namespaces)");
    // a controller of before NVMe 1.1 has no such list; NSZE of 0 then tells
    if (!response && (response.error().nvme_status & NVMF_SC_MASK) != NVMF_SC_INVALID_FIELD)
        return response.error();
    if (response && nvmf_get32(queue_->page().data(), 0) != nsid)
        return Error{ENODEV, "there is no " + name};

    response = ask(NVMF_CNS_NS, nsid, "Identify Namespace");
    if (!response)
        return response.error();
    nvmf_ns_info info;
    switch (const int rc = nvmf_ns_info_parse(queue_->page().data(), &info)) {
        case 0:
            break;
        case -ENODEV:
            return Error{ENODEV, "there is no " + name};
        case -EOPNOTSUPP:
            return Error{EOPNOTSUPP, name +
                                         " has metadata or protection information, which this "
                                         "path does not handle"};
        default:
            return Error{-rc, name + " has a format that no host can use"};
    }
    if (Status s = describe(nsid, name, info); !s)
        return s.error();
    return info;
}

/// Add to @p info what the descriptors tell of who the namespace is.
Status Admin::describe(std::uint32_t nsid, const std::string& name, nvmf_ns_info& info)
{
    Result<nvmf_response> response =
        ask(NVMF_CNS_NS_DESCRIPTORS, nsid, "Identify (namespace descriptors)");

    // optional before NVMe 1.3; what makes no sense tells nothing
    if (!response)
        return response.error().nvme_status ? ok() : Status(response.error());
    if (nvmf_ns_descriptors_parse(queue_->page().data(), &info) == -EOPNOTSUPP)
        return Error{EOPNOTSUPP, name + " is not of the NVM command set"};
    return ok();
}

unsigned Admin::max_depth() const noexcept
{
    // a queue of n entries holds n - 1 commands
    unsigned depth = std::min(nvmf_cap_queue_entries(cap_) - 1, NVMF_CID_SLOTS - 1U);

    if (info_.maxcmd)
        depth = std::min<unsigned>(depth, info_.maxcmd);
    return depth;
}

Status Admin::check_depth(unsigned depth) const
{
    if (depth == 0 || depth > max_depth())
        return Error{EINVAL, "a depth of " + std::to_string(depth) + " was asked for; " + peer() +
                                 " takes 1 to " + std::to_string(max_depth())};
    return ok();
}

Status Admin::keep_alive(const Latch& stop)
{
    nvmf_sqe sqe;

    patience_ = {Deadline::never(), &stop};
    nvmf_build_keep_alive(&sqe);
    Result<nvmf_response> response = command(sqe, {}, "Keep Alive");
    patience_ = {};
    return response ? ok() : Status(response.error());
}

void Admin::shut_down()
{
    if (!cc_)
        return;
    const Deadline deadline = Deadline::in(shutdown_time);
    auto step = 1ms;

    step_time_ = shutdown_command_time;
    patience_.until = patience_.until.or_sooner(deadline);
    if (!property_set(NVMF_PROP_CC, cc_ | NVMF_CC_SHN_NORMAL, "Property Set (CC, shutdown)"))
        return;
    while (!deadline.passed() && !patience_.hurried()) {
        Result<std::uint64_t> csts = property_get(NVMF_PROP_CSTS, false, "Property Get (CSTS)");
        if (!csts || (*csts & NVMF_CSTS_CFS) ||
            (*csts & NVMF_CSTS_SHST_MASK) == NVMF_CSTS_SHST_DONE)
            return;
        nap(step);
    }
}

}  // namespace kdp::fabrics
