// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "admin.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "nvme_error.hpp"
#include "sync_command.hpp"

namespace kdp::verbs {

using namespace std::chrono_literals;

namespace {

// the whole of the shutdown, and one command of it, which the destructor waits for
constexpr auto shutdown_time = 5000ms;
constexpr auto shutdown_command_time = 2000ms;

// Base 2.0, 3.1.3.2: an admin queue over fabrics has at least 32 entries
constexpr std::uint16_t admin_entries = 32;
// and we send one command at a time
constexpr std::uint16_t admin_depth = 1;

// an active namespace must lie below these (Base 2.0, 3.2.1.5)
constexpr std::uint32_t nsid_broadcast = 0xffffffff;

/// Check of CSTS in growing steps: a software target is ready at once.
void nap(std::chrono::milliseconds& step)
{
    std::this_thread::sleep_for(step);
    step = std::min(step * 2, 100ms);
}

}  // namespace

Result<std::unique_ptr<Admin>> Admin::open(Target target)
{
    std::unique_ptr<Admin> admin(new Admin(std::move(target)));
    const Endpoint& endpoint = admin->target_.endpoint;

    Result<std::unique_ptr<Queue>> queue =
        Queue::open(endpoint, {0, admin_entries, admin_depth, NVMF_CNTLID_DYNAMIC});
    if (!queue)
        return queue.error();
    admin->queue_ = std::move(*queue);
    Result<std::uint16_t> cntlid = admin->fabrics_connect(*admin->queue_, 0, admin_entries);
    if (!cntlid)
        return cntlid.error();
    admin->cntlid_ = *cntlid;
    if (Status s = admin->enable(); !s)
        return s.error();
    if (Status s = admin->identify(); !s)
        return s.error();

    nvmf_sqe sqe;
    nvmf_build_set_num_queues(&sqe, 1);
    Result<nvmf_response> response =
        run_checked(*admin->queue_, sqe, 0, Deadline::in(admin->command_time_),
                    "Set Features (number of queues)");
    if (!response)
        return response.error();
    return admin;
}

Admin::~Admin()
{
    if (queue_ && !queue_->broken())
        shut_down();
}

Result<std::uint16_t> Admin::fabrics_connect(Queue& queue, std::uint16_t qid, unsigned entries)
{
    const std::string& where = target_.endpoint.text;
    auto* data = reinterpret_cast<nvmf_connect_data*>(queue.scratch().data());
    const int rc = nvmf_connect_data_fill(data, target_.host.id.data(), cntlid_,
                                          target_.nqn.c_str(), target_.host.nqn.c_str());
    if (rc)
        return Error{-rc, "the NQN '" + target_.nqn + "' or the host NQN '" + target_.host.nqn +
                              "' is empty or longer than " + std::to_string(NVMF_NQN_SIZE) +
                              " characters"};
    nvmf_sqe sqe;
    nvmf_build_connect(&sqe, qid, entries, qid ? 0 : target_.keep_alive_ms);
    Result<nvmf_response> response =
        run_command(queue, sqe, sizeof(*data), Deadline::in(command_time_), "Connect");
    if (!response)
        return response.error();
    if ((response->status & NVMF_SC_MASK) != NVMF_SC_SUCCESS)
        return error_from_connect(*response, target_.nqn, target_.host.nqn, where);
    const std::uint16_t cntlid = nvmf_connect_cntlid(response->result);
    // a queue of another controller would lead to other namespaces
    if (cntlid == NVMF_CNTLID_DYNAMIC || (qid && cntlid != cntlid_))
        return Error{EPROTO, where + " answered Connect of queue " + std::to_string(qid) +
                                 " with the identifier of another controller"};
    return cntlid;
}

Result<std::uint64_t> Admin::property_get(std::uint32_t offset, bool eight_bytes, const char* what)
{
    nvmf_sqe sqe;

    nvmf_build_property_get(&sqe, offset, eight_bytes);
    Result<nvmf_response> response =
        run_checked(*queue_, sqe, 0, Deadline::in(command_time_), what);
    if (!response)
        return response.error();
    return response->result;
}

Status Admin::property_set(std::uint32_t offset, std::uint32_t value, const char* what)
{
    nvmf_sqe sqe;

    nvmf_build_property_set(&sqe, offset, value);
    Result<nvmf_response> response =
        run_checked(*queue_, sqe, 0, Deadline::in(command_time_), what);
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
    const Deadline deadline = Deadline::in(limit);
    auto step = 1ms;
    for (;;) {
        const bool last = deadline.passed();
        Result<std::uint64_t> csts = property_get(NVMF_PROP_CSTS, false, "Property Get (CSTS)");
        if (!csts)
            return csts.error();
        if (*csts & NVMF_CSTS_CFS)
            return Error{EIO, "the controller at " + target_.endpoint.text +
                                  " reports a fatal status (CSTS.CFS)"};
        if (*csts & NVMF_CSTS_RDY)
            return ok();
        if (last)
            return Error{ETIMEDOUT, "the controller at " + target_.endpoint.text +
                                        " was not ready within the " +
                                        std::to_string(limit.count()) +
                                        " ms that it asks for (CAP.TO)"};
        nap(step);
    }
}

Status Admin::identify()
{
    nvmf_sqe sqe;

    nvmf_build_identify(&sqe, NVMF_CNS_CTRL, 0);
    Result<nvmf_response> response = run_checked(
        *queue_, sqe, NVMF_IDENTIFY_SIZE, Deadline::in(command_time_), "Identify Controller");
    if (!response)
        return response.error();
    const int rc = nvmf_ctrl_info_parse(queue_->scratch().data(), nvmf_cap_page_min(cap_), &info_);
    if (rc == -EOPNOTSUPP)
        return Error{EOPNOTSUPP, "the controller at " + target_.endpoint.text +
                                     " takes no keyed SGLs, which NVMe over RDMA needs"};
    if (rc)
        return Error{-rc, "the controller at " + target_.endpoint.text +
                              " contradicts itself in Identify Controller"};
    if (info_.cntlid != cntlid_)
        return Error{EPROTO, "the controller at " + target_.endpoint.text +
                                 " has another identifier in Identify than in Connect"};
    return ok();
}

Result<nvmf_ns_info> Admin::identify_namespace(std::uint32_t nsid)
{
    const std::string name =
        "namespace " + std::to_string(nsid) + " of " + target_.nqn + " at " + target_.endpoint.text;
    nvmf_sqe sqe;

    if (nsid == 0 || nsid == nsid_broadcast)
        return Error{EINVAL, std::to_string(nsid) + " is no namespace identifier"};

    // the list holds the active identifiers above the one given, in order
    nvmf_build_identify(&sqe, NVMF_CNS_ACTIVE_NS, nsid - 1);
    Result<nvmf_response> response =
        run_checked(*queue_, sqe, NVMF_IDENTIFY_SIZE, Deadline::in(command_time_),
                    "Identify (active namespaces)");
    // a controller of before NVMe 1.1 has no such list; NSZE of 0 then tells
    if (!response && (response.error().nvme_status & NVMF_SC_MASK) != NVMF_SC_INVALID_FIELD)
        return response.error();
    if (response && nvmf_get32(queue_->scratch().data(), 0) != nsid)
        return Error{ENODEV, "there is no " + name};

    nvmf_build_identify(&sqe, NVMF_CNS_NS, nsid);
    response = run_checked(*queue_, sqe, NVMF_IDENTIFY_SIZE, Deadline::in(command_time_),
                           "Identify Namespace");
    if (!response)
        return response.error();
    nvmf_ns_info info;
    switch (const int rc = nvmf_ns_info_parse(queue_->scratch().data(), &info)) {
        case 0:
            return info;
        case -ENODEV:
            return Error{ENODEV, "there is no " + name};
        case -EOPNOTSUPP:
            return Error{EOPNOTSUPP, name +
                                         " has metadata or protection information, which this "
                                         "path does not handle"};
        default:
            return Error{-rc, name + " has a format that no host can use"};
    }
}

unsigned Admin::max_depth() const noexcept
{
    // a queue of n entries holds n - 1 commands
    unsigned depth = std::min(nvmf_cap_queue_entries(cap_) - 1, NVMF_CID_SLOTS - 1U);

    if (info_.maxcmd)
        depth = std::min<unsigned>(depth, info_.maxcmd);
    return depth;
}

Result<std::unique_ptr<Queue>> Admin::open_io_queue(unsigned depth)
{
    if (depth == 0 || depth > max_depth())
        return Error{EINVAL, "a depth of " + std::to_string(depth) + " was asked for; " +
                                 target_.endpoint.text + " takes 1 to " +
                                 std::to_string(max_depth())};
    const auto entries = static_cast<std::uint16_t>(depth + 1);
    Result<std::unique_ptr<Queue>> queue =
        Queue::open(target_.endpoint, {1, entries, static_cast<std::uint16_t>(depth), cntlid_});
    if (!queue)
        return queue.error();
    Result<std::uint16_t> cntlid = fabrics_connect(**queue, 1, entries);
    if (!cntlid)
        return cntlid.error();
    return queue;
}

Status Admin::keep_alive(const Latch& stop)
{
    nvmf_sqe sqe;

    nvmf_build_keep_alive(&sqe);
    Result<nvmf_response> response =
        run_checked(*queue_, sqe, 0, Deadline::in(command_time_), "Keep Alive", &stop);
    return response ? ok() : Status(response.error());
}

void Admin::shut_down()
{
    if (!cc_)
        return;
    const Deadline deadline = Deadline::in(shutdown_time);
    auto step = 1ms;

    command_time_ = shutdown_command_time;
    if (!property_set(NVMF_PROP_CC, cc_ | NVMF_CC_SHN_NORMAL, "Property Set (CC, shutdown)"))
        return;
    while (!deadline.passed()) {
        Result<std::uint64_t> csts = property_get(NVMF_PROP_CSTS, false, "Property Get (CSTS)");
        if (!csts || (*csts & NVMF_CSTS_CFS) ||
            (*csts & NVMF_CSTS_SHST_MASK) == NVMF_CSTS_SHST_DONE)
            return;
        nap(step);
    }
}

}  // namespace kdp::verbs
