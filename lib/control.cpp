// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/control.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "control_parse.hpp"
#include "netlink.hpp"

namespace kdp::control {
namespace {

// Each step of a connect has its time limit in the module; together they stay under this with
// any target that answers at all.
constexpr int answer_timeout_ms = 70'000;
constexpr int dump_attempts = 5;

Result<GenericNetlink> open_family()
{
    auto netlink = GenericNetlink::open(KDP_GENL_NAME, answer_timeout_ms);
    if (!netlink && netlink.error().code == ENOENT)
        return Error{ENODEV, "the kdp_host module is not loaded: modprobe kdp_host"};
    return netlink;
}

/// Words for an error that came without the kernel's own.
std::string fallback_text(int code)
{
    if (code == EPERM)
        return "this needs CAP_NET_ADMIN and CAP_SYS_ADMIN";
    char buffer[128];
    return strerror_r(code, buffer, sizeof(buffer));
}

Error complete(Error error)
{
    if (error.text.empty())
        error.text = fallback_text(error.code);
    return error;
}

Status put_request(nl_msg* message, const ConnectRequest& request)
{
    int failed = 0;
    const auto put = [&](int rc) { failed |= rc; };
    const auto put_address = [&](int type, const SocketAddress& address) {
        put(nla_put(message, type, static_cast<int>(address.length), &address.storage));
    };
    put_address(KDP_A_TRADDR, request.traddr);
    if (!request.host_traddr.empty())
        put_address(KDP_A_HOST_TRADDR, request.host_traddr);
    put(nla_put_string(message, KDP_A_SUBNQN, request.subsystem_nqn.c_str()));
    put(nla_put_string(message, KDP_A_HOSTNQN, request.host.nqn.c_str()));
    put(nla_put(message, KDP_A_HOSTID, static_cast<int>(request.host.id.size()),
                request.host.id.data()));
    if (request.instance)
        put(nla_put_u32(message, KDP_A_INSTANCE, *request.instance));
    if (request.nr_io_queues)
        put(nla_put_u32(message, KDP_A_NR_IO_QUEUES, *request.nr_io_queues));
    if (request.nr_write_queues)
        put(nla_put_u32(message, KDP_A_NR_WRITE_QUEUES, *request.nr_write_queues));
    if (request.nr_poll_queues)
        put(nla_put_u32(message, KDP_A_NR_POLL_QUEUES, *request.nr_poll_queues));
    if (request.queue_size)
        put(nla_put_u32(message, KDP_A_QUEUE_SIZE, *request.queue_size));
    if (request.keep_alive_ms)
        put(nla_put_u32(message, KDP_A_KATO_MS, *request.keep_alive_ms));
    if (request.cq_mode)
        put(nla_put_u32(message, KDP_A_CQ_MODE, *request.cq_mode));
    if (request.spin_us)
        put(nla_put_s32(message, KDP_A_SPIN_US, *request.spin_us));
    if (request.ctrl_loss_tmo)
        put(nla_put_s32(message, KDP_A_CTRL_LOSS_TMO, *request.ctrl_loss_tmo));
    if (request.fast_io_fail_tmo)
        put(nla_put_s32(message, KDP_A_FAST_IO_FAIL_TMO, *request.fast_io_fail_tmo));
    if (request.reconnect_delay)
        put(nla_put_u32(message, KDP_A_RECONNECT_DELAY, *request.reconnect_delay));
    if (request.duplicate)
        put(nla_put_flag(message, KDP_A_DUPLICATE));
    return failed ? Status(Error{EMSGSIZE, "the request does not fit a netlink message"}) : ok();
}

}  // namespace

Result<Connected> connect(const ConnectRequest& request)
{
    auto netlink = open_family();
    if (!netlink)
        return netlink.error();
    NlMessage message = netlink->message(KDP_CMD_CONNECT, KDP_GENL_VERSION, 0);
    if (!message)
        return error_from_errno(ENOMEM, "netlink message");
    if (const Status status = put_request(message.get(), request); !status)
        return status.error();

    std::optional<Connected> connected;
    const Status status = netlink->transact(std::move(message), KDP_A_MAX, [&](nlattr** answer) {
        auto parsed = parse_connected(answer);
        if (!parsed)
            return Status(parsed.error());
        connected = std::move(parsed).value();
        return ok();
    });
    if (!status)
        return complete(status.error());
    if (!connected)
        return Error{EPROTO, "the module acknowledged the connect without an answer"};
    return *connected;
}

namespace {

/// Send a command to one controller and wait for the acknowledgement. @p put adds attributes and
/// returns a negative number when they do not fit.
template <typename Put>
Status tell(std::uint8_t command, std::uint32_t instance, const Put& put)
{
    auto netlink = open_family();
    if (!netlink)
        return netlink.error();
    NlMessage message = netlink->message(command, KDP_GENL_VERSION, 0);
    if (!message || nla_put_u32(message.get(), KDP_A_INSTANCE, instance) < 0 ||
        put(message.get()) < 0)
        return error_from_errno(ENOMEM, "netlink message");
    const Status status =
        netlink->transact(std::move(message), KDP_A_MAX, [](nlattr**) { return ok(); });
    if (!status)
        return complete(status.error());
    return ok();
}

}  // namespace

Status disconnect(std::uint32_t instance)
{
    return tell(KDP_CMD_DISCONNECT, instance, [](nl_msg*) { return 0; });
}

Status reset(std::uint32_t instance)
{
    return tell(KDP_CMD_RESET, instance, [](nl_msg*) { return 0; });
}

Status set(std::uint32_t instance, const Settings& settings)
{
    return tell(KDP_CMD_SET, instance, [&](nl_msg* message) {
        int rc = 0;
        if (settings.cq_mode)
            rc = nla_put_u32(message, KDP_A_CQ_MODE, *settings.cq_mode);
        if (rc == 0 && settings.spin_us)
            rc = nla_put_s32(message, KDP_A_SPIN_US, *settings.spin_us);
        return rc;
    });
}

Status rescan(std::uint32_t instance)
{
    return tell(KDP_CMD_RESCAN, instance, [](nl_msg*) { return 0; });
}

namespace {

/// Send what @p make makes and collect the answers. A dump during which a controller came or
/// went is done again.
template <typename T, typename Make, typename Parse>
Result<std::vector<T>> collect(const Make& make, const Parse& parse)
{
    for (int attempt = 1;; attempt++) {
        // a new one each time: after an interrupted dump the old socket still holds its rest
        auto netlink = open_family();
        if (!netlink)
            return netlink.error();
        NlMessage message = make(*netlink);
        if (!message)
            return error_from_errno(ENOMEM, "netlink message");
        std::vector<T> found;
        const Status status =
            netlink->transact(std::move(message), KDP_A_MAX, [&](nlattr** answer) {
                auto parsed = parse(answer);
                if (!parsed)
                    return Status(parsed.error());
                found.push_back(std::move(parsed).value());
                return ok();
            });
        if (status)
            return found;
        if (status.error().code != EINTR || attempt == dump_attempts)
            return complete(status.error());
    }
}

/// One KDP_CMD_GET: all controllers, or the one of @p instance.
Result<std::vector<Controller>> describe(std::optional<std::uint32_t> instance)
{
    auto found = collect<Controller>(
        [&](GenericNetlink& netlink) {
            NlMessage message =
                netlink.message(KDP_CMD_GET, KDP_GENL_VERSION, instance ? 0 : NLM_F_DUMP);
            if (message && instance && nla_put_u32(message.get(), KDP_A_INSTANCE, *instance) < 0)
                message.reset();
            return message;
        },
        parse_controller);
    if (found)
        std::sort(found->begin(), found->end(),
                  [](const auto& a, const auto& b) { return a.instance < b.instance; });
    return found;
}

}  // namespace

Result<std::vector<Controller>> list()
{
    return describe(std::nullopt);
}

Result<Controller> get(std::uint32_t instance)
{
    auto found = describe(instance);
    if (!found)
        return found.error();
    if (found->empty())
        return Error{EPROTO, "the module acknowledged the request without an answer"};
    return std::move(found->front());
}

Result<std::vector<Queue>> queues(std::optional<std::uint32_t> instance)
{
    if (instance) {
        if (const auto there = describe(instance); !there)
            return there.error();
    }
    auto found = collect<Queue>(
        [](GenericNetlink& netlink) {
            return netlink.message(KDP_CMD_GET_QUEUES, KDP_GENL_VERSION, NLM_F_DUMP);
        },
        parse_queue);
    if (found && instance)
        std::erase_if(*found, [&](const Queue& q) { return q.instance != *instance; });
    return found;
}

std::span<const StatName> stat_names() noexcept
{
    static constexpr StatName names[] = {
        {KDP_S_COMMANDS, "commands"},
        {KDP_S_BYTES_READ, "bytes_read"},
        {KDP_S_BYTES_WRITTEN, "bytes_written"},
        {KDP_S_SEND_DOORBELLS, "send_doorbells"},
        {KDP_S_RECV_DOORBELLS, "recv_doorbells"},
        {KDP_S_WR_SEND, "wr_send"},
        {KDP_S_WR_RECV, "wr_recv"},
        {KDP_S_WR_REG, "wr_reg"},
        {KDP_S_WR_LOCAL_INV, "wr_local_inv"},
        {KDP_S_REMOTE_INV, "remote_inv"},
        {KDP_S_INLINE, "inline"},
        {KDP_S_CQES, "cqes"},
        {KDP_S_POLLS_FULL, "polls_full"},
        {KDP_S_POLLS_EMPTY, "polls_empty"},
        {KDP_S_SLEEPS, "sleeps"},
        {KDP_S_BYTES_COPIED, "bytes_copied"},
        {KDP_S_REGION_COMMANDS, "region_commands"},
        {KDP_S_EVENTS, "events"},
        {KDP_S_PROVIDER_NS, "provider_ns"},
        {KDP_S_RETRIES, "retries"},
    };
    static_assert(std::size(names) == KDP_S_MAX - KDP_S_PAD, "every counter has a name");
    return names;
}

std::string_view state_name(std::uint32_t state) noexcept
{
    switch (state) {
        case KDP_STATE_NEW:
            return "new";
        case KDP_STATE_CONNECTING:
            return "connecting";
        case KDP_STATE_LIVE:
            return "live";
        case KDP_STATE_FAILED:
            return "failed";
        case KDP_STATE_DELETING:
            return "deleting";
        case KDP_STATE_RESETTING:
            return "resetting";
        case KDP_STATE_GONE:
            return "gone";
        default:
            return "unknown";
    }
}

bool is_settled(std::uint32_t state) noexcept
{
    return state == KDP_STATE_LIVE || state == KDP_STATE_FAILED || state == KDP_STATE_GONE;
}

std::string_view cq_mode_name(std::uint32_t mode) noexcept
{
    switch (mode) {
        case KDP_MODE_THREAD:
            return "thread";
        case KDP_MODE_EVENT:
            return "event";
        case KDP_MODE_CALLER:
            return "caller";
        default:
            return "unknown";
    }
}

std::optional<std::uint32_t> cq_mode_of_name(std::string_view name) noexcept
{
    for (const auto mode : {KDP_MODE_THREAD, KDP_MODE_EVENT, KDP_MODE_CALLER})
        if (name == cq_mode_name(mode))
            return mode;
    return std::nullopt;
}

std::string_view queue_set_name(std::uint32_t set) noexcept
{
    switch (set) {
        case KDP_SET_ADMIN:
            return "admin";
        case KDP_SET_DEFAULT:
            return "default";
        case KDP_SET_READ:
            return "read";
        case KDP_SET_POLL:
            return "poll";
        default:
            return "unknown";
    }
}

Status wait_for_nodes(const Controller& controller, int timeout_ms,
                      const std::string& dev_directory)
{
    using namespace std::chrono;
    std::vector<std::string> wanted{controller.name};
    for (const Namespace& ns : controller.namespaces) {
        wanted.push_back(ns.disk);
        wanted.push_back(ns.char_device);
    }
    const auto deadline = steady_clock::now() + milliseconds(timeout_ms);
    for (const std::string& name : wanted) {
        const std::string path = fmt::format("{}/{}", dev_directory, name);
        while (!name.empty() && access(path.c_str(), F_OK) != 0) {
            if (steady_clock::now() >= deadline)
                return Error{ETIMEDOUT, fmt::format("{} did not appear within {} ms: is devtmpfs "
                                                    "or udev there?",
                                                    path, timeout_ms)};
            std::this_thread::sleep_for(milliseconds(5));
        }
    }
    return ok();
}

std::optional<std::uint32_t> instance_of_name(std::string_view name)
{
    if (name.starts_with("/dev/"))
        name.remove_prefix(5);
    if (!name.starts_with("kdp"))
        return std::nullopt;
    name.remove_prefix(3);
    std::uint32_t instance = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), instance);
    if (error != std::errc() || end != name.data() + name.size())
        return std::nullopt;
    return instance;
}

}  // namespace kdp::control
