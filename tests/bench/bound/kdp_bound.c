// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the fabric alone costs: the messages of an NVMe-oF I/O between two QPs of this
 * machine, without NVMe, block layer, application or storage.
 *
 *   read	SEND of 64 B → RDMA WRITE of 4096 B, SEND of 16 B
 *   write	SEND of 4160 B → SEND of 16 B
 *
 * Both ends complete in soft interrupts and post from there; few SENDs are signalled. No
 * block device over this fabric can be faster than this and the same job on a local
 * disk together: the bound of `make bench-host`.
 *
 * insmod runs it and says in the log "kdp_bound: N ns per I/O"; rmmod takes it away.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define COMMAND_SIZE	64
#define DATA_SIZE	4096
#define RESPONSE_SIZE	16
#define MAX_DEPTH	64
#define SIGNAL_EVERY	16
#define WARM_UP		200
#define PATIENCE	(60 * HZ)

static char *addr = "10.77.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "IPv4 address of the RDMA device");
static int port = 4999;
module_param(port, int, 0444);
MODULE_PARM_DESC(port, "port to use for it");
static int ios = 4000;
module_param(ios, int, 0444);
MODULE_PARM_DESC(ios, "how many I/Os are timed");
static int depth = 1;
module_param(depth, int, 0444);
MODULE_PARM_DESC(depth, "how many at once, 1 to 64");
static bool write;
module_param(write, bool, 0444);
MODULE_PARM_DESC(write, "writes instead of reads");
static bool signal_all;
module_param(signal_all, bool, 0444);
MODULE_PARM_DESC(signal_all, "signal every SEND of the host's end");

/* One command slot at one end: a message to send, a message to receive, the data. */
struct slot {
	struct ib_cqe	recv_cqe;
	dma_addr_t	out;
	dma_addr_t	in;
	dma_addr_t	data;
	void		*memory;
	dma_addr_t	dma;
};

struct end {
	struct rdma_cm_id	*id;
	struct ib_cq		*cq;
	struct slot		slots[MAX_DEPTH];
	size_t			in_size;
	unsigned int		sends;
};

static struct {
	struct ib_pd		*pd;
	struct rdma_cm_id	*listener;
	struct end		host;
	struct end		target;
	atomic_t		started;
	atomic_t		finished;
	int			total;
	int			error;
	struct completion	step;
	struct completion	over;
} bound;

#define SLOT_BYTES	(COMMAND_SIZE + DATA_SIZE + COMMAND_SIZE + DATA_SIZE + DATA_SIZE)

static void fail(int error)
{
	if (!bound.error)
		bound.error = error;
	complete_all(&bound.over);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		fail(-EIO);
}

static struct ib_cqe send_cqe = { .done = send_done };

static int post_recv(struct end *end, struct slot *slot)
{
	struct ib_sge sge = {
		.addr	= slot->in,
		.length	= end->in_size,
		.lkey	= bound.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &slot->recv_cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(end->id->qp, &wr, NULL);
}

static int send_flags(struct end *end, bool always)
{
	return always || ++end->sends % SIGNAL_EVERY == 0 ? IB_SEND_SIGNALED : 0;
}

static void send_command(struct slot *slot)
{
	struct end *end = &bound.host;
	struct ib_sge sge[2] = {
		{ slot->out, COMMAND_SIZE, bound.pd->local_dma_lkey },
		{ slot->data, DATA_SIZE, bound.pd->local_dma_lkey },
	};
	struct ib_send_wr wr = {
		.opcode		= IB_WR_SEND,
		.wr_cqe		= &send_cqe,
		.sg_list	= sge,
		.num_sge	= write ? 2 : 1,
		.send_flags	= send_flags(end, signal_all),
	};

	if (atomic_inc_return(&bound.started) > bound.total)
		return;
	if (ib_post_send(end->id->qp, &wr, NULL))
		fail(-EIO);
}

static void host_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct slot *slot = container_of(wc->wr_cqe, struct slot, recv_cqe);

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			fail(-EIO);
		return;
	}
	if (post_recv(&bound.host, slot))
		return fail(-EIO);
	if (atomic_inc_return(&bound.finished) == bound.total)
		complete(&bound.over);
	else
		send_command(slot);
}

static void target_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct slot *slot = container_of(wc->wr_cqe, struct slot, recv_cqe);
	struct end *end = &bound.target;
	struct ib_sge data = { slot->data, DATA_SIZE, bound.pd->local_dma_lkey };
	struct ib_sge out = { slot->out, RESPONSE_SIZE, bound.pd->local_dma_lkey };
	struct ib_send_wr response = {
		.opcode		= IB_WR_SEND,
		.wr_cqe		= &send_cqe,
		.sg_list	= &out,
		.num_sge	= 1,
		.send_flags	= send_flags(end, false),
	};
	struct ib_rdma_wr rdma = {
		.wr = {
			.opcode		= IB_WR_RDMA_WRITE,
			.wr_cqe		= &send_cqe,
			.sg_list	= &data,
			.num_sge	= 1,
			.next		= &response,
		},
		.rkey = bound.pd->unsafe_global_rkey,
	};
	int err;

	if (wc->status != IB_WC_SUCCESS)
		return;
	/* the command names the memory that it wants its data in */
	rdma.remote_addr = *(u64 *)(slot->memory + (slot->in - slot->dma));
	err = post_recv(end, slot) ?: ib_post_send(end->id->qp, write ? &response : &rdma.wr, NULL);
	if (err)
		fail(err);
}

/* --- the connection ---------------------------------------------------------- */

static int make_slots(struct end *end, bool host)
{
	struct ib_device *ib = bound.pd->device;

	end->in_size = host ? RESPONSE_SIZE : COMMAND_SIZE + (write ? DATA_SIZE : 0);
	for (int i = 0; i < depth; i++) {
		struct slot *slot = &end->slots[i];

		slot->recv_cqe.done = host ? host_received : target_received;
		slot->memory = kzalloc(SLOT_BYTES, GFP_KERNEL);
		if (!slot->memory)
			return -ENOMEM;
		slot->dma = ib_dma_map_single(ib, slot->memory, SLOT_BYTES, DMA_BIDIRECTIONAL);
		if (ib_dma_mapping_error(ib, slot->dma))
			return -ENOMEM;
		slot->data = slot->dma;
		slot->out = slot->data + DATA_SIZE;
		slot->in = slot->out + COMMAND_SIZE;
		if (host)
			*(u64 *)(slot->memory + DATA_SIZE) = slot->data;
	}
	return 0;
}

static void free_slots(struct end *end)
{
	for (int i = 0; i < depth; i++) {
		struct slot *slot = &end->slots[i];

		if (slot->dma)
			ib_dma_unmap_single(bound.pd->device, slot->dma, SLOT_BYTES,
					    DMA_BIDIRECTIONAL);
		kfree(slot->memory);
	}
}

static int make_end(struct end *end, struct rdma_cm_id *id, bool host)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr	= 4 * MAX_DEPTH,
			.max_recv_wr	= MAX_DEPTH + 1,
			.max_send_sge	= 2,
			.max_recv_sge	= 1,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	int err;

	end->id = id;
	err = make_slots(end, host);
	if (err)
		return err;
	end->cq = ib_alloc_cq(id->device, end, 6 * MAX_DEPTH, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(end->cq)) {
		err = PTR_ERR(end->cq);
		end->cq = NULL;
		return err;
	}
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	err = rdma_create_qp(id, bound.pd, &attr);
	for (int i = 0; !err && i < depth; i++)
		err = post_recv(end, &end->slots[i]);
	return err;
}

static void break_end(struct end *end)
{
	if (!end->id)
		return;
	if (end->id->qp) {
		rdma_disconnect(end->id);
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	rdma_destroy_id(end->id);
	if (end->cq)
		ib_free_cq(end->cq);
	if (bound.pd)
		free_slots(end);
}

static int accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7, .retry_count = 7 };
	int err = bound.target.id ? -EBUSY : make_end(&bound.target, id, false);

	return err ?: rdma_accept(id, &param);
}

static int cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		bound.error = accept(id);
		/* an id that is not ours goes with the error */
		return bound.target.id == id ? 0 : bound.error;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&bound.step);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id == bound.host.id)
			complete(&bound.step);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		if (!bound.error)
			bound.error = event->status < 0 ? event->status : -ECONNREFUSED;
		complete(&bound.step);
		break;
	}
	return 0;
}

static int step(int err)
{
	if (err)
		return err;
	if (!wait_for_completion_timeout(&bound.step, 10 * HZ))
		return -ETIMEDOUT;
	return bound.error;
}

static int connect(void)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7, .retry_count = 7 };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct rdma_cm_id *id;
	int err;

	if (!in4_pton(addr, -1, (u8 *)&sin.sin_addr, -1, NULL))
		return -EINVAL;
	id = rdma_create_id(&init_net, cm_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	bound.listener = id;
	err = rdma_bind_addr(id, (struct sockaddr *)&sin) ?: rdma_listen(id, 1);
	if (err)
		return err;

	id = rdma_create_id(&init_net, cm_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	bound.host.id = id;
	err = step(rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, 3000)) ?:
	      step(rdma_resolve_route(id, 3000));
	if (err)
		return err;
	bound.pd = ib_alloc_pd(id->device, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(bound.pd)) {
		err = PTR_ERR(bound.pd);
		bound.pd = NULL;
		return err;
	}
	return make_end(&bound.host, id, true) ?: step(rdma_connect(id, &param));
}

static void disconnect(void)
{
	if (bound.listener)
		rdma_destroy_id(bound.listener);
	break_end(&bound.host);
	break_end(&bound.target);
	if (bound.pd)
		ib_dealloc_pd(bound.pd);
}

/* --- the exchange -------------------------------------------------------------- */

static int run(int total, u64 *ns)
{
	u64 begin;

	reinit_completion(&bound.over);
	atomic_set(&bound.started, 0);
	atomic_set(&bound.finished, 0);
	bound.total = total;
	begin = ktime_get_ns();
	for (int i = 0; i < depth; i++) {
		local_bh_disable();
		send_command(&bound.host.slots[i]);
		local_bh_enable();
	}
	if (!wait_for_completion_timeout(&bound.over, PATIENCE))
		return -ETIMEDOUT;
	*ns = ktime_get_ns() - begin;
	return bound.error;
}

static int __init bound_init(void)
{
	u64 ns = 0;
	int err;

	if (depth < 1 || depth > MAX_DEPTH || ios < depth)
		return -EINVAL;
	init_completion(&bound.step);
	init_completion(&bound.over);
	err = connect() ?: run(WARM_UP, &ns) ?: run(ios, &ns);
	if (err) {
		pr_err("kdp_bound: error %d\n", err);
		disconnect();
		return err;
	}
	pr_info("kdp_bound: %llu ns per I/O\n", div_u64(ns, ios));
	return 0;
}

static void __exit bound_exit(void)
{
	disconnect();
}

module_init(bound_init);
module_exit(bound_exit);

MODULE_DESCRIPTION("kdp: what the fabric alone costs");
MODULE_AUTHOR("The kdp authors");
MODULE_LICENSE("GPL");
