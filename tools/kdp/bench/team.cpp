// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/team.hpp"

#include <sched.h>

#include <barrier>
#include <cerrno>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kdp::tool::bench {

Status pin_to(const std::vector<int>& cpus)
{
    if (cpus.empty())
        return ok();
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) < 0)
        return error_from_errno(errno, fmt::format("--cpus {}", fmt::join(cpus, ",")));
    return ok();
}

struct Team::Task {
    struct Call {
        const Moment* moment;
        void operator()() noexcept
        {
            if (*moment)
                (*moment)();
        }
    };

    Task(unsigned members, const Job& what, const Moment& before, const Moment& after)
        : job(what), begin(members, Call{&before}), end(members, Call{&after})
    {
    }

    const Job& job;
    std::barrier<Call> begin;
    std::barrier<Call> end;
};

Team::Team(unsigned members, const std::vector<int>& cpus) : size_(members)
{
    for (unsigned i = 0; members > 1 && i < members; i++)
        threads_.emplace_back(&Team::serve, this, i, cpus.empty() ? -1 : cpus[i % cpus.size()]);
}

Team::~Team()
{
    {
        const std::scoped_lock lock(mutex_);
        leave_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void Team::serve(unsigned member, int cpu)
{
    // Whether the CPUs may be used was found out before, by the whole list.
    if (cpu >= 0)
        (void)pin_to({cpu});
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return leave_ || number_ != seen; });
        if (leave_)
            return;
        seen = number_;
        Task& task = *task_;
        lock.unlock();
        task.begin.arrive_and_wait();
        task.job(member);
        task.end.arrive_and_wait();
        lock.lock();
        if (--running_ == 0)
            changed_.notify_all();
    }
}

void Team::run(const Job& job, const Moment& before, const Moment& after)
{
    if (threads_.empty()) {
        if (before)
            before();
        job(0);
        if (after)
            after();
        return;
    }
    Task task(size_, job, before, after);
    std::unique_lock lock(mutex_);
    task_ = &task;
    number_++;
    running_ = size_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return running_ == 0; });
    task_ = nullptr;
}

}  // namespace kdp::tool::bench
