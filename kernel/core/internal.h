/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of kdp_core tell each other. */
#ifndef KDP_CORE_INTERNAL_H
#define KDP_CORE_INTERNAL_H

#include <linux/jump_label.h>
#include <linux/ktime.h>

#include "kdp_core.h"

/* device.c */
struct kdp_device *kdp_device_get(struct ib_device *ib, const void *owner);
int kdp_device_init(void);
void kdp_device_exit(void);

/* fault.c */
void kdp_fault_init(void);
void kdp_fault_exit(void);

/* stats.c: time inside the provider's calls, if anybody wants to know */
DECLARE_STATIC_KEY_FALSE(kdp_provider_timed);

static inline u64 kdp_provider_begin(void)
{
	return static_branch_unlikely(&kdp_provider_timed) ? ktime_get_ns() : 0;
}

static inline void kdp_provider_end(struct kdp_conn_stats __percpu *stats, u64 begin)
{
	if (static_branch_unlikely(&kdp_provider_timed) && begin)
		this_cpu_add(stats->v[KDP_CS_PROVIDER_NS], ktime_get_ns() - begin);
}

/* cq.c */
int kdp_cq_create(struct kdp_conn *conn, u32 nr_cqe);
void kdp_cq_detach(struct kdp_cq *cq);
void kdp_cq_destroy(struct kdp_cq *cq);
unsigned int kdp_cq_drain(struct kdp_cq *cq, unsigned int budget);
int kdp_cq_arm(struct kdp_cq *cq);

/* mode.c */
void kdp_mode_event(struct kdp_cq *cq);
void kdp_mode_end(struct kdp_cq *cq);

/* event.c */
void kdp_event_begin(struct kdp_cq *cq);
void kdp_event_raise(struct kdp_cq *cq);
void kdp_event_arm(struct kdp_cq *cq);
void kdp_event_end(struct kdp_cq *cq);

/* poller.c */
struct kdp_poller *kdp_poller_get(int cpu);
void kdp_poller_put(struct kdp_poller *poller);
void kdp_poller_add(struct kdp_poller *poller, struct kdp_cq *cq);
void kdp_poller_del(struct kdp_poller *poller, struct kdp_cq *cq);
void kdp_poller_respin(struct kdp_poller *poller, struct kdp_cq *cq, s32 spin_us);
void kdp_poller_kick(struct kdp_poller *poller);

/* What somebody who polls does when there is nothing. */
enum kdp_idle {
	KDP_IDLE_SPIN,
	KDP_IDLE_YIELD,
	KDP_IDLE_SLEEP,
};
enum kdp_idle kdp_idle(s32 spin_us, u64 idle_since);

/* caller.c */
void kdp_caller_begin(struct kdp_cq *cq);

/* Who has it may poll the CQ. Nobody ever waits for it. */
#define KDP_CQ_BUSY	0

static inline bool kdp_cq_trylock(struct kdp_cq *cq)
{
	return !test_and_set_bit_lock(KDP_CQ_BUSY, &cq->flags);
}

static inline void kdp_cq_unlock(struct kdp_cq *cq)
{
	clear_bit_unlock(KDP_CQ_BUSY, &cq->flags);
}

/* cm.c */
void kdp_conn_break(struct kdp_conn *conn, const char *why);

/* qp.c */
void kdp_qp_destroy(struct kdp_conn *conn);

#endif /* KDP_CORE_INTERNAL_H */
