/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink by hand, to the family kdp_host: what the helper programs need to
 * send any message, decent or not, with no library in between.
 */
#ifndef KDP_GENL_H
#define KDP_GENL_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <kdp/kdp_netlink.h>

#include "points.h"

#define PATIENCE_MS	60000

static int sock = -1;
static uint16_t family;
static uint32_t seq;

struct message {
	struct nlmsghdr		nl;
	struct genlmsghdr	genl;
	unsigned char		body[4096];
};

static inline struct message new_message(uint16_t type, uint8_t cmd)
{
	struct message m = {
		.nl = { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN), .nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK, .nlmsg_seq = ++seq },
		.genl = { .cmd = cmd, .version = KDP_GENL_VERSION },
	};

	return m;
}

static inline void *tail(struct message *m)
{
	return (unsigned char *)m + NLMSG_ALIGN(m->nl.nlmsg_len);
}

/* An attribute of @len bytes that claims to have @claim. */
static inline void put_claiming(struct message *m, uint16_t type, const void *data, size_t len,
			 size_t claim)
{
	struct nlattr *a = tail(m);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + claim;
	memcpy((unsigned char *)a + NLA_HDRLEN, data, len);
	m->nl.nlmsg_len = NLMSG_ALIGN(m->nl.nlmsg_len) + NLA_ALIGN(NLA_HDRLEN + len);
}

static inline void put(struct message *m, uint16_t type, const void *data, size_t len)
{
	put_claiming(m, type, data, len, len);
}

static inline void put_u32(struct message *m, uint16_t type, uint32_t v)
{
	put(m, type, &v, sizeof(v));
}

static inline void put_string(struct message *m, uint16_t type, const char *s)
{
	put(m, type, s, strlen(s) + 1);
}

static inline void open_socket(void)
{
	if (sock >= 0)
		close(sock);
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0)
		die("netlink socket");
}

/*
 * Send @m. Returns 0 or the negative errno of the answer. @replies counts the messages
 * that came before it.
 */
static inline int talk(struct message *m, unsigned int *replies)
{
	static unsigned char buf[1 << 16] __attribute__((aligned(8)));

	if (replies)
		*replies = 0;
	if (send(sock, m, m->nl.nlmsg_len, 0) != (ssize_t)m->nl.nlmsg_len)
		return -errno;
	for (;;) {
		struct pollfd p = { .fd = sock, .events = POLLIN };
		struct nlmsghdr *h = (void *)buf;
		ssize_t got;
		size_t left;

		if (poll(&p, 1, PATIENCE_MS) != 1)
			return -ETIME;
		got = recv(sock, buf, sizeof(buf), 0);
		if (got < 0)
			return -errno;
		for (left = got; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_seq != m->nl.nlmsg_seq)
				continue;
			/* DONE and ERROR both begin with the error */
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(h);
			if (replies)
				++*replies;
			if (h->nlmsg_type == GENL_ID_CTRL && !family) {
				struct nlattr *a = (void *)((char *)NLMSG_DATA(h) + GENL_HDRLEN);
				int rest = NLMSG_PAYLOAD(h, GENL_HDRLEN);

				while (rest >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN) {
					if (a->nla_type == CTRL_ATTR_FAMILY_ID)
						family = *(uint16_t *)(a + 1);
					rest -= NLA_ALIGN(a->nla_len);
					a = (void *)((char *)a + NLA_ALIGN(a->nla_len));
				}
			}
		}
	}
}

static inline int find_family(void)
{
	struct message m = new_message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

	m.genl.version = 1;
	put_string(&m, CTRL_ATTR_FAMILY_NAME, KDP_GENL_NAME);
	return talk(&m, NULL);
}

#endif /* KDP_GENL_H */
