// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "profile/classify.hpp"

#include <algorithm>
#include <span>

namespace kdp::tool::profile {
namespace {

using Frames = std::span<const Frame>;
using namespace std::string_view_literals;

enum class Context : std::uint8_t { task, soft, hard };
enum class Role : std::uint8_t { none, path, provider, target };

// In 6.1 the first function of the section shares its address with the section's begin.
constexpr auto soft_entries = {"handle_softirqs"sv, "__do_softirq"sv, "__softirqentry_text_start"sv,
                               "run_ksoftirqd"sv};
constexpr auto hard_entries = {
    "asm_common_interrupt"sv, "common_interrupt"sv, "__common_interrupt"sv, "el1h_64_irq"sv,
    "el0t_64_irq"sv,          "gic_handle_irq"sv,   "handle_irq_event"sv};
constexpr auto hard_prefixes = {"asm_sysvec_"sv, "sysvec_"sv, "__sysvec_"sv};

// ib_uverbs for a provider whose data path is in the kernel
constexpr auto uverbs_data_path = {"ib_uverbs_write"sv, "ib_uverbs_post_send"sv,
                                   "ib_uverbs_post_recv"sv, "ib_uverbs_poll_cq"sv,
                                   "ib_uverbs_req_notify_cq"sv};

// Loops that poll for completions, and those functions of the drivers that they poll with.
constexpr auto poll_loops = {"kdp_conn_spin"sv, "kdp_conn_poll"sv, "kdp_poller_main"sv,
                             "kdp_give_way"sv,  "blk_mq_poll"sv,   "bio_poll"sv,
                             "io_do_iopoll"sv};
constexpr auto poll_functions = {"nvme_poll"sv,
                                 "nvme_rdma_poll"sv,
                                 "nvme_tcp_poll"sv,
                                 "nvme_ns_chr_uring_cmd_iopoll"sv,
                                 "nvme_ns_head_chr_uring_cmd_iopoll"sv,
                                 "kdp_poll"sv,
                                 "kdp_uring_poll"sv};
// What kdp's thread that polls does else: it arms its CQs and goes to sleep.
constexpr auto going_to_sleep = {"schedule"sv, "__cond_resched"sv, "kdp_cq_arm"sv,
                                 "kdp_poller_sleep"sv};

bool is_one_of(std::string_view symbol, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), symbol) != names.end();
}

bool calls(Frames frames, std::initializer_list<std::string_view> names)
{
    return std::any_of(frames.begin(), frames.end(),
                       [&](const Frame& f) { return is_one_of(f.symbol, names); });
}

bool enters_hard_interrupt(std::string_view symbol)
{
    return is_one_of(symbol, hard_entries) ||
           std::any_of(hard_prefixes.begin(), hard_prefixes.end(),
                       [&](std::string_view prefix) { return symbol.starts_with(prefix); });
}

struct Split {
    Context context;
    Frames inner;  // of that context
    Frames outer;  // what it interrupted, or what called it
};

Split split(Frames frames)
{
    for (std::size_t i = 0; i < frames.size(); i++) {
        const bool soft = is_one_of(frames[i].symbol, soft_entries);
        if (soft || enters_hard_interrupt(frames[i].symbol))
            return {soft ? Context::soft : Context::hard, frames.first(i), frames.subspan(i + 1)};
    }
    return {Context::task, frames, {}};
}

Role role_of(const Frame& frame, const Roles& roles)
{
    if (frame.module.empty())
        return Role::none;
    if (roles.provider.contains(frame.module) ||
        (frame.module == "ib_uverbs" && is_one_of(frame.symbol, uverbs_data_path)))
        return Role::provider;
    if (roles.target.contains(frame.module))
        return Role::target;
    if (roles.path.contains(frame.module))
        return Role::path;
    return Role::none;
}

Role innermost_role(Frames frames, const Roles& roles)
{
    for (const Frame& frame : frames)
        if (const Role role = role_of(frame, roles); role != Role::none)
            return role;
    return Role::none;
}

bool has_role(Frames frames, Role wanted, const Roles& roles)
{
    return std::any_of(frames.begin(), frames.end(),
                       [&](const Frame& f) { return role_of(f, roles) == wanted; });
}

/// Below a loop that polls, and nothing of the path handles a completion there.
bool polls_in_vain(Frames frames, const Roles& roles)
{
    bool sleeps = false;
    for (const Frame& frame : frames) {
        sleeps = sleeps || is_one_of(frame.symbol, going_to_sleep);
        if (is_one_of(frame.symbol, poll_loops))
            return !(sleeps && frame.symbol == "kdp_poller_main");
        const bool core = frame.module == "kdp_core";  // it polls; its callers handle
        if (!core && role_of(frame, roles) == Role::path &&
            !is_one_of(frame.symbol, poll_functions))
            return false;
    }
    return false;
}

Class provider_class(Frames inner, bool thread_of_path, const Roles& roles)
{
    if (has_role(inner, Role::target, roles))
        return Class::target;
    if (thread_of_path || has_role(inner, Role::path, roles))
        return Class::provider_calls;
    return Class::provider_threads;
}

/// What the innermost code that is somebody's is spent on.
std::optional<Class> role_class(Frames frames, bool thread_of_path, const Roles& roles)
{
    switch (innermost_role(frames, roles)) {
        case Role::path:
            return Class::kernel_path;
        case Role::target:
            return Class::target;
        case Role::provider:
            return provider_class(frames, thread_of_path, roles);
        case Role::none:
            break;
    }
    return std::nullopt;
}

/// A soft interrupt of the network with TCP. Over loopback the receiver runs in a soft interrupt
/// inside the sender's call.
Class tcp_class(Frames outer, Task task, const Roles& roles)
{
    const bool inside_call = calls(outer.first(std::min<std::size_t>(outer.size(), 3)),
                                   {"__local_bh_enable_ip"sv, "do_softirq"sv});
    if (!inside_call || !roles.local_target)
        return Class::kernel_path;
    const Role sender = innermost_role(split(outer).inner, roles);
    if (sender == Role::none && task != Task::path)
        return Class::kernel_path;
    return sender == Role::target ? Class::kernel_path : Class::target;
}

Class soft_class(const Split& at, Task task, const Roles& roles)
{
    if (const auto found = role_class(at.inner, false, roles))
        return *found;
    if (calls(at.inner, {"ib_poll_handler"sv, "irq_poll_softirq"sv, "blk_done_softirq"sv,
                         "blk_complete_reqs"sv}))
        return Class::kernel_path;
    if (calls(at.inner, {"net_rx_action"sv, "net_tx_action"sv, "process_backlog"sv})) {
        if (roles.network == Roles::Network::provider)
            return Class::provider_threads;
        if (roles.network == Roles::Network::path)
            return tcp_class(at.outer, task, roles);
    }
    return Class::interrupts;
}

std::optional<Class> kernel_thread_class(Frames frames, const Roles& roles)
{
    if (const auto found = role_class(frames, false, roles))
        return *found;
    if (calls(frames, {"ib_cq_poll_work"sv}))
        return roles.local_target ? Class::target : Class::kernel_path;
    return std::nullopt;
}

Class thread_of_path_class(Frames frames, UserCode user, const Roles& roles)
{
    if (const auto found = role_class(frames, true, roles))
        return *found;
    return user == UserCode::provider ? Class::provider_calls : Class::kernel_path;
}

Class user_class(const Sample& sample)
{
    if (sample.task != Task::path)
        return sample.task == Task::idle ? Class::idle : Class::other;
    switch (sample.user) {
        case UserCode::provider:
            return Class::provider_calls;
        case UserCode::polling:
            return Class::waiting;
        case UserCode::none:
        case UserCode::application:
            break;
    }
    return Class::application;
}

}  // namespace

bool in_task_context(const Sample& sample)
{
    return split(sample.kernel).context == Context::task;
}

std::optional<Class> classify(const Sample& sample, const Roles& roles)
{
    if (sample.kernel.empty())
        return user_class(sample);
    const Split at = split(sample.kernel);
    if (at.context == Context::hard)
        return innermost_role(at.inner, roles) == Role::target ? Class::target : Class::interrupts;
    if (at.context == Context::soft)
        return soft_class(at, sample.task, roles);

    if (sample.task == Task::idle)
        return Class::idle;
    if (polls_in_vain(at.inner, roles))
        return Class::waiting;
    if (calls(at.inner, {"perf_ioctl"sv}))
        return Class::other;  // the profile itself
    if (sample.task == Task::path) {
        if (sample.user == UserCode::polling)
            return Class::waiting;
        return thread_of_path_class(at.inner, sample.user, roles);
    }
    if (calls(at.inner, {"kthread"sv}))
        return kernel_thread_class(at.inner, roles);
    return Class::other;
}

}  // namespace kdp::tool::profile
