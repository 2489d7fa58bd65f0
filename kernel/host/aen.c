// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events: the controller tells that its namespaces changed.
 *
 *   connected    Set Features: tell of changes; one Asynchronous Event Request lies
 *                at the controller from now on
 *   it answers   kdp_aen_ended() notes the event, kdp_aen_work() reads the log page that
 *                belongs to it, so that the controller may tell of the next, has the
 *                namespaces scanned and sends the request again
 *   broken       the request ends with the connection, which is no news; the reconnect
 *                begins anew
 *
 * However many events a controller tells of, it is one at a time, with a pause between
 * two. A request that ends with an error is not sent again until the next connect.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "host.h"

/* Between the end of one event and the beginning of the next. */
#define KDP_AEN_PAUSE		(HZ / 4)
/* When there was no memory. */
#define KDP_AEN_RETRY		HZ
/* kdp_timeout() knows the request: it is only waked so often. */
#define KDP_AEN_TIMEOUT		(3600 * HZ)

/* What is read of a page that nobody looks at. */
#define KDP_AEN_LOG_SIZE	512

/*
 * Any context. The request is given back here: in a batch of completions blk-mq would give
 * back a reserved tag as if it were none.
 */
static enum rq_end_io_ret kdp_aen_ended(struct request *rq, blk_status_t status)
{
	struct kdp_ctrl *ctrl = rq->end_io_data;
	const struct kdp_req *req = blk_mq_rq_to_pdu(rq);
	u16 error = req->status;
	u32 result = req->result;
	unsigned long now = jiffies, delay = 0;

	WRITE_ONCE(ctrl->queues[0].parked, 0);
	blk_mq_free_request(rq);
	clear_bit(KDP_CTRL_EVENT_OUT, &ctrl->flags);
	if ((error & NVMF_SC_MASK) == NVMF_SC_HOST_PATH_ERROR || (!error && status != BLK_STS_OK))
		return RQ_END_IO_NONE;
	ctrl->event = result;
	ctrl->event_status = error;
	if (time_before(now, ctrl->event_next))
		delay = min_t(unsigned long, ctrl->event_next - now, KDP_AEN_PAUSE);
	queue_delayed_work(kdp_connect_wq, &ctrl->aen_work, delay);
	return RQ_END_IO_NONE;
}

/* Nothing is waited for but the slot. */
static void kdp_aen_send(struct kdp_ctrl *ctrl)
{
	struct request *rq;
	struct kdp_req *req;

	if (test_and_set_bit(KDP_CTRL_EVENT_OUT, &ctrl->flags))
		return;
	rq = blk_mq_alloc_request(ctrl->admin_q, REQ_OP_DRV_IN, BLK_MQ_REQ_RESERVED);
	if (IS_ERR(rq)) {
		clear_bit(KDP_CTRL_EVENT_OUT, &ctrl->flags);
		return;
	}
	req = blk_mq_rq_to_pdu(rq);
	nvmf_build_async_event(&req->cmd);
	req->internal = true;
	req->status = 0;
	req->result = 0;
	rq->timeout = KDP_AEN_TIMEOUT;
	rq->end_io = kdp_aen_ended;
	rq->end_io_data = ctrl;
	WRITE_ONCE(ctrl->queues[0].parked, 1);
	blk_execute_rq_nowait(rq, false);
}

/* Reading its log page clears an event; what stands there is not looked at: a scan finds out. */
static int kdp_aen_clear(struct kdp_ctrl *ctrl, u8 lid)
{
	u32 bytes = lid == NVMF_LOG_CHANGED_NS ? NVMF_LOG_CHANGED_NS_SIZE : KDP_AEN_LOG_SIZE;
	void *data;
	int err;

	data = kmalloc(bytes, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	err = kdp_get_log_page(ctrl, lid, data, bytes);
	kfree(data);
	if (err > 0)
		dev_dbg(&ctrl->dev, "log page 0x%x: NVMe status 0x%x\n", lid, err);
	return min(err, 0);
}

void kdp_aen_work(struct work_struct *work)
{
	struct kdp_ctrl *ctrl = container_of(to_delayed_work(work), struct kdp_ctrl, aen_work);
	struct nvmf_event event = nvmf_event_parse(ctrl->event);
	unsigned int noio;
	int err;

	if (ctrl->event_status & NVMF_SC_MASK) {
		/* when it is shut down, it may end what it has */
		if (kdp_ctrl_state(ctrl) != KDP_STATE_DELETING)
			dev_warn(&ctrl->dev,
				 "changes are told of no more: the event request ended with NVMe status 0x%x\n",
				 ctrl->event_status);
		return;
	}
	/* a reconnect waits for us, and I/O for that */
	noio = memalloc_noio_save();
	err = kdp_aen_clear(ctrl, event.lid);
	memalloc_noio_restore(noio);
	if (err == -ENOMEM)
		queue_delayed_work(kdp_connect_wq, &ctrl->aen_work, KDP_AEN_RETRY);
	if (err)
		return;	/* the connection broke, or later again */
	if (nvmf_event_is_ns_change(&event))
		kdp_ctrl_queue_scan(ctrl);
	else
		dev_warn_ratelimited(&ctrl->dev, "event of type %u: 0x%x, log page 0x%x\n",
				     event.type, event.info, event.lid);
	ctrl->event_next = jiffies + KDP_AEN_PAUSE;
	kdp_aen_send(ctrl);
}

/*
 * Be told of changes, as long as this connection lives. Called for each connection, before
 * the controller is live: a scan follows then, so that no change is missed. May sleep.
 */
void kdp_aen_start(struct kdp_ctrl *ctrl)
{
	int err;

	ctrl->event_next = jiffies;
	if (!(ctrl->info.oaes & NVMF_OAES_NS_ATTR))
		return;
	err = kdp_set_events(ctrl, NVMF_EVENT_NS_ATTR);
	if (err > 0)
		dev_warn(&ctrl->dev, "changes will not be told of: NVMe status 0x%x\n", err);
	else if (!err)
		kdp_aen_send(ctrl);
}

/* The queues are stopped: nothing ends any more that could queue the work. May sleep. */
void kdp_aen_stop(struct kdp_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->aen_work);
}
