/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kdp_host: the NVMe-oF host. What its files tell each other.
 *
 * The path of an I/O: blk.c or passthru.c (passthru.h) → request.c → map.c → send.c → core/qp.c … the
 * wire … core/cq.c → send.c, receive.c → request.c.
 *
 * Lifetimes. A controller lives as long as its embedded device (ctrl->dev); it is
 * held by its place in the list, by each namespace and by each open /dev/kdpN. A
 * namespace lives as long as its embedded device (ns->dev), held by the
 * controller, by its disk and by each open /dev/kdpgNnM.
 */
#ifndef KDP_HOST_H
#define KDP_HOST_H

#include <linux/blk-mq.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include <kdp/kdp_netlink.h>
#include <nvmf/command.h>
#include <nvmf/fabrics.h>
#include <nvmf/identify.h>
#include <nvmf/rdma.h>

#include "../core/kdp_core.h"
#include "region.h"

#define KDP_MAX_INSTANCE	1023
#define KDP_MAX_IO_QUEUES	128
#define KDP_MAX_QUEUE_SIZE	1024
#define KDP_ADMIN_QUEUE_SIZE	32

/* Admin commands of ours while connecting and disconnecting; of users. */
#define KDP_SETUP_TIMEOUT	(10 * HZ)
#define KDP_ADMIN_TIMEOUT	(60 * HZ)
#define KDP_IO_TIMEOUT		(30 * HZ)

/* Pages in one MR, the first of which a misaligned buffer may use up. */
#define KDP_MR_PAGES		257
/* Registrations of regions that the admin queue has room for, beside its commands. */
#define KDP_REGION_WRS		32
/* Segments of a write that travel in the capsule: one SGE each behind the SQE. */
#define KDP_INLINE_SEGMENTS	4

struct kdp_ctrl;

/* What a connect asks for (netlink.c), checked. */
struct kdp_options {
	struct net		*net;
	struct sockaddr_storage	traddr;
	struct sockaddr_storage	host_traddr;
	char			subnqn[NVMF_NQN_FIELD];
	char			hostnqn[NVMF_NQN_FIELD];
	u8			hostid[NVMF_HOSTID_SIZE];
	int			instance;	/* -1: any */
	u32			nr_io_queues;
	u32			nr_write_queues;
	u32			nr_poll_queues;
	u32			queue_size;
	u32			kato_ms;
	enum kdp_cq_mode	cq_mode;
	s32			spin_us;
	s32			ctrl_loss_tmo;		/* s; -1: for ever */
	s32			fast_io_fail_tmo;	/* s; -1: as ctrl_loss_tmo */
	u32			reconnect_delay;	/* s, the longest */
	bool			duplicate;
};

/* How many I/O queues there are for each kind of I/O; their numbers follow in this order. */
struct kdp_sets {
	unsigned int		nr[HCTX_MAX_TYPES];
};

/* Counters of a queue that core does not keep: enum kdp_stat's other half. */
enum kdp_queue_stat {
	KDP_QS_COMMANDS,
	KDP_QS_BYTES_READ,
	KDP_QS_BYTES_WRITTEN,
	KDP_QS_REMOTE_INV,
	KDP_QS_INLINE,
	KDP_QS_BYTES_COPIED,
	KDP_QS_REGION,
	KDP_QS_RETRIES,
	KDP_QS_NR
};

struct kdp_queue_stats {
	u64	v[KDP_QS_NR];
};

/* All counters of a queue, summed up over the CPUs. */
struct kdp_counts {
	u64	conn[KDP_CS_NR];
	u64	queue[KDP_QS_NR];
};

/* One receive buffer, for one response capsule. */
struct kdp_rsp {
	struct ib_cqe		cqe;
	struct ib_sge		sge;
	struct ib_recv_wr	wr;
	struct nvmf_cqe		*capsule;	/* in queue->responses */
};

/* A place in the ring of what has been sent; the HCA may read its capsule again. */
struct kdp_send {
	struct ib_cqe		cqe;
	struct kdp_req		*req;
	bool			has_data;	/* of req, which may not end before the SEND */
};

/* Progress of a command: what must have happened before it ends, in any order. */
#define KDP_REQ_POSTED		BIT(0)		/* the provider has its work requests */
#define KDP_REQ_SENT		BIT(1)		/* the HCA does not read its data any more */
#define KDP_REQ_RESPONDED	BIT(2)		/* the response came */
#define KDP_REQ_INVALIDATED	BIT(3)		/* the peer has no access to its data any more */
#define KDP_REQ_DONE		(KDP_REQ_POSTED | KDP_REQ_SENT | KDP_REQ_RESPONDED | \
				 KDP_REQ_INVALIDATED)

/* How a request's data reach the wire. */
enum kdp_map_how {
	KDP_MAP_NONE,
	KDP_MAP_INLINE,
	KDP_MAP_MR,
	KDP_MAP_REGION,		/* through the region's MR, which stands */
};

/* The driver's part of a request; it occupies the command slot of the request's tag. */
struct kdp_req {
	/* hot */
	struct kdp_queue	*queue;
	atomic_t		progress;	/* KDP_REQ_* */
	u8			generation;
	u8			how;		/* enum kdp_map_how */
	bool			internal;	/* passthrough of ours: allowed while not live */
	bool			unanswered;	/* the connection broke before its response */
	u8			retries;	/* times that it was sent again */
	u16			status;		/* NVMe status */
	u32			copied;		/* bytes that the block layer bounced for it */
	u64			result;
	struct kdp_region_use	region;		/* that the data lie in; none, but for users' commands */
	struct ib_cqe		reg_cqe;
	struct ib_cqe		inv_cqe;
	struct ib_reg_wr	reg_wr;
	struct ib_send_wr	send_wr;
	struct ib_sge		sge[1 + KDP_INLINE_SEGMENTS];
	struct sg_table		sgt;
	int			nr_dma;		/* DMA segments of sgt */
	struct nvmf_sqe		cmd;
	struct nvmf_dsm_range	discard;	/* a discard's data */
	struct scatterlist	inline_sg[];	/* KDP_INLINE_SEGMENTS of them */
};

/*
 * A queue of the controller. Its command slots are the tags of its blk-mq hardware
 * context: slot i owns mrs->mr[i] and inflight[i]. Place i of the ring of sends owns
 * capsules[i].
 */
struct kdp_queue {
	struct kdp_ctrl			*ctrl;
	u16				qid;
	/* from here on zero while the queue is closed */
	struct kdp_conn			conn;
	u16				depth;		/* command slots in use */
	u16				conn_depth;	/* command slots that there are */
	unsigned int			inline_segments;
	unsigned int			parked;		/* commands out whose answer is not awaited */

	struct kdp_mr_pool		*mrs;
	struct kdp_queue_stats __percpu	*stats;
	struct kdp_req			**inflight;	/* set to post, cleared by the response */

	/* sending (send.c) */
	struct kdp_send			*sends;		/* the ring: send_ring places */
	struct nvmf_sqe			*capsules;	/* mapped once, at capsules_dma */
	dma_addr_t			capsules_dma;
	unsigned int			send_ring;	/* a power of two */
	spinlock_t			send_lock;	/* what follows; the order of posting */
	unsigned int			send_head;	/* the next place to fill, counted on */
	unsigned int			send_posted;	/* the first that is only chained yet */
	unsigned int			send_signalled;	/* after the last that will complete */
	bool				send_has_data;	/* one after that has */
	struct ib_send_wr		*send_chain;	/* of the places not posted yet */
	struct ib_send_wr		*send_last;
	/* written by completions */
	unsigned int			send_tail ____cacheline_aligned;	/* free up to here */

	/* receiving (receive.c), by completions alone */
	struct kdp_rsp			*rsps;		/* nr_rsps */
	struct nvmf_cqe			*responses;	/* mapped once, at responses_dma */
	dma_addr_t			responses_dma;
	unsigned int			nr_rsps;
	unsigned int			responded;	/* commands, counted on like send_head */
	struct ib_recv_wr		*repost;	/* chain of those to be posted again */
	struct io_comp_batch		ended;		/* requests to be ended together */
};

/* bits of kdp_ctrl.flags */
#define KDP_CTRL_BROKEN		0	/* the connection failed: nothing is posted on it any more */
#define KDP_CTRL_FAIL_FAST	1	/* fast_io_fail_tmo is over: I/O fails while there is none */
#define KDP_CTRL_ASKED		2	/* it was broken off because somebody asked for that */
#define KDP_CTRL_EVENT_OUT	3	/* there is an Asynchronous Event Request (aen.c) */
#define KDP_CTRL_KEYS_SPOILED	4	/* keys of regions may be invalid (region_mrs.c) */

struct kdp_ctrl {
	struct device		dev;		/* "kdp0" */
	struct cdev		cdev;
	int			instance;
	bool			cdev_added;
	struct list_head	entry;		/* the list of ctrl.c, under its lock */

	struct mutex		lock;		/* held while the connection is made or taken down */
	spinlock_t		state_lock;	/* state, queueing work by it; taken in any context */
	enum kdp_ctrl_state	state;
	unsigned long		flags;		/* KDP_CTRL_*, atomic bits */
	struct mutex		stop_lock;	/* one hang-up of a queue at a time */
	struct completion	gone;		/* it has been taken down wholly */
	struct work_struct	fail_work;
	struct delayed_work	ka_work;
	struct work_struct	scan_work;

	/* recovery (recover.c) */
	struct delayed_work	reconnect_work;
	struct delayed_work	fast_fail_work;
	struct delayed_work	loss_work;
	unsigned long		lost_at;	/* jiffies; under state_lock */
	unsigned int		attempts;	/* in vain since the connection broke; under lock */
	unsigned int		reconnects;	/* successful ones */
	const char		*reason;	/* why it broke last, static string, or NULL */

	struct kdp_options	opts;
	const char		*error_text;	/* of a failed connect, static string */

	struct kdp_queue	*queues;	/* 0 is the admin queue; kdp_max_queues() */
	struct kdp_counts	*past;		/* as many: what queues counted that were closed */
	unsigned int		nr_io_queues;	/* that came up, of all sets */
	struct kdp_sets		sets;
	struct blk_mq_tag_set	admin_set;
	struct blk_mq_tag_set	io_set;
	struct request_queue	*admin_q;	/* both set under ns_lock */
	struct request_queue	*connect_q;	/* commands on I/O queues without a namespace */
	bool			admin_set_ready;
	bool			io_set_ready;

	u64			cap;
	struct nvmf_ctrl_info	info;
	u16			cntlid;
	u32			max_transfer;	/* bytes */
	u32			max_segments;
	u32			set_transfer;	/* what the disks were promised of these two */
	u32			set_segments;
	u32			inline_size;	/* bytes of data in a capsule at most */

	struct mutex		scan_lock;	/* adding, changing, removing namespaces; not inside lock */
	struct mutex		ns_lock;	/* which request queues there are: namespaces, the two above */
	struct list_head	namespaces;
	bool			io_stopped;	/* the namespaces' queues are quiesced; under ns_lock */
	u32			ns_epoch;	/* goes up with each connection; under ns_lock */

	struct mutex		regions_lock;	/* registrations of regions; inside lock */
	struct list_head	regions;	/* under regions_lock */

	/* events (aen.c) */
	struct delayed_work	aen_work;
	u32			event;		/* that came last */
	u16			event_status;
	unsigned long		event_next;	/* when the next may be handled, jiffies */
};

struct kdp_ns {
	struct device		dev;		/* "kdpg0n1" */
	struct cdev		cdev;
	struct kdp_ctrl		*ctrl;
	struct list_head	entry;		/* ctrl->namespaces, under ctrl->ns_lock */
	u32			nsid;
	struct nvmf_ns_info	info;		/* blocks and read_only change under ctrl->ns_lock */
	bool			dead;		/* gone, or another one: gets no I/O any more */
	bool			listed;		/* in the last list; under ctrl->scan_lock */
	u32			epoch;		/* ctrl->ns_epoch when it last said who it is */
	struct gendisk		*disk;
	struct request_queue	*queue;		/* the disk's; a reference of our own */
};

/* main.c */
extern struct workqueue_struct *kdp_wq;
extern struct workqueue_struct *kdp_connect_wq;
extern struct workqueue_struct *kdp_scan_wq;

/* The admin queue and as many I/O queues as may come up. */
static inline unsigned int kdp_max_queues(const struct kdp_options *opts)
{
	return 1 + opts->nr_io_queues + opts->nr_write_queues + opts->nr_poll_queues;
}

/* ctrl.c */
struct kdp_ctrl *kdp_ctrl_create(const struct kdp_options *opts, const char **text);
void kdp_ctrl_unlist(struct kdp_ctrl *ctrl);
struct kdp_ctrl *kdp_ctrl_from(struct net *net, int instance);
struct kdp_ctrl *kdp_ctrl_find(struct net *net, int instance);
bool kdp_ctrl_visible(const struct kdp_ctrl *ctrl, const struct net *net);

static inline void kdp_ctrl_put(struct kdp_ctrl *ctrl)
{
	put_device(&ctrl->dev);
}

static inline enum kdp_ctrl_state kdp_ctrl_state(const struct kdp_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state);
}

int kdp_ctrl_error(struct kdp_ctrl *ctrl, int error, const char *text);
bool kdp_ctrl_uses(struct kdp_ctrl *ctrl, const struct ib_device *ib);

/* state.c */
bool kdp_ctrl_begin(struct kdp_ctrl *ctrl);
bool kdp_ctrl_go_live(struct kdp_ctrl *ctrl);
bool kdp_ctrl_fail_fast(struct kdp_ctrl *ctrl);
bool kdp_ctrl_give_up(struct kdp_ctrl *ctrl);
bool kdp_ctrl_begin_delete(struct kdp_ctrl *ctrl, enum kdp_ctrl_state *before);
bool kdp_ctrl_break(struct kdp_ctrl *ctrl);
int kdp_ctrl_ask_reset(struct kdp_ctrl *ctrl);
void kdp_ctrl_queue_reconnect(struct kdp_ctrl *ctrl, unsigned long delay);
void kdp_ctrl_queue_scan(struct kdp_ctrl *ctrl);
int kdp_check_live(const struct kdp_ctrl *ctrl);

/* Does block I/O wait for a connection, when there is none? */
static inline bool kdp_ctrl_io_waits(const struct kdp_ctrl *ctrl)
{
	switch (kdp_ctrl_state(ctrl)) {
	case KDP_STATE_LIVE:
	case KDP_STATE_RESETTING:
	case KDP_STATE_CONNECTING:
		return !test_bit(KDP_CTRL_FAIL_FAST, &ctrl->flags);
	default:
		return false;
	}
}

/* connect.c */
int kdp_ctrl_connect(struct kdp_ctrl *ctrl);
int kdp_ctrl_reconnect(struct kdp_ctrl *ctrl);

/* disconnect.c */
bool kdp_ctrl_disconnect(struct kdp_ctrl *ctrl);
void kdp_ctrl_disconnect_all(const struct ib_device *ib);

/* recover.c */
void kdp_recover_init(struct kdp_ctrl *ctrl);
void kdp_ctrl_fail(struct kdp_ctrl *ctrl, const char *why);
int kdp_ctrl_reset(struct kdp_ctrl *ctrl);
int kdp_ctrl_reset_sync(struct kdp_ctrl *ctrl);
void kdp_ctrl_break_off(struct kdp_ctrl *ctrl);
void kdp_ctrl_start_io(struct kdp_ctrl *ctrl);
int kdp_ctrl_join_io(struct kdp_ctrl *ctrl, struct kdp_ns *ns);
void kdp_ctrl_stop_queues(struct kdp_ctrl *ctrl);
void kdp_ctrl_drop_connection(struct kdp_ctrl *ctrl);

/* notify.c */
void kdp_notify_enable(bool enable);
void kdp_notify(struct kdp_ctrl *ctrl, enum kdp_ctrl_state state);

/* counters.c */
void kdp_counts_add(struct kdp_counts *sum, const struct kdp_queue *queue);
int kdp_put_counts(struct sk_buff *skb, const struct kdp_counts *counts);

/* admin.c */
struct kdp_exec {
	struct request_queue	*q;
	const struct nvmf_sqe	*cmd;		/* without cid and data pointer */
	void			*buffer;	/* kmalloc'ed, or NULL */
	unsigned int		len;		/* bytes */
	int			hctx;		/* hardware context, or -1 for any */
	u64			result;		/* out */
};
int kdp_exec(struct kdp_ctrl *ctrl, struct kdp_exec *exec);
int kdp_connect_queue(struct kdp_ctrl *ctrl, u16 qid, u16 entries);
int kdp_enable(struct kdp_ctrl *ctrl);
void kdp_shutdown(struct kdp_ctrl *ctrl);
int kdp_identify(struct kdp_ctrl *ctrl, u8 cns, u32 nsid, void *buffer);
int kdp_set_num_queues(struct kdp_ctrl *ctrl, u32 *nr);
int kdp_set_events(struct kdp_ctrl *ctrl, u32 events);
int kdp_get_log_page(struct kdp_ctrl *ctrl, u8 lid, void *buffer, u32 bytes);
void kdp_keep_alive_work(struct work_struct *work);
void kdp_keep_alive_start(struct kdp_ctrl *ctrl);
void kdp_keep_alive_stop(struct kdp_ctrl *ctrl);

/* queue.c */
int kdp_queue_open(struct kdp_ctrl *ctrl, u16 qid, u16 entries);
void kdp_queue_stop(struct kdp_ctrl *ctrl, struct kdp_queue *queue);
void kdp_queue_close(struct kdp_queue *queue);

static inline void kdp_queue_count(struct kdp_queue *queue, enum kdp_queue_stat stat, u64 n)
{
	this_cpu_add(queue->stats->v[stat], n);
}

/* tagset.c */
int kdp_admin_set_create(struct kdp_ctrl *ctrl);
int kdp_io_set_create(struct kdp_ctrl *ctrl);
void kdp_admin_set_destroy(struct kdp_ctrl *ctrl);
void kdp_io_set_destroy(struct kdp_ctrl *ctrl);

/* sets.c */
struct kdp_sets kdp_sets_wanted(const struct kdp_options *opts);
struct kdp_sets kdp_sets_divide(const struct kdp_sets *wanted, unsigned int nr);
unsigned int kdp_sets_total(const struct kdp_sets *sets);
enum hctx_type kdp_sets_type(const struct kdp_sets *sets, u16 qid);
unsigned int kdp_sets_maps(const struct kdp_sets *sets);
int kdp_sets_cpu(const struct kdp_sets *sets, u16 qid);
void kdp_sets_log(const struct kdp_ctrl *ctrl, const struct kdp_sets *wanted, const char *why);
void kdp_map_queues(struct blk_mq_tag_set *set);

static inline bool kdp_queue_is_polled(const struct kdp_ctrl *ctrl, u16 qid)
{
	return qid && kdp_sets_type(&ctrl->sets, qid) == HCTX_TYPE_POLL;
}

/* modes.c */
enum kdp_cq_mode kdp_queue_mode(const struct kdp_ctrl *ctrl, u16 qid);
enum kdp_cq_mode kdp_mode_of_attr(u32 attr);
u32 kdp_mode_attr(enum kdp_cq_mode mode);
int kdp_ctrl_set_modes(struct kdp_ctrl *ctrl, enum kdp_cq_mode mode, s32 spin_us);
void kdp_ctrl_stop_polling(struct kdp_ctrl *ctrl);
int kdp_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *batch);
bool kdp_poll_late(struct request *rq);

/* execute.c */
blk_status_t kdp_execute(struct request *rq, bool spin);

/* send.c */
int kdp_send_alloc(struct kdp_queue *queue);
void kdp_send_free(struct kdp_queue *queue);
unsigned int kdp_send_wrs(unsigned int depth);
bool kdp_send(struct kdp_queue *queue, struct request *rq, bool last);
void kdp_send_commit(struct kdp_queue *queue);
void kdp_send_drop(struct kdp_queue *queue);

/* receive.c */
int kdp_receive_alloc(struct kdp_queue *queue);
void kdp_receive_free(struct kdp_queue *queue);
unsigned int kdp_receive_wrs(unsigned int depth);
int kdp_receive_start(struct kdp_queue *queue);
void kdp_receive_repost(struct kdp_queue *queue);

/* request.c */
extern const struct blk_mq_ops kdp_mq_ops;
extern const struct blk_mq_ops kdp_admin_mq_ops;
void kdp_wc_error(struct kdp_queue *queue, const struct ib_wc *wc, const char *what);
void kdp_req_advance(struct kdp_req *req, int what, struct io_comp_batch *batch);
void kdp_requests_end(struct kdp_queue *queue);
bool kdp_cancel_request(struct request *rq, void *data);
size_t kdp_request_pdu_size(void);

/* The queue that a completion is of. */
static inline struct kdp_queue *kdp_wc_queue(const struct ib_wc *wc)
{
	struct kdp_conn *conn = wc->qp->qp_context;

	return container_of(conn, struct kdp_queue, conn);
}

/* map.c */
int kdp_map_data(struct kdp_req *req, struct request *rq, struct nvmf_sqe *sqe);
void kdp_unmap_data(struct kdp_req *req, struct request *rq);

/* status.c */
blk_status_t kdp_status_to_blk(u16 status);
int kdp_status_to_errno(u16 status);

/* ns.c */
int kdp_ns_add(struct kdp_ctrl *ctrl, u32 nsid, const struct nvmf_ns_info *info, u32 epoch);
void kdp_ns_kill(struct kdp_ns *ns);
void kdp_ns_remove_all(struct kdp_ctrl *ctrl);

static inline u64 kdp_ns_sectors(const struct nvmf_ns_info *info)
{
	return info->blocks << (info->lba_shift - SECTOR_SHIFT);
}

/* May @rq go out? Not to a namespace that is no longer the one that its disk was made of. */
static inline bool kdp_ns_accepts(const struct request *rq)
{
	const struct kdp_ns *ns = rq->q->queuedata;

	return !ns || !READ_ONCE(ns->dead);
}

/* ns_identity.c */
int kdp_ns_identify(struct kdp_ctrl *ctrl, u32 nsid, struct nvmf_ns_info *info);
void kdp_ns_declare_dead(struct kdp_ns *ns, const char *why);
int kdp_ns_revalidate(struct kdp_ctrl *ctrl);

/* ns_scan.c */
int kdp_ns_scan(struct kdp_ctrl *ctrl);
void kdp_scan_work(struct work_struct *work);

/* aen.c */
void kdp_aen_work(struct work_struct *work);
void kdp_aen_start(struct kdp_ctrl *ctrl);
void kdp_aen_stop(struct kdp_ctrl *ctrl);

/* An Asynchronous Event Request: its answer may never come. */
static inline bool kdp_req_is_event(const struct kdp_req *req)
{
	return !req->queue->qid && req->cmd.opcode == NVMF_ADM_ASYNC_EVENT;
}

/* blk.c */
int kdp_disk_create(struct kdp_ns *ns);
int kdp_disk_add(struct kdp_ns *ns);

/* sysfs.c */
extern const struct attribute_group *kdp_disk_groups[];

/* chardev.c */
int kdp_chardev_init(void);
void kdp_chardev_exit(void);
void kdp_minor_free(struct device *dev);
int kdp_ctrl_device_init(struct kdp_ctrl *ctrl, void (*release)(struct device *));
int kdp_ctrl_cdev_add(struct kdp_ctrl *ctrl);
void kdp_ctrl_cdev_del(struct kdp_ctrl *ctrl);
int kdp_ns_device_init(struct kdp_ns *ns, void (*release)(struct device *));
int kdp_ns_cdev_add(struct kdp_ns *ns);
void kdp_ns_cdev_del(struct kdp_ns *ns);

/* netlink.c, set.c, describe.c */
int kdp_netlink_init(void);
void kdp_netlink_exit(void);
extern struct genl_family kdp_genl_family;
struct kdp_ctrl *kdp_ctrl_to_control(struct sk_buff *skb, struct genl_info *info);
#define KDP_SET_MAXATTR		KDP_A_CQ_MODE
extern const struct nla_policy kdp_set_policy[KDP_SET_MAXATTR + 1];
int kdp_do_set(struct sk_buff *skb, struct genl_info *info);
int kdp_describe(struct sk_buff *skb, struct kdp_ctrl *ctrl);
int kdp_describe_queue(struct sk_buff *skb, struct kdp_ctrl *ctrl, unsigned int qid);

#endif /* KDP_HOST_H */
