/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * kdp_host: control of the host driver by generic netlink.
 *
 * Family "kdp_host", version 1. Every command needs CAP_NET_ADMIN in the initial
 * user namespace and CAP_SYS_ADMIN, except KDP_CMD_GET, which anyone may send.
 * A controller belongs to the network namespace of the process that connected
 * it; other namespaces, except the initial one, neither see nor disconnect it.
 *
 * Unknown attributes and attributes of a wrong type are refused with EINVAL, those of
 * a wrong length or out of their range with EINVAL or ERANGE. An error comes as NLMSG_ERROR with a negative errno; its
 * extended ack (NLMSGERR_ATTR_MSG, switch NETLINK_EXT_ACK on) says in words what
 * happened.
 *
 * KDP_CMD_CONNECT: connect to a subsystem and bring its namespaces up. Answers
 * when the disks and char devices are there, with one KDP_CMD_CONNECT message that
 * carries KDP_A_INSTANCE and KDP_A_NAME, or with the error that prevented it. Each
 * step has its time limit: 4 s the address, 4 s the route, 11 s the CM's handshake,
 * 10 s a command, 20 s until the controller is ready.
 *
 *   KDP_A_TRADDR		struct sockaddr_in or sockaddr_in6 (binary): where
 *				the target listens; the port may not be 0.
 *				Required.
 *   KDP_A_HOST_TRADDR		sockaddr of the local address to use. Optional.
 *   KDP_A_SUBNQN		string, 1 to 223 bytes. Required.
 *   KDP_A_HOSTNQN		string, 1 to 223 bytes. Required.
 *   KDP_A_HOSTID		16 bytes. Required.
 *   KDP_A_INSTANCE		u32: ask for the name kdp<instance>, 0 to 1023.
 *				Optional: else the lowest free number.
 *   KDP_A_NR_IO_QUEUES		u32, 1 to 128, of which there come up one an online CPU at
 *				most. Optional: one an online CPU.
 *   KDP_A_NR_WRITE_QUEUES	u32, 0 to 128, likewise: queues for all but reads, which then
 *				have those of KDP_A_NR_IO_QUEUES for themselves. Optional: 0,
 *				both share them.
 *   KDP_A_NR_POLL_QUEUES	u32, 0 to 128, likewise: queues for I/O whose issuer polls
 *				(RWF_HIPRI by io_uring), beside the others; nobody else takes
 *				their completions. Optional: 0. When there are fewer queues than
 *				asked for, those for writing (or for all) come first, those for
 *				polling last.
 *   KDP_A_QUEUE_SIZE		u32, entries of an I/O queue, 16 to 1024.
 *				Optional: 128. The controller may allow less.
 *   KDP_A_KATO_MS		u32, keep-alive timeout in ms, 1000 to 3600000.
 *				Optional: 15000.
 *   KDP_A_CQ_MODE		u32, enum kdp_cq_mode_attr: who takes completions, but for the
 *				poll queues. Optional: KDP_MODE_THREAD.
 *   KDP_A_SPIN_US		s32: how long a poller thread spins after the last
 *				completion (KDP_MODE_THREAD), or a caller since it sent its
 *				command (KDP_MODE_CALLER), before the CQ is armed and it sleeps,
 *				in us; 0: it sleeps at once; -1: it never sleeps. When
 *				something else wants its CPU it gives way: it sleeps
 *				before its time, or yields. Optional: 50.
 *   KDP_A_CTRL_LOSS_TMO	s32, s: how long a lost connection is tried to be made anew,
 *				before the controller is given up (KDP_STATE_FAILED) and its
 *				I/O fails; 0: not at all; -1: for ever. Up to 86400.
 *				Optional: 600.
 *   KDP_A_FAST_IO_FAIL_TMO	s32, s: how long block I/O waits for the new connection before
 *				it fails, while trying goes on; -1: as long as that.
 *				Up to 86400. Optional: -1.
 *   KDP_A_RECONNECT_DELAY	u32, s: the longest wait between two attempts, 1 to 3600.
 *				Waits begin at a fraction of a second, and double.
 *				Optional: 10.
 *   KDP_A_DUPLICATE		flag: connect although this host already has a
 *				connection to that subsystem at that address.
 *
 *   Errors: EALREADY		such a connection exists (see KDP_A_DUPLICATE)
 *	     EEXIST		KDP_A_INSTANCE is taken
 *	     EADDRNOTAVAIL	KDP_A_HOST_TRADDR is not an address of this host
 *	     ENODEV		no RDMA device has a route to the address
 *	     EHOSTUNREACH, ENETUNREACH, ETIMEDOUT  the address does not answer
 *	     ECONNREFUSED	nobody listens there for NVMe over RDMA
 *	     ECONNRESET		the target hung up during the connect
 *	     ENOENT		the target knows no such subsystem
 *	     EACCES		the subsystem does not admit this host
 *	     EBUSY		the target or its controller has no room
 *	     EPROTO		the target answers against the specification
 *	     EOPNOTSUPP		the target cannot be used over RDMA
 *	     EIO		the target refused with another NVMe status
 *
 * KDP_CMD_DISCONNECT: shut one controller down in order; I/O in flight finishes
 * first, I/O that comes later fails. Answers when everything is gone.
 *
 *   KDP_A_INSTANCE		u32. Required.
 *   Errors: ENODEV		no such controller in this network namespace
 *
 * KDP_CMD_RESET: hang up and make the connection anew, also where that was given up; between
 * two attempts: try now. Block I/O waits meanwhile. Answers at once: the state tells how it
 * went.
 *
 *   KDP_A_INSTANCE		u32. Required.
 *   Errors: ENODEV		no such controller in this network namespace, or it goes
 *
 * KDP_CMD_EVENT: sent to the multicast group KDP_GENL_GROUP when a controller's state has
 * changed, in its network namespace and in the initial one:
 *
 *   KDP_A_INSTANCE		u32
 *   KDP_A_NAME			string, "kdp0"
 *   KDP_A_STATE		u32, enum kdp_ctrl_state
 *   KDP_A_SUBNQN		string
 *   KDP_A_RECONNECTS		u32
 *   KDP_A_REASON		string: why the connection broke last; absent if it never did
 *
 * KDP_CMD_SET: change a controller while it works; also after later reconnects it is as set.
 * Answers when it is done: the admin queue and the I/O queues, but for the poll queues, are
 * served in the new way. No I/O is held up but for a moment, none fails. A
 * reconnect in progress is waited for.
 *
 *   KDP_A_INSTANCE		u32. Required.
 *   KDP_A_CQ_MODE		u32, enum kdp_cq_mode_attr. Optional: as it is.
 *   KDP_A_SPIN_US		s32, as above. Optional: as it is.
 *   Errors: EINVAL		neither of the two is given
 *	     ENODEV		no such controller in this network namespace
 *	     ENOMEM, EINTR	there is no poller thread to be had; all is as it was
 *
 * KDP_CMD_RESCAN: make the disks of one controller what it lists now: add, remove, resize.
 * A namespace that is another one than before under its number gets a new disk. Answers
 * when done. Where the controller tells of changes by itself, nobody needs this.
 *
 *   KDP_A_INSTANCE		u32. Required.
 *   Errors: ENODEV		no such controller in this network namespace, or it has no
 *				connection, and none is coming
 *	     EAGAIN		the connection is just being made anew: that looks, too
 *	     ECONNRESET		the connection broke meanwhile
 *	     EIO		the controller does not list its namespaces
 *
 * KDP_CMD_GET: describe controllers. With NLM_F_DUMP all of this network
 * namespace, else the one of KDP_A_INSTANCE. One message a controller, with the
 * attributes below; while a connection is just being made or taken down, those from
 * KDP_A_CNTLID to KDP_A_STATS are missing.
 *
 *   Errors: ENODEV		no such controller in this network namespace
 *	     EMSGSIZE		more namespaces than a message has room for (some 240)
 *
 *   KDP_A_INSTANCE		u32
 *   KDP_A_NAME			string, "kdp0"
 *   KDP_A_STATE		u32, enum kdp_ctrl_state
 *   KDP_A_TRADDR		sockaddr, as connected
 *   KDP_A_SUBNQN, KDP_A_HOSTNQN  string
 *   KDP_A_KATO_MS		u32
 *   KDP_A_CQ_MODE		u32, enum kdp_cq_mode_attr
 *   KDP_A_SPIN_US		s32
 *   KDP_A_CTRL_LOSS_TMO, KDP_A_FAST_IO_FAIL_TMO  s32, s
 *   KDP_A_RECONNECT_DELAY	u32, s
 *   KDP_A_RECONNECTS		u32: how often the connection was made anew
 *   KDP_A_REASON		string: why it broke last; absent if it never did
 *   KDP_A_CNTLID		u32
 *   KDP_A_SERIAL, KDP_A_MODEL, KDP_A_FIRMWARE  string
 *   KDP_A_RDMA_DEVICE		string, "rxe0"; only while there is a connection
 *   KDP_A_NR_IO_QUEUES		u32, as came up, of all sets together
 *   KDP_A_NR_WRITE_QUEUES	u32, those of them that reads do not use; 0 when reads have
 *				none of their own
 *   KDP_A_NR_POLL_QUEUES	u32, those of them that are polled
 *   KDP_A_QUEUE_SIZE		u32, commands in flight an I/O queue at most
 *   KDP_A_MAX_TRANSFER		u32, bytes in one command at most
 *   KDP_A_INLINE_SIZE		u32, bytes of a write that travel in the capsule
 *   KDP_A_STATS		nest of KDP_S_*, sums over the I/O queues since
 *				the connect, over all reconnects
 *   KDP_A_NAMESPACES		nest of KDP_A_NAMESPACE nests, each:
 *     KDP_A_NSID		u32
 *     KDP_A_NAME		string, the disk's name: "kdp0n1"
 *     KDP_A_NS_CHAR_NAME	string, the char device's name: "kdpg0n1"
 *     KDP_A_NS_BLOCKS		u64, logical blocks
 *     KDP_A_NS_BLOCK_SIZE	u32, bytes
 *     KDP_A_NS_UUID		16 bytes: who it is, in the order in which a UUID is written
 *     KDP_A_NS_NGUID		16 bytes, and
 *     KDP_A_NS_EUI64		8 bytes: the same, big endian. Each only where the
 *				controller tells it.
 *
 * KDP_CMD_GET_QUEUES: with NLM_F_DUMP, one message a queue of each controller of this network
 * namespace that is connected, by controller and queue:
 *
 *   KDP_A_INSTANCE		u32
 *   KDP_A_NAME			string, "kdp0"
 *   KDP_A_QID			u32: 0 is the admin queue
 *   KDP_A_CPU			u32, where completions are wanted
 *   KDP_A_CQ_MODE		u32, enum kdp_cq_mode_attr
 *   KDP_A_QUEUE_SET		u32, enum kdp_queue_set
 *   KDP_A_QUEUE_SIZE		u32, commands in flight at most
 *   KDP_A_STATS		nest of KDP_S_*, since the connect, over all reconnects
 */
#ifndef _UAPI_KDP_NETLINK_H
#define _UAPI_KDP_NETLINK_H

#define KDP_GENL_NAME		"kdp_host"
#define KDP_GENL_VERSION	1
#define KDP_GENL_GROUP		"state"	/* multicast: KDP_CMD_EVENT */

enum kdp_cmd {
	KDP_CMD_UNSPEC,
	KDP_CMD_CONNECT,
	KDP_CMD_DISCONNECT,
	KDP_CMD_GET,
	KDP_CMD_GET_QUEUES,
	KDP_CMD_SET,
	KDP_CMD_RESET,
	KDP_CMD_RESCAN,
	KDP_CMD_EVENT,

	__KDP_CMD_MAX,
	KDP_CMD_MAX = __KDP_CMD_MAX - 1
};

enum kdp_attr {
	KDP_A_UNSPEC,
	KDP_A_PAD,
	KDP_A_TRADDR,
	KDP_A_HOST_TRADDR,
	KDP_A_SUBNQN,
	KDP_A_HOSTNQN,
	KDP_A_HOSTID,
	KDP_A_INSTANCE,
	KDP_A_NR_IO_QUEUES,
	KDP_A_QUEUE_SIZE,
	KDP_A_KATO_MS,
	KDP_A_SPIN_US,
	KDP_A_DUPLICATE,
	KDP_A_NAME,
	KDP_A_STATE,
	KDP_A_CNTLID,
	KDP_A_SERIAL,
	KDP_A_MODEL,
	KDP_A_FIRMWARE,
	KDP_A_RDMA_DEVICE,
	KDP_A_MAX_TRANSFER,
	KDP_A_INLINE_SIZE,
	KDP_A_STATS,
	KDP_A_NAMESPACES,
	KDP_A_NAMESPACE,
	KDP_A_NSID,
	KDP_A_NS_CHAR_NAME,
	KDP_A_NS_BLOCKS,
	KDP_A_NS_BLOCK_SIZE,
	KDP_A_CQ_MODE,
	KDP_A_QID,
	KDP_A_CPU,
	KDP_A_NR_WRITE_QUEUES,
	KDP_A_NR_POLL_QUEUES,
	KDP_A_QUEUE_SET,
	KDP_A_CTRL_LOSS_TMO,
	KDP_A_FAST_IO_FAIL_TMO,
	KDP_A_RECONNECT_DELAY,
	KDP_A_RECONNECTS,
	KDP_A_REASON,
	KDP_A_NS_UUID,
	KDP_A_NS_NGUID,
	KDP_A_NS_EUI64,

	__KDP_A_MAX,
	KDP_A_MAX = __KDP_A_MAX - 1
};

/* Counters, each a u64. */
enum kdp_stat {
	KDP_S_UNSPEC,
	KDP_S_PAD,
	KDP_S_COMMANDS,		/* commands posted */
	KDP_S_BYTES_READ,	/* data bytes of completed commands, controller to host */
	KDP_S_BYTES_WRITTEN,	/* data bytes of completed commands, host to controller */
	KDP_S_SEND_DOORBELLS,	/* calls of ib_post_send */
	KDP_S_RECV_DOORBELLS,	/* calls of ib_post_recv */
	KDP_S_WR_SEND,		/* SEND work requests */
	KDP_S_WR_RECV,		/* receive work requests */
	KDP_S_WR_REG,		/* memory registrations (REG_MR) */
	KDP_S_WR_LOCAL_INV,	/* invalidations that the host had to do itself */
	KDP_S_REMOTE_INV,	/* invalidations that came with the response */
	KDP_S_INLINE,		/* commands whose data travelled in the capsule */
	KDP_S_CQES,		/* completions taken from the CQs */
	KDP_S_POLLS_FULL,	/* polls that found completions */
	KDP_S_POLLS_EMPTY,	/* polls that found none */
	KDP_S_SLEEPS,		/* times that pollers, or callers who spun, armed the CQs and slept */
	KDP_S_BYTES_COPIED,	/* data bytes that the module copied by CPU */
	KDP_S_EVENTS,		/* events that the device raised: wake-ups */
	KDP_S_PROVIDER_NS,	/* ns inside the RDMA provider's calls; kdp_core's parameter time_provider */
	KDP_S_RETRIES,		/* requests taken back, to be sent again */
	KDP_S_REGION_COMMANDS,	/* commands whose data lay in a registered region */

	__KDP_S_MAX,
	KDP_S_MAX = __KDP_S_MAX - 1
};

/* Values of KDP_A_CQ_MODE. */
enum kdp_cq_mode_attr {
	KDP_MODE_THREAD,	/* a poller thread, which spins (KDP_A_SPIN_US), then sleeps */
	KDP_MODE_EVENT,		/* a soft interrupt, when the device says that there is something */
	/*
	 * Who waits for a command: a synchronous ioctl spins (KDP_A_SPIN_US), then sleeps; for
	 * the rest as KDP_MODE_EVENT. A poll queue: whoever polls.
	 */
	KDP_MODE_CALLER,
};

/* Values of KDP_A_QUEUE_SET: what a queue is for. */
enum kdp_queue_set {
	KDP_SET_ADMIN,		/* admin commands */
	KDP_SET_DEFAULT,	/* I/O that none of the others takes */
	KDP_SET_READ,		/* reads, where writes have queues of their own: the default ones */
	KDP_SET_POLL,		/* I/O whose issuer polls */
};

enum kdp_ctrl_state {
	KDP_STATE_NEW,
	KDP_STATE_CONNECTING,
	KDP_STATE_LIVE,
	KDP_STATE_FAILED,	/* given up: I/O fails until it is reset or disconnected */
	KDP_STATE_DELETING,
	KDP_STATE_RESETTING,	/* the connection broke, or is to be made anew; then CONNECTING */
	KDP_STATE_GONE,		/* disconnected; in KDP_CMD_EVENT alone */
};

#endif /* _UAPI_KDP_NETLINK_H */
