// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "memory.hpp"

#include <cerrno>
#include <string>

#include <sys/resource.h>

namespace kdp::verbs {

namespace {

bool holds(std::span<const std::byte> region, std::span<const std::byte> memory) noexcept
{
    // without wrap: no sum of what the user gave
    return memory.data() >= region.data() &&
           static_cast<std::size_t>(memory.data() - region.data()) <= region.size() &&
           memory.size() <= region.size() - static_cast<std::size_t>(memory.data() - region.data());
}

/// What to do about an ENOMEM.
std::string lock_limit()
{
    rlimit limit{};

    if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return "";
    return "; this process may lock " + std::to_string(limit.rlim_cur >> 10) +
           " KiB in all (RLIMIT_MEMLOCK): raise it with `ulimit -l` or in limits.conf";
}

}  // namespace

Status Memory::enter(Region& region, ibv_pd* pd)
{
    region.mr.reset(
        ibv_reg_mr(pd, region.memory.data(), region.memory.size(),
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
    if (!region.mr) {
        const int code = errno;
        return error_from_errno(code, "cannot register " + std::to_string(region.memory.size()) +
                                          " bytes with RDMA device " +
                                          ibv_get_device_name(pd->context->device) +
                                          (code == ENOMEM ? lock_limit() : ""));
    }
    registrations_++;
    return ok();
}

Status Memory::add(ibv_pd* pd, std::span<std::byte> memory)
{
    if (memory.empty())
        return Error{EINVAL, "no memory to register"};
    if (each_ || find(memory))
        return ok();
    Region region{memory, {}};
    if (pd)
        if (Status s = enter(region, pd); !s)
            return s;
    regions_.push_back(std::move(region));
    return ok();
}

Memory::Region* Memory::find(std::span<const std::byte> memory) noexcept
{
    if (last_ < regions_.size() && holds(regions_[last_].memory, memory))
        return &regions_[last_];
    for (std::size_t i = 0; i < regions_.size(); i++)
        if (holds(regions_[i].memory, memory)) {
            last_ = i;
            return &regions_[i];
        }
    return nullptr;
}

bool Memory::covers(std::span<const std::byte> memory) noexcept
{
    return each_ || find(memory);
}

int Memory::keys_for(const Io& io, bool in_capsule, ibv_pd* pd, Keys& keys) noexcept
{
    if (!each_) {
        const Region* region = find(io.data);
        keys.lkey = region->mr->lkey;
        keys.rkey = region->mr->rkey;
        return 0;
    }
    // no more than this I/O needs: the controller reads what is written, and the other way round
    int access = 0;
    if (io.op == Op::read)
        access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    else if (!in_capsule)
        access = IBV_ACCESS_REMOTE_READ;
    keys.own.reset(ibv_reg_mr(pd, io.data.data(), io.data.size(), access));
    if (!keys.own)
        return errno ? errno : ENOMEM;
    registrations_++;
    keys.lkey = keys.own->lkey;
    keys.rkey = keys.own->rkey;
    return 0;
}

void Memory::detach() noexcept
{
    for (Region& region : regions_)
        region.mr.reset();
}

Status Memory::attach(ibv_pd* pd)
{
    for (Region& region : regions_)
        if (Status s = enter(region, pd); !s)
            return s;
    return ok();
}

}  // namespace kdp::verbs
