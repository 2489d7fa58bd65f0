/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kdp_core: the RDMA half of kdp. It knows devices, connections, queue pairs,
 * completion queues with their poller threads, and memory registration; it does
 * not know what is sent over them.
 *
 * Life of a connection, each step called by the upper layer in this order, in
 * process context (all of them may sleep):
 *
 *   kdp_conn_resolve()	address and route, gets the device
 *   kdp_conn_create_qp()	CQ, and who serves it; QP
 *   ... the upper layer maps buffers, posts receives ...
 *   kdp_conn_connect()	handshake; from here on ->broken may be called
 *   kdp_conn_disconnect()	hang up and drain: no completion comes after it; a CQ that is
 *			only polled by who waits is served by a thread from here on
 *   kdp_conn_close()		cm_id, QP and CQ end, in that order
 *   ... the upper layer unmaps its buffers, frees its MRs ...
 *   kdp_conn_release()		the device reference and the counters
 *
 * close and release undo whatever has been done, whichever step failed.
 */
#ifndef KDP_CORE_H
#define KDP_CORE_H

#include <linux/completion.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/irq_poll.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

struct kdp_poller;

/* --- statistics (stats.c) ------------------------------------------------- */

enum kdp_conn_stat {
	KDP_CS_SEND_DOORBELLS,
	KDP_CS_RECV_DOORBELLS,
	KDP_CS_WR_SEND,
	KDP_CS_WR_RECV,
	KDP_CS_WR_REG,
	KDP_CS_WR_LOCAL_INV,
	KDP_CS_CQES,
	KDP_CS_POLLS_FULL,
	KDP_CS_POLLS_EMPTY,
	KDP_CS_SLEEPS,
	KDP_CS_EVENTS,
	KDP_CS_PROVIDER_NS,
	KDP_CS_NR
};

/* Written on the hot path by any CPU, summed up by readers: no lock, exact. */
struct kdp_conn_stats {
	u64	v[KDP_CS_NR];
};

/* Add the counters of @stats to @sum. Any context. */
void kdp_conn_stats_sum(const struct kdp_conn_stats __percpu *stats, u64 sum[KDP_CS_NR]);

/* --- devices (device.c) --------------------------------------------------- */

/* An RDMA device as one owner uses it, with a protection domain of his own. */
struct kdp_device {
	struct ib_device	*ib;
	struct ib_pd		*pd;
	const void		*owner;
	struct list_head	entry;		/* of the device's users; empty when it goes */
	unsigned int		users;		/* both under kdp_devices_lock */
	atomic_t		dma_mappings;	/* on a checking kernel, see dma.h */
};

/*
 * An upper layer. ->device_gone() is called, in process context, when a device is
 * about to go: when it returns, no connection of this layer uses @ib any more.
 */
struct kdp_upper {
	void			(*device_gone)(struct ib_device *ib);
	struct list_head	entry;
};

/*
 * Use @dev, which an open connection of the caller uses already, beyond that connection's
 * end; not beyond ->device_gone(). May sleep.
 */
void kdp_device_hold(struct kdp_device *dev);
void kdp_device_put(struct kdp_device *dev);

void kdp_upper_register(struct kdp_upper *upper);
void kdp_upper_unregister(struct kdp_upper *upper);

/* --- completion queues (cq.c) and who serves them (mode.c) ----------------- */

enum kdp_cq_mode {
	KDP_CQ_NONE,		/* nobody: not open, or between two modes */
	KDP_CQ_THREAD,		/* a poller thread, which spins, then sleeps: poller.c */
	KDP_CQ_EVENT,		/* a soft interrupt, when there is something to do: event.c */
	KDP_CQ_CALLER,		/* who waits in kdp_conn_spin(); else as KDP_CQ_EVENT: caller.c */
	KDP_CQ_POLLED,		/* who waits, by kdp_conn_poll() too, and nobody else */
};

#define KDP_SPIN_FOREVER	(-1)

/* Completions taken with one call of the provider. */
#define KDP_CQ_BATCH		16

/* A completion queue. One context at a time polls it. */
struct kdp_cq {
	struct ib_cq			*ib;
	enum kdp_cq_mode		mode;	/* see mode.c */
	bool				polled;	/* it began as KDP_CQ_POLLED: see kdp_cq_handle() */
	s32				spin_us;
	struct kdp_conn_stats __percpu	*stats;
	struct ib_wc			wc[KDP_CQ_BATCH];	/* of who polls */
	/* KDP_CQ_THREAD */
	struct kdp_poller		*poller;
	struct list_head		entry;	/* poller->cqs, under poller->lock */
	/* KDP_CQ_EVENT, KDP_CQ_CALLER */
	struct irq_poll			irq_poll;
	struct irq_work			irq_work;
	/* KDP_CQ_CALLER, KDP_CQ_POLLED: see caller.c */
	unsigned long			flags;		/* KDP_CQ_BUSY */
	atomic_t			callers;	/* that have entered */
	unsigned long			term;		/* in which they did */
};

/* --- connections (cm.c, qp.c) --------------------------------------------- */

struct kdp_conn;

struct kdp_conn_ops {
	/*
	 * The connection is no longer usable (hang-up, fatal QP or CQ event, device
	 * going). Called once at most, from any context that the provider chooses;
	 * must not sleep and must not touch the connection but to schedule work.
	 */
	void	(*broken)(struct kdp_conn *conn, const char *why);
	/*
	 * A batch of completions (KDP_CQ_BATCH at most) has been handled: what the handlers
	 * have gathered can be posted and ended together. Optional. Context as the
	 * handlers': bottom halves disabled, one call at a time.
	 */
	void	(*handled)(struct kdp_conn *conn);
	/*
	 * How many messages of the peer are about to come? A hint: what comes alone is
	 * taken at once, what comes in numbers together. Optional. Any context.
	 */
	unsigned int	(*awaited)(const struct kdp_conn *conn);
	/*
	 * Is the connection that is being made still wanted? If not, the step that is
	 * waited for ends with -ECANCELED. Optional. Process context.
	 */
	bool	(*wanted)(const struct kdp_conn *conn);
};

struct kdp_conn_params {
	struct net		*net;
	const void		*owner;		/* with whose connections it shares a protection domain */
	struct sockaddr_storage	dst;
	struct sockaddr_storage	src;		/* ss_family 0: any local address */
	int			cpu;		/* where completions are wanted */
	enum kdp_cq_mode	cq_mode;
	s32			spin_us;	/* see KDP_A_SPIN_US */
};

#define KDP_CM_PRIVATE_MAX	56

struct kdp_conn {
	const struct kdp_conn_ops	*ops;
	struct rdma_cm_id		*cm_id;
	struct kdp_device		*dev;
	struct ib_qp			*qp;
	struct kdp_cq			cq;
	struct kdp_conn_stats __percpu	*stats;
	struct kdp_conn_params		params;

	unsigned long			flags;		/* KDP_CONN_*, atomic bits */

	/* handshake: written by the CM callback before it completes @step */
	struct completion		step;
	int				step_error;	/* negative errno */
	const char			*step_text;	/* what happened, static string */
	int				reject_reason;	/* of the CM, when rejected */
	u8				private_len;	/* of the peer's answer */
	u8				private[KDP_CM_PRIVATE_MAX];
};

/* bits of kdp_conn.flags */
#define KDP_CONN_ESTABLISHED	0	/* the handshake succeeded; cleared by disconnect */
#define KDP_CONN_BROKEN		1

/*
 * The address, then the route. Returns 0 or
 *   -EHOSTUNREACH, -ENETUNREACH, -ETIMEDOUT  nothing answers at the address
 *   -ENODEV          no RDMA device leads there
 *   -EADDRNOTAVAIL   the source address is not ours
 *   -ECANCELED       it is not wanted any more (conn_ops->wanted)
 *   -ENOMEM
 * and conn->step_text says it in words.
 */
int kdp_conn_resolve(struct kdp_conn *conn, const struct kdp_conn_ops *ops,
		     const struct kdp_conn_params *params);

/*
 * A CQ of @nr_cqe entries and a QP with the capabilities @cap (both directions
 * complete on that CQ). Returns 0 or a negative errno of the provider.
 */
int kdp_conn_create_qp(struct kdp_conn *conn, const struct ib_qp_cap *cap, u32 nr_cqe);

/*
 * Connect with @len bytes of private data. Returns 0 and leaves the peer's
 * private data in @conn, or
 *   -ECONNREFUSED   nobody listens there
 *   -ECONNREJECTED  the peer refused: conn->reject_reason, conn->private
 *   -ETIMEDOUT, -EHOSTUNREACH, -ECONNRESET, -ECANCELED
 * The codes are mutually exclusive, so that a caller may translate
 * -ECONNREJECTED by the peer's private data.
 */
#define ECONNREJECTED	EKEYREJECTED
int kdp_conn_connect(struct kdp_conn *conn, const void *private, u8 len);

bool kdp_conn_disconnect(struct kdp_conn *conn);
void kdp_conn_close(struct kdp_conn *conn);
void kdp_conn_release(struct kdp_conn *conn);

/*
 * Ring one doorbell for a chain of work requests, counting them. Any context that
 * the provider allows for ib_post_send (the hot path: BH or process).
 */
int kdp_conn_post_send(struct kdp_conn *conn, const struct ib_send_wr *chain);
int kdp_conn_post_recv(struct kdp_conn *conn, const struct ib_recv_wr *chain);

/*
 * From now on @mode serves the CQ, with @spin_us where a mode spins (see KDP_A_SPIN_US). Work
 * requests may complete meanwhile. Between kdp_conn_create_qp() and kdp_conn_close(), one call
 * at a time, and none beside kdp_conn_disconnect(). May sleep. Returns 0, or -ENOMEM or
 * -EINTR when there is no poller thread to be had: then nothing has changed.
 */
int kdp_conn_set_mode(struct kdp_conn *conn, enum kdp_cq_mode mode, s32 spin_us);

/*
 * Nobody need poll @conn any more: if it is in mode KDP_CQ_POLLED, a thread serves it from
 * now on (the soft interrupt, if there is no memory for a thread). Context as above.
 */
void kdp_conn_stop_polling(struct kdp_conn *conn);

/*
 * In mode KDP_CQ_POLLED: handle a batch of completions. Returns how many there were, or -EBUSY when
 * somebody else is just doing so; 0 in another mode. Any context but interrupts. @conn need
 * not be open: only its memory must be there.
 */
int kdp_conn_poll(struct kdp_conn *conn);

/*
 * Who polls and finds nothing lets others have the CPU, if they want it: a provider in
 * software may need it to get on. May sleep, but not for long.
 */
void kdp_give_way(void);

/*
 * Wait for @done by taking completions oneself, as far as the mode has that: KDP_CQ_POLLED
 * until it is done, KDP_CQ_CALLER for the spin time, the others not at all. The
 * caller then sleeps for what is not done. May sleep. @conn as for kdp_conn_poll().
 */
void kdp_conn_spin(struct kdp_conn *conn, struct completion *done);

/* --- memory registration (mr.c) ------------------------------------------- */

/*
 * One fast-registration MR for each command slot of a queue: the slot's owner has
 * the MR, so that taking one needs no lock and cannot fail.
 */
struct kdp_mr_pool {
	unsigned int	nr;
	struct ib_mr	*mr[] __counted_by(nr);
};

/* How many pages one MR can hold on @dev, at most @wanted. */
u32 kdp_mr_pages(const struct kdp_device *dev, u32 wanted);

/* One MR of @pages entries. May sleep. Returns an ERR_PTR; goes with ib_dereg_mr(). */
struct ib_mr *kdp_mr_alloc(struct kdp_device *dev, u32 pages);

struct kdp_mr_pool *kdp_mr_pool_create(struct kdp_device *dev, unsigned int nr, u32 pages);
void kdp_mr_pool_destroy(struct kdp_mr_pool *pool);

/*
 * Fill @wr so that posting it gives the peer @access to the @nents DMA-mapped
 * segments of @sgl under a fresh key (mr->rkey). Only the first segment may start,
 * and only the last may end, off a boundary of @page_size. Returns 0, or -EINVAL when the
 * segments do not fit one MR.
 */
int kdp_mr_map(struct ib_mr *mr, struct scatterlist *sgl, int nents, u32 page_size, int access,
	       struct ib_cqe *cqe, struct ib_reg_wr *wr);

#endif /* KDP_CORE_H */
