// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection's state, from address resolution to hang-up.
 *
 * The steps run in the caller's thread, which waits for the CM's event of each:
 * the CM callback only notes what happened. It never destroys anything and always
 * returns 0; the QP and the cm_id end in kdp_conn_close(), outside any callback.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "fault.h"
#include "internal.h"

#define KDP_CM_ADDR_MS		3000
#define KDP_CM_ROUTE_MS		3000
/*
 * The CM would retry an unanswered request for more than a minute; who connects by
 * hand is told sooner. Steps are waited for a little longer than they may take.
 */
#define KDP_CM_CONNECT_MS	10000
#define KDP_CM_SLACK_MS		1000
/* While a step is waited for, how often to ask whether anybody still wants it. */
#define KDP_CM_LOOK_UP		(HZ / 10)

/* May be called from any context. The upper layer hears of it once. */
void kdp_conn_break(struct kdp_conn *conn, const char *why)
{
	if (!test_bit(KDP_CONN_ESTABLISHED, &conn->flags))
		return;
	if (!test_and_set_bit(KDP_CONN_BROKEN, &conn->flags))
		conn->ops->broken(conn, why);
}

static void kdp_cm_step(struct kdp_conn *conn, int error, const char *text)
{
	conn->step_error = error;
	conn->step_text = text;
	complete(&conn->step);
}

static void kdp_cm_keep_private(struct kdp_conn *conn, const void *data, u8 len)
{
	conn->private_len = data ? min_t(u8, len, KDP_CM_PRIVATE_MAX) : 0;
	memcpy(conn->private, data, conn->private_len);
}

static void kdp_cm_rejected(struct kdp_conn *conn, struct rdma_cm_event *event)
{
	const void *data;
	u8 len = 0;

	conn->reject_reason = event->status;
	data = rdma_consumer_reject_data(conn->cm_id, event, &len);
	if (data) {
		kdp_cm_keep_private(conn, data, len);
		kdp_cm_step(conn, -ECONNREJECTED, "the target refused the connection");
	} else if (event->status == IB_CM_REJ_INVALID_SERVICE_ID ||
		   event->status == -ECONNREFUSED) {
		kdp_cm_step(conn, -ECONNREFUSED, "nobody listens there for NVMe over RDMA");
	} else {
		kdp_cm_step(conn, -ECONNREJECTED,
			    rdma_reject_msg(conn->cm_id, event->status));
	}
}

/* The event as it came, or the failure of that step where a test wants one. */
static enum rdma_cm_event_type kdp_cm_event(enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return kdp_fault(KDP_FAULT_CM_ADDR) ? RDMA_CM_EVENT_ADDR_ERROR : event;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return kdp_fault(KDP_FAULT_CM_ROUTE) ? RDMA_CM_EVENT_ROUTE_ERROR : event;
	case RDMA_CM_EVENT_ESTABLISHED:
		return kdp_fault(KDP_FAULT_CM_CONNECT) ? RDMA_CM_EVENT_CONNECT_ERROR : event;
	default:
		return event;
	}
}

static int kdp_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct kdp_conn *conn = cm_id->context;
	int status = event->status;

	switch (kdp_cm_event(event->event)) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		kdp_cm_step(conn, 0, NULL);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		kdp_cm_keep_private(conn, event->param.conn.private_data,
				    event->param.conn.private_data_len);
		set_bit(KDP_CONN_ESTABLISHED, &conn->flags);
		kdp_cm_step(conn, 0, NULL);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (status == -ENODEV)
			kdp_cm_step(conn, status, "no RDMA device leads to the address");
		else
			kdp_cm_step(conn, status < 0 ? status : -EHOSTUNREACH,
				    "the address does not answer");
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		kdp_cm_step(conn, status < 0 ? status : -EHOSTUNREACH,
			    "there is no RDMA route to the address");
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		kdp_cm_step(conn, status < 0 ? status : -EHOSTUNREACH,
			    "the target does not answer the connection request");
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		kdp_cm_step(conn, -ECONNRESET, "the connection handshake failed");
		break;
	case RDMA_CM_EVENT_REJECTED:
		kdp_cm_rejected(conn, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (test_bit(KDP_CONN_ESTABLISHED, &conn->flags))
			kdp_conn_break(conn, rdma_event_msg(event->event));
		else
			kdp_cm_step(conn, -ECONNRESET, "the connection ended during the handshake");
		break;
	default:
		break;
	}
	return 0;
}

static int kdp_cm_wait(struct kdp_conn *conn, unsigned int ms, const char *on_timeout)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms + KDP_CM_SLACK_MS);

	while (!wait_for_completion_timeout(&conn->step, KDP_CM_LOOK_UP)) {
		if (conn->ops->wanted && !conn->ops->wanted(conn)) {
			conn->step_text = "it is not wanted any more";
			return -ECANCELED;
		}
		if (time_after_eq(jiffies, end)) {
			conn->step_text = on_timeout;
			return -ETIMEDOUT;
		}
	}
	return conn->step_error;
}

int kdp_conn_resolve(struct kdp_conn *conn, const struct kdp_conn_ops *ops,
		     const struct kdp_conn_params *params)
{
	struct sockaddr *src = NULL;
	struct kdp_device *dev;
	struct rdma_cm_id *id;
	int err;

	memset(conn, 0, sizeof(*conn));
	conn->ops = ops;
	conn->params = *params;
	init_completion(&conn->step);
	conn->stats = alloc_percpu(struct kdp_conn_stats);
	if (!conn->stats)
		return -ENOMEM;

	id = rdma_create_id(params->net, kdp_cm_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->cm_id = id;

	if (params->src.ss_family)
		src = (struct sockaddr *)&conn->params.src;
	err = rdma_resolve_addr(id, src, (struct sockaddr *)&conn->params.dst, KDP_CM_ADDR_MS);
	if (err) {
		conn->step_text = src && err == -EADDRNOTAVAIL ?
				  "the local address is not this host's" :
				  "the address cannot be used";
		return err;
	}
	err = kdp_cm_wait(conn, KDP_CM_ADDR_MS, "the address does not answer");
	if (err)
		return err;

	reinit_completion(&conn->step);
	err = rdma_resolve_route(id, KDP_CM_ROUTE_MS);
	if (err) {
		conn->step_text = "there is no RDMA route to the address";
		return err;
	}
	err = kdp_cm_wait(conn, KDP_CM_ROUTE_MS, "the route lookup does not end");
	if (err)
		return err;

	dev = kdp_device_get(id->device, conn->params.owner);
	if (IS_ERR(dev)) {
		conn->step_text = PTR_ERR(dev) == -EOPNOTSUPP ?
				  "the RDMA device cannot register memory by work requests" :
				  "the RDMA device cannot be used";
		return PTR_ERR(dev);
	}
	conn->dev = dev;
	return 0;
}
EXPORT_SYMBOL_GPL(kdp_conn_resolve);

int kdp_conn_connect(struct kdp_conn *conn, const void *private, u8 len)
{
	struct rdma_conn_param param = {
		.private_data		= private,
		.private_data_len	= len,
		/* RDMA READs that the target may have outstanding against us */
		.responder_resources	= min_t(int, conn->dev->ib->attrs.max_qp_rd_atom, U8_MAX),
		.flow_control		= 1,
		.retry_count		= 7,
		.rnr_retry_count	= 7,	/* for ever: a slow peer is no error */
	};
	int err;

	reinit_completion(&conn->step);
	err = rdma_connect(conn->cm_id, &param);
	if (err) {
		conn->step_text = "the connection request could not be sent";
		return err;
	}
	return kdp_cm_wait(conn, KDP_CM_CONNECT_MS,
			   "the target does not answer the connection request");
}
EXPORT_SYMBOL_GPL(kdp_conn_connect);

/*
 * Returns when every posted work request has completed. One caller at a time;
 * nobody posts meanwhile. Does nothing, and returns false, unless the connection is
 * established.
 */
bool kdp_conn_disconnect(struct kdp_conn *conn)
{
	if (!test_and_clear_bit(KDP_CONN_ESTABLISHED, &conn->flags))
		return false;
	rdma_disconnect(conn->cm_id);
	/* draining waits for completions, which then nobody else may be waiting for */
	kdp_conn_stop_polling(conn);
	ib_drain_qp(conn->qp);
	return true;
}
EXPORT_SYMBOL_GPL(kdp_conn_disconnect);

void kdp_conn_close(struct kdp_conn *conn)
{
	if (conn->cm_id) {
		rdma_destroy_id(conn->cm_id);	/* waits for its callback */
		conn->cm_id = NULL;
	}
	kdp_cq_detach(&conn->cq);
	kdp_qp_destroy(conn);
	kdp_cq_destroy(&conn->cq);
}
EXPORT_SYMBOL_GPL(kdp_conn_close);

void kdp_conn_release(struct kdp_conn *conn)
{
	if (conn->dev)
		kdp_device_put(conn->dev);
	conn->dev = NULL;
	free_percpu(conn->stats);
	conn->stats = NULL;
}
EXPORT_SYMBOL_GPL(kdp_conn_release);
