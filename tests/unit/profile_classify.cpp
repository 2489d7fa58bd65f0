// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The rules of profile/classify.hpp: each by a chain made for it, and all of them on chains that
// were recorded in a virtual machine (tests/unit/data/profile/*.stacks, Linux 6.12).
#include "profile/classify.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <span>
#include <sstream>

#include "profile/breakdown.hpp"
#include "profile/modules.hpp"
#include "profile/stacks.hpp"

namespace {

using namespace kdp::tool::profile;

Roles roles_rdma()
{
    Roles roles;
    roles.path = {"kdp_core", "kdp_host", "nvme_core", "nvme_rdma"};
    roles.provider = {"rdma_rxe"};
    roles.target = {"nvmet", "nvmet_rdma", "null_blk"};
    roles.network = Roles::Network::provider;
    roles.local_target = true;
    return roles;
}

Roles roles_tcp()
{
    Roles roles;
    roles.path = {"nvme_core", "nvme_tcp"};
    roles.target = {"nvmet", "nvmet_tcp", "null_blk"};
    roles.network = Roles::Network::path;
    roles.local_target = true;
    return roles;
}

/// "outermost;…;innermost[module]", as stacks.hpp writes them: "path;f;g[m]", "[provider]" behind
/// the task.
std::optional<Class> class_of(const std::string& chain, const Roles& roles)
{
    const auto semicolon = std::min(chain.find(';'), chain.size());
    const std::string line =
        "?;" + chain.substr(0, semicolon) + " 7" + chain.substr(semicolon) + " 1";
    const auto parsed = parse_stack(line);
    EXPECT_TRUE(parsed) << line;
    return classify(parsed->sample, roles);
}

struct Case {
    const char* chain;
    std::optional<Class> is;
};

void check(std::span<const Case> cases, const Roles& roles)
{
    for (const Case& c : cases) {
        const auto is = class_of(c.chain, roles);
        EXPECT_EQ(is ? class_name(*is) : "between", c.is ? class_name(*c.is) : "between")
            << c.chain;
    }
}

TEST(Classify, UserSpace)
{
    const Case cases[] = {
        {"path;[application]", Class::application},
        {"path;[provider]", Class::provider_calls},
        {"path;[polling]", Class::waiting},
        {"path", Class::application},
        {"other", Class::other},
        {"idle", Class::idle},
    };
    check(cases, roles_rdma());
}

TEST(Classify, ThreadsOfThePath)
{
    const Case cases[] = {
        {"path;[application];do_syscall_64;io_submit_sqes;blk_mq_submit_bio", Class::kernel_path},
        {"path;[application];do_syscall_64;blk_mq_submit_bio;kdp_queue_rq[kdp_host]",
         Class::kernel_path},
        // below the provider: whatever it calls
        {"path;[application];do_syscall_64;kdp_queue_rq[kdp_host];rxe_post_send[rdma_rxe]",
         Class::provider_calls},
        {"path;[application];do_syscall_64;kdp_queue_rq[kdp_host];rxe_post_send[rdma_rxe];"
         "ip_output;dev_queue_xmit",
         Class::provider_calls},
        // the provider's library enters the kernel: its doing, all of it
        {"path;[provider];entry_SYSCALL_64_after_hwframe", Class::provider_calls},
        {"path;[provider];do_syscall_64;vfs_write", Class::provider_calls},
        {"path;do_syscall_64;vfs_write;ib_uverbs_write[ib_uverbs];_copy_from_user",
         Class::provider_calls},
        // but to wait for an event is the path's own
        {"path;[application];do_syscall_64;do_sys_poll;ib_uverbs_comp_event_poll[ib_uverbs]",
         Class::kernel_path},
        // the provider calls up into the path
        {"path;do_syscall_64;rxe_post_send[rdma_rxe];rxe_cq_post[rdma_rxe];kdp_cq_event[kdp_core]",
         Class::kernel_path},
        {"path;[polling];do_syscall_64;__x64_sys_sched_yield;schedule", Class::waiting},
    };
    check(cases, roles_rdma());
}

TEST(Classify, ThreadsOfTheKernel)
{
    const Case cases[] = {
        {"other;ret_from_fork;kthread;worker_thread;process_one_work;do_work[rdma_rxe];"
         "rxe_completer[rdma_rxe];kfree_skb",
         Class::provider_threads},
        {"other;kthread;worker_thread;process_one_work;do_work[rdma_rxe];rxe_cq_post[rdma_rxe];"
         "kdp_cq_event[kdp_core];wake_up_process",
         Class::kernel_path},
        {"other;kthread;worker_thread;process_one_work;blk_mq_run_work_fn;"
         "nvme_rdma_queue_rq[nvme_rdma];rxe_post_send[rdma_rxe]",
         Class::provider_calls},
        {"other;kthread;worker_thread;process_one_work;ib_cq_poll_work[ib_core];"
         "nvmet_rdma_recv_done[nvmet_rdma];rxe_post_send[rdma_rxe]",
         Class::target},
        {"other;kthread;worker_thread;process_one_work;ib_cq_poll_work[ib_core]", Class::target},
        {"other;kthread;worker_thread;schedule", std::nullopt},
        {"other;do_syscall_64;schedule", Class::other},
        {"idle;do_idle;schedule_idle", Class::idle},
    };
    check(cases, roles_rdma());
    Roles remote = roles_rdma();
    remote.local_target = false;
    EXPECT_EQ(class_of("other;kthread;process_one_work;ib_cq_poll_work[ib_core]", remote),
              Class::kernel_path);
}

TEST(Classify, Interrupts)
{
    const Case cases[] = {
        // what was interrupted has no part in it
        {"path;do_syscall_64;kdp_queue_rq[kdp_host];asm_sysvec_apic_timer_interrupt;tick",
         Class::interrupts},
        {"idle;do_idle;asm_common_interrupt;common_interrupt;handle_irq_event", Class::interrupts},
        {"idle;do_idle;asm_sysvec_apic_timer_interrupt;null_cmd_timer_expired[null_blk]",
         Class::target},
        {"idle;do_idle;asm_common_interrupt;irq_exit_rcu;handle_softirqs;irq_poll_softirq;"
         "ib_poll_handler[ib_core]",
         Class::kernel_path},
        {"idle;do_idle;asm_common_interrupt;handle_softirqs;ib_poll_handler[ib_core];"
         "rxe_poll_cq[rdma_rxe]",
         Class::provider_threads},
        {"idle;do_idle;handle_softirqs;ib_poll_handler[ib_core];nvme_rdma_recv_done[nvme_rdma];"
         "rxe_post_recv[rdma_rxe]",
         Class::provider_calls},
        {"other;kthread;smpboot_thread_fn;run_ksoftirqd;handle_softirqs;net_rx_action;udp_rcv",
         Class::provider_threads},
        {"path;do_syscall_64;__do_softirq;net_rx_action;rxe_udp_encap_recv[rdma_rxe];rxe_rcv"
         "[rdma_rxe]",
         Class::provider_threads},
        {"path;do_syscall_64;handle_softirqs;rcu_core", Class::interrupts},
        {"path;do_syscall_64;__softirqentry_text_start;run_timer_softirq", Class::interrupts},
        {"path;do_syscall_64;handle_softirqs;blk_complete_reqs", Class::kernel_path},
    };
    check(cases, roles_rdma());
    Roles hardware = roles_rdma();
    hardware.network = Roles::Network::nobody;
    EXPECT_EQ(class_of("idle;handle_softirqs;net_rx_action;udp_rcv", hardware), Class::interrupts);
}

TEST(Classify, Tcp)
{
    const Case cases[] = {
        {"path;[application];do_syscall_64;sock_sendmsg;tcp_sendmsg;ip_output", Class::kernel_path},
        {"other;kthread;process_one_work;nvme_tcp_io_work[nvme_tcp];tcp_sendmsg",
         Class::kernel_path},
        {"other;kthread;process_one_work;nvmet_tcp_io_work[nvmet_tcp];tcp_sendmsg", Class::target},
        // what one end sends over loopback, the other receives in the same call
        {"other;kthread;process_one_work;nvmet_tcp_io_work[nvmet_tcp];tcp_sendmsg;"
         "__local_bh_enable_ip;do_softirq;__do_softirq;net_rx_action;tcp_v4_rcv",
         Class::kernel_path},
        {"path;[application];do_syscall_64;tcp_sendmsg;__dev_queue_xmit;__local_bh_enable_ip;"
         "do_softirq;handle_softirqs;net_rx_action;tcp_v4_rcv",
         Class::target},
        {"path;do_syscall_64;tcp_sendmsg;do_softirq;handle_softirqs;net_rx_action;"
         "nvmet_tcp_data_ready[nvmet_tcp];queue_work_on",
         Class::target},
        {"idle;do_idle;asm_common_interrupt;handle_softirqs;net_rx_action;tcp_v4_rcv",
         Class::kernel_path},
    };
    check(cases, roles_tcp());
}

TEST(Classify, Waiting)
{
    const Case cases[] = {
        {"path;do_syscall_64;kdp_ioctl[kdp_host];kdp_conn_spin[kdp_core];__ib_process_cq[ib_core];"
         "rxe_poll_cq[rdma_rxe]",
         Class::waiting},
        {"path;do_syscall_64;kdp_ioctl[kdp_host];kdp_conn_spin[kdp_core]", Class::waiting},
        {"path;do_syscall_64;kdp_ioctl[kdp_host];kdp_conn_spin[kdp_core];ib_process[ib_core];"
         "kdp_receive_done[kdp_host];rxe_post_recv[rdma_rxe]",
         Class::provider_calls},
        {"path;do_syscall_64;kdp_conn_spin[kdp_core];kdp_receive_done[kdp_host];blk_mq_end_request",
         Class::kernel_path},
        {"path;do_syscall_64;kdp_ioctl[kdp_host];blk_execute_rq;kdp_queue_rq[kdp_host]",
         Class::kernel_path},
        {"other;kthread;kdp_poller_main[kdp_core];kdp_poller_pass[kdp_core]", Class::waiting},
        {"other;kthread;kdp_poller_main[kdp_core];kdp_poller_sleep[kdp_core];schedule",
         Class::kernel_path},
        {"other;kthread;kdp_poller_main[kdp_core];schedule;__schedule", Class::kernel_path},
        {"other;kthread;kdp_poller_main[kdp_core];kdp_cq_arm[kdp_core];rxe_req_notify_cq[rdma_rxe]",
         Class::provider_calls},
        {"path;do_syscall_64;kdp_ioctl[kdp_host];kdp_conn_spin[kdp_core];schedule", Class::waiting},
        {"path;do_syscall_64;perf_ioctl", Class::other},
        {"path;do_syscall_64;io_do_iopoll;kdp_uring_poll[kdp_host];kdp_give_way[kdp_core];schedule",
         Class::waiting},
        {"path;do_syscall_64;io_do_iopoll;blk_mq_poll;nvme_rdma_poll[nvme_rdma];"
         "rxe_poll_cq[rdma_rxe]",
         Class::waiting},
        {"path;do_syscall_64;io_do_iopoll;blk_mq_poll;nvme_rdma_poll[nvme_rdma];"
         "nvme_rdma_recv_done[nvme_rdma];nvme_complete_rq[nvme_core]",
         Class::kernel_path},
    };
    check(cases, roles_rdma());
}

// -- recorded chains -----------------------------------------------------------------------------

struct Recording {
    std::map<std::string, std::uint64_t, std::less<>> counts;
    std::uint64_t chains = 0;
};

/// Classify each chain of a recording again, and hold it against the class that stands there.
Recording replay(const std::string& name, Transport transport)
{
    const std::string directory = KDP_TEST_DATA "/profile/";
    std::ifstream modules(directory + name + ".modules");
    std::stringstream text;
    text << modules.rdbuf();
    const Roles roles = roles_of(text.str(), transport, transport == Transport::rdma);

    std::ifstream file(directory + name + ".stacks");
    Recording recording;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#')
            continue;
        const auto parsed = parse_stack(line);
        if (!parsed) {
            ADD_FAILURE() << name << ": " << line;
            continue;
        }
        const auto is = classify(parsed->sample, roles);
        EXPECT_EQ(is ? class_name(*is) : "between", parsed->is) << name << ": " << line;
        recording.chains++;
        recording.counts[std::string(parsed->is)] += parsed->count;
    }
    EXPECT_GT(recording.chains, 20U) << name;
    return recording;
}

TEST(ClassifyRecorded, KernelPathOverRxe)
{
    const Recording r = replay("kernel_rxe", Transport::rdma);
    for (const char* is :
         {"application", "kernel_path", "provider_calls", "provider_threads", "target", "idle"})
        EXPECT_TRUE(r.counts.contains(is)) << is;
}

TEST(ClassifyRecorded, BlockPathOfTheInTreeDriver)
{
    const Recording r = replay("block_nvme_rdma", Transport::rdma);
    for (const char* is : {"kernel_path", "provider_calls", "provider_threads", "target"})
        EXPECT_TRUE(r.counts.contains(is)) << is;
}

TEST(ClassifyRecorded, VerbsPathOverRxe)
{
    const Recording r = replay("verbs_rxe", Transport::rdma);
    for (const char* is : {"application", "provider_calls", "provider_threads", "target"})
        EXPECT_TRUE(r.counts.contains(is)) << is;
}

TEST(ClassifyRecorded, TcpHasNoProvider)
{
    const Recording r = replay("block_nvme_tcp", Transport::tcp);
    EXPECT_TRUE(r.counts.contains("kernel_path") && r.counts.contains("target"));
    EXPECT_FALSE(r.counts.contains("provider_calls") || r.counts.contains("provider_threads"));
}

}  // namespace
