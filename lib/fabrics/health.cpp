// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "health.hpp"

namespace kdp::fabrics {

Result<std::unique_ptr<Health>> Health::create()
{
    Result<Latch> wake = Latch::create();

    if (!wake)
        return wake.error();
    return std::unique_ptr<Health>(new Health(std::move(*wake)));
}

void Health::report_loss(Error why)
{
    {
        const std::lock_guard lock(mutex_);
        if (lost())
            return;
        why_ = std::move(why);
        lost_.store(true, std::memory_order_release);
    }
    wake_.signal();
}

Error Health::why() const
{
    const std::lock_guard lock(mutex_);
    return why_;
}

}  // namespace kdp::fabrics
