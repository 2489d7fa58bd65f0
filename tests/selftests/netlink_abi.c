// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family kdp_host (uapi/kdp/kdp_netlink.h), with messages that no
 * decent program sends: raw bytes, no library in between.
 *
 *   netlink_abi [INSTANCE]
 *
 * INSTANCE is a connected controller; its number for those points that need one.
 * Needs root. Connects to nothing.
 */
#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kdp/kdp_netlink.h>

#include "genl.h"
#include "points.h"

#define NOBODY		65534

/* --- points --------------------------------------------------------------------------- */

static bool comes_back(const char *name, int rc, int want)
{
	if (rc != want) {
		say("%s: %s", name, rc ? strerror(-rc) : "success");
		say("expected: %s", want ? strerror(-want) : "success");
	}
	return point(rc == want, name);
}

/* A length or a number out of bounds: netlink's own checks say ERANGE for some of them. */
static void out_of_bounds(const char *name, struct message *m)
{
	int rc = talk(m, NULL);

	if (rc != -EINVAL && rc != -ERANGE)
		say("%s: %s; expected EINVAL or ERANGE", name, rc ? strerror(-rc) : "success");
	point(rc == -EINVAL || rc == -ERANGE, name);
}

#define WITHOUT_TRADDR	1
#define WITHOUT_SUBNQN	2
#define WITHOUT_HOSTNQN	4
#define WITHOUT_HOSTID	8

/* A connect to where nothing can be reached (TEST-NET-1), complete but for @without. */
static struct message connect_message(unsigned int without)
{
	struct message m = new_message(family, KDP_CMD_CONNECT);
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(4420),
				   .sin_addr.s_addr = htonl(0xc0000201) };

	if (!(without & WITHOUT_TRADDR))
		put(&m, KDP_A_TRADDR, &sin, sizeof(sin));
	if (!(without & WITHOUT_SUBNQN))
		put_string(&m, KDP_A_SUBNQN, "nqn.2024-01.io.kdp:none");
	if (!(without & WITHOUT_HOSTNQN))
		put_string(&m, KDP_A_HOSTNQN, "nqn.2024-01.io.kdp:host");
	if (!(without & WITHOUT_HOSTID))
		put(&m, KDP_A_HOSTID, "0123456789abcdef", 16);
	return m;
}

static void test_required(void)
{
	static const char *const names[] = { "TRADDR", "SUBNQN", "HOSTNQN", "HOSTID" };
	struct message m = new_message(family, KDP_CMD_CONNECT);
	char text[64];

	comes_back("connect with no attribute", talk(&m, NULL), -EINVAL);
	for (unsigned int i = 0; i < 4; i++) {
		m = connect_message(1U << i);
		snprintf(text, sizeof(text), "connect without %s", names[i]);
		comes_back(text, talk(&m, NULL), -EINVAL);
	}
	m = new_message(family, KDP_CMD_DISCONNECT);
	comes_back("disconnect with no attribute", talk(&m, NULL), -EINVAL);
	m = new_message(family, KDP_CMD_RESCAN);
	comes_back("rescan with no attribute", talk(&m, NULL), -EINVAL);
	m = new_message(family, KDP_CMD_GET);
	comes_back("get with no attribute", talk(&m, NULL), -EINVAL);
	m = new_message(family, KDP_CMD_SET);
	comes_back("set with no attribute", talk(&m, NULL), -EINVAL);
	m = new_message(family, KDP_CMD_SET);
	put_u32(&m, KDP_A_CQ_MODE, KDP_MODE_EVENT);
	comes_back("set without INSTANCE", talk(&m, NULL), -EINVAL);
}

static void test_unknown(void)
{
	struct message m = new_message(family, 99);

	comes_back("unknown command", talk(&m, NULL), -EOPNOTSUPP);
	m = new_message(family, KDP_CMD_UNSPEC);
	comes_back("command 0", talk(&m, NULL), -EOPNOTSUPP);

	m = connect_message(0);
	put_u32(&m, KDP_A_MAX + 1, 1);
	comes_back("attribute behind the last", talk(&m, NULL), -EINVAL);
	m = connect_message(0);
	put_u32(&m, 4000, 1);
	comes_back("attribute 4000", talk(&m, NULL), -EINVAL);
	m = connect_message(0);
	put_u32(&m, 0, 1);
	comes_back("attribute 0", talk(&m, NULL), -EINVAL);
	m = connect_message(0);
	put_u32(&m, KDP_A_STATE, 1);
	comes_back("attribute that only answers have", talk(&m, NULL), -EINVAL);
	m = new_message(family, KDP_CMD_DISCONNECT);
	put_u32(&m, KDP_A_INSTANCE, 1000);
	put_u32(&m, KDP_A_MAX + 1, 1);
	comes_back("disconnect: attribute behind the last", talk(&m, NULL), -EINVAL);

	m = connect_message(0);
	put_u32(&m, KDP_A_QUEUE_SIZE | NLA_F_NESTED, 128);
	comes_back("flag NLA_F_NESTED on a number", talk(&m, NULL), -EINVAL);
	m = connect_message(0);
	memcpy(tail(&m), "\xff\xff", 2);
	m.nl.nlmsg_len += 2;
	comes_back("garbage behind the last attribute", talk(&m, NULL), -EINVAL);
	m = connect_message(0);
	put_claiming(&m, KDP_A_QUEUE_SIZE, "\x80\0\0", 4, 400);
	comes_back("attribute longer than the message", talk(&m, NULL), -EINVAL);
	m = connect_message(0);
	put_claiming(&m, KDP_A_QUEUE_SIZE, "\x80\0\0", 4, -4);
	comes_back("attribute of length 0, header included", talk(&m, NULL), -EINVAL);
}

static void test_lengths(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(4420),
				   .sin_addr.s_addr = htonl(0xc0000201) };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(4420) };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char name[300];
	struct message m;

	m = connect_message(WITHOUT_TRADDR);
	put(&m, KDP_A_TRADDR, &sin, 8);
	out_of_bounds("TRADDR of 8 bytes", &m);
	m = connect_message(WITHOUT_TRADDR);
	put(&m, KDP_A_TRADDR, &sin, 0);
	out_of_bounds("TRADDR of 0 bytes", &m);
	m = connect_message(WITHOUT_TRADDR);
	put(&m, KDP_A_TRADDR, &sin, 1);
	out_of_bounds("TRADDR of 1 byte", &m);
	m = connect_message(WITHOUT_TRADDR);
	put(&m, KDP_A_TRADDR, &sin6, sizeof(sin));
	out_of_bounds("TRADDR IPv6 in the length of IPv4", &m);
	m = connect_message(WITHOUT_TRADDR);
	sin6.sin6_family = AF_INET;
	put(&m, KDP_A_TRADDR, &sin6, sizeof(sin6));
	out_of_bounds("TRADDR IPv4 in the length of IPv6", &m);
	m = connect_message(WITHOUT_TRADDR);
	put(&m, KDP_A_TRADDR, &sun, sizeof(sun));
	out_of_bounds("TRADDR of another family, too long", &m);
	m = connect_message(WITHOUT_TRADDR);
	sin.sin_family = AF_UNIX;
	put(&m, KDP_A_TRADDR, &sin, sizeof(sin));
	out_of_bounds("TRADDR of another family", &m);
	m = connect_message(WITHOUT_TRADDR);
	sin.sin_family = AF_INET;
	sin.sin_port = 0;
	put(&m, KDP_A_TRADDR, &sin, sizeof(sin));
	out_of_bounds("TRADDR with port 0", &m);
	m = connect_message(0);
	put(&m, KDP_A_HOST_TRADDR, &sin, 3);
	out_of_bounds("HOST_TRADDR of 3 bytes", &m);

	m = connect_message(WITHOUT_HOSTID);
	put(&m, KDP_A_HOSTID, "0123456789abcdefg", 15);
	out_of_bounds("HOSTID of 15 bytes", &m);
	m = connect_message(WITHOUT_HOSTID);
	put(&m, KDP_A_HOSTID, "0123456789abcdefg", 17);
	out_of_bounds("HOSTID of 17 bytes", &m);

	memset(name, 'x', sizeof(name));
	m = connect_message(WITHOUT_SUBNQN);
	put(&m, KDP_A_SUBNQN, "", 1);
	out_of_bounds("SUBNQN empty", &m);
	m = connect_message(WITHOUT_SUBNQN);
	put(&m, KDP_A_SUBNQN, "", 0);
	out_of_bounds("SUBNQN without even a NUL", &m);
	m = connect_message(WITHOUT_SUBNQN);
	put(&m, KDP_A_SUBNQN, name, sizeof(name));
	out_of_bounds("SUBNQN of 300 bytes without NUL", &m);
	name[224] = '\0';
	m = connect_message(WITHOUT_SUBNQN);
	put_string(&m, KDP_A_SUBNQN, name);
	out_of_bounds("SUBNQN of 224 bytes", &m);
	m = connect_message(WITHOUT_HOSTNQN);
	put_string(&m, KDP_A_HOSTNQN, name);
	out_of_bounds("HOSTNQN of 224 bytes", &m);
	m = connect_message(WITHOUT_HOSTNQN);
	put(&m, KDP_A_HOSTNQN, "", 1);
	out_of_bounds("HOSTNQN empty", &m);

	m = connect_message(0);
	put(&m, KDP_A_QUEUE_SIZE, "\x80\0\0", 2);
	out_of_bounds("QUEUE_SIZE of 2 bytes", &m);
	m = connect_message(0);
	put(&m, KDP_A_QUEUE_SIZE, "\x80\0\0\0\0\0\0", 8);
	out_of_bounds("QUEUE_SIZE of 8 bytes", &m);
	m = connect_message(0);
	put_u32(&m, KDP_A_DUPLICATE, 1);
	out_of_bounds("DUPLICATE with a value", &m);
	m = new_message(family, KDP_CMD_DISCONNECT);
	put(&m, KDP_A_INSTANCE, "\0", 1);
	out_of_bounds("disconnect: INSTANCE of 1 byte", &m);
}

static void test_numbers(void)
{
	static const struct {
		const char *name;
		uint16_t attr;
		uint32_t value;
	} cases[] = {
		{ "NR_IO_QUEUES 0", KDP_A_NR_IO_QUEUES, 0 },
		{ "NR_IO_QUEUES 129", KDP_A_NR_IO_QUEUES, 129 },
		{ "NR_IO_QUEUES 2^32 - 1", KDP_A_NR_IO_QUEUES, 0xffffffff },
		{ "QUEUE_SIZE 0", KDP_A_QUEUE_SIZE, 0 },
		{ "QUEUE_SIZE 15", KDP_A_QUEUE_SIZE, 15 },
		{ "QUEUE_SIZE 1025", KDP_A_QUEUE_SIZE, 1025 },
		{ "QUEUE_SIZE 65536", KDP_A_QUEUE_SIZE, 65536 },
		{ "QUEUE_SIZE 2^32 - 1", KDP_A_QUEUE_SIZE, 0xffffffff },
		{ "KATO_MS 0", KDP_A_KATO_MS, 0 },
		{ "KATO_MS 999", KDP_A_KATO_MS, 999 },
		{ "KATO_MS 3600001", KDP_A_KATO_MS, 3600001 },
		{ "INSTANCE 1024", KDP_A_INSTANCE, 1024 },
		{ "INSTANCE 2^32 - 1", KDP_A_INSTANCE, 0xffffffff },
		{ "SPIN_US -2", KDP_A_SPIN_US, (uint32_t)-2 },
		{ "SPIN_US -2^31", KDP_A_SPIN_US, 0x80000000 },
		{ "CQ_MODE behind the last", KDP_A_CQ_MODE, KDP_MODE_CALLER + 1 },
		{ "CQ_MODE 2^32 - 1", KDP_A_CQ_MODE, 0xffffffff },
		{ "NR_WRITE_QUEUES 129", KDP_A_NR_WRITE_QUEUES, 129 },
		{ "NR_POLL_QUEUES 129", KDP_A_NR_POLL_QUEUES, 129 },
		{ "NR_POLL_QUEUES 2^32 - 1", KDP_A_NR_POLL_QUEUES, 0xffffffff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct message m = connect_message(0);

		put_u32(&m, cases[i].attr, cases[i].value);
		out_of_bounds(cases[i].name, &m);
	}
}

/* What is refused of a message that is sent to a controller, there or not. */
static void test_set(uint32_t instance)
{
	static const struct {
		const char *name;
		uint16_t attr;
		uint32_t value;
	} cases[] = {
		{ "set: CQ_MODE behind the last", KDP_A_CQ_MODE, KDP_MODE_CALLER + 1 },
		{ "set: CQ_MODE 2^32 - 1", KDP_A_CQ_MODE, 0xffffffff },
		{ "set: SPIN_US -2", KDP_A_SPIN_US, (uint32_t)-2 },
		{ "set: SPIN_US -2^31", KDP_A_SPIN_US, 0x80000000 },
	};
	struct message m;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		m = new_message(family, KDP_CMD_SET);
		put_u32(&m, KDP_A_INSTANCE, instance);
		put_u32(&m, cases[i].attr, cases[i].value);
		out_of_bounds(cases[i].name, &m);
	}
	m = new_message(family, KDP_CMD_SET);
	put_u32(&m, KDP_A_INSTANCE, instance);
	put(&m, KDP_A_CQ_MODE, "\1", 1);
	out_of_bounds("set: CQ_MODE of 1 byte", &m);
	m = new_message(family, KDP_CMD_SET);
	put_u32(&m, KDP_A_INSTANCE, instance);
	put_u32(&m, KDP_A_QUEUE_SIZE, 64);
	comes_back("set: what cannot be changed", talk(&m, NULL), -EINVAL);
}

static struct message set_message(uint32_t instance)
{
	struct message m = new_message(family, KDP_CMD_SET);

	put_u32(&m, KDP_A_INSTANCE, instance);
	put_u32(&m, KDP_A_CQ_MODE, KDP_MODE_EVENT);
	return m;
}

static void test_absent(void)
{
	struct message m = new_message(family, KDP_CMD_DISCONNECT);

	put_u32(&m, KDP_A_INSTANCE, 1023);
	comes_back("disconnect of what is not there", talk(&m, NULL), -ENODEV);
	m = new_message(family, KDP_CMD_RESCAN);
	put_u32(&m, KDP_A_INSTANCE, 1023);
	comes_back("rescan of what is not there", talk(&m, NULL), -ENODEV);
	m = new_message(family, KDP_CMD_GET);
	put_u32(&m, KDP_A_INSTANCE, 1023);
	comes_back("get of what is not there", talk(&m, NULL), -ENODEV);
	m = set_message(1023);
	comes_back("set of what is not there", talk(&m, NULL), -ENODEV);
}

static void test_dump(bool connected)
{
	struct message m = new_message(family, KDP_CMD_GET);
	unsigned int replies;
	int rc;

	m.nl.nlmsg_flags |= NLM_F_DUMP;
	rc = talk(&m, &replies);
	comes_back("dump", rc, 0);
	point(connected ? replies >= 1 : replies == 0, "the dump has as many controllers as there are");
}

/* --- other people --------------------------------------------------------------- */

static void in_child(void (*body)(uint32_t), uint32_t argument)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		points_failed = 0;
		body(argument);
		exit(points_failed ? 1 : 0);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		points_failed++;
}

static void as_nobody(uint32_t instance)
{
	struct message m;

	if (setgid(NOBODY) || setuid(NOBODY))
		die("setuid nobody");
	open_socket();
	m = connect_message(0);
	comes_back("nobody: connect", talk(&m, NULL), -EPERM);
	m = new_message(family, KDP_CMD_DISCONNECT);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("nobody: disconnect", talk(&m, NULL), -EPERM);
	m = set_message(instance);
	comes_back("nobody: set", talk(&m, NULL), -EPERM);
	m = new_message(family, KDP_CMD_RESCAN);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("nobody: rescan", talk(&m, NULL), -EPERM);
	m = new_message(family, KDP_CMD_GET);
	m.nl.nlmsg_flags |= NLM_F_DUMP;
	comes_back("nobody: dump", talk(&m, NULL), 0);
}

/* Root of a user namespace of one's own is nobody here. */
static void as_false_root(uint32_t instance)
{
	struct message m;

	if (setgid(NOBODY) || setuid(NOBODY) || unshare(CLONE_NEWUSER)) {
		say("no user namespaces: %s", strerror(errno));
		return;
	}
	open_socket();
	m = connect_message(0);
	comes_back("root of a user namespace: connect", talk(&m, NULL), -EPERM);
	m = new_message(family, KDP_CMD_DISCONNECT);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("root of a user namespace: disconnect", talk(&m, NULL), -EPERM);
	m = set_message(instance);
	comes_back("root of a user namespace: set", talk(&m, NULL), -EPERM);
	m = new_message(family, KDP_CMD_RESCAN);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("root of a user namespace: rescan", talk(&m, NULL), -EPERM);
}

static void in_another_net(uint32_t instance)
{
	struct message m;
	unsigned int replies;

	if (unshare(CLONE_NEWNET))
		die("unshare");
	open_socket();
	m = new_message(family, KDP_CMD_GET);
	m.nl.nlmsg_flags |= NLM_F_DUMP;
	comes_back("another network namespace: dump", talk(&m, &replies), 0);
	point(replies == 0, "another network namespace sees no controller of ours");
	m = new_message(family, KDP_CMD_GET);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("another network namespace: get", talk(&m, NULL), -ENODEV);
	m = new_message(family, KDP_CMD_DISCONNECT);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("another network namespace: disconnect", talk(&m, NULL), -ENODEV);
	m = set_message(instance);
	comes_back("another network namespace: set", talk(&m, NULL), -ENODEV);
	m = new_message(family, KDP_CMD_RESCAN);
	put_u32(&m, KDP_A_INSTANCE, instance);
	comes_back("another network namespace: rescan", talk(&m, NULL), -ENODEV);
}

int main(int argc, char **argv)
{
	bool connected = argc > 1;
	uint32_t instance = connected ? strtoul(argv[1], NULL, 0) : 1023;

	open_socket();
	if (!comes_back("the family kdp_host is there", find_family(), 0) || !family)
		return 1;
	if (connected) {
		struct message m = new_message(family, KDP_CMD_GET);
		unsigned int replies;

		put_u32(&m, KDP_A_INSTANCE, instance);
		comes_back("get of one", talk(&m, &replies), 0);
		point(replies == 1, "gives one message");
		m = new_message(family, KDP_CMD_SET);
		put_u32(&m, KDP_A_INSTANCE, instance);
		comes_back("set of one, nothing", talk(&m, NULL), -EINVAL);
		test_set(instance);
		m = new_message(family, KDP_CMD_RESCAN);
		put_u32(&m, KDP_A_INSTANCE, instance);
		comes_back("rescan", talk(&m, NULL), 0);
		test_dump(true);
		in_child(as_nobody, instance);
		in_child(as_false_root, instance);
		in_child(in_another_net, instance);
	} else {
		test_required();
		test_unknown();
		test_lengths();
		test_numbers();
		test_set(1023);
		test_absent();
		test_dump(false);
		in_child(as_nobody, instance);
		in_child(as_false_root, instance);
		in_child(in_another_net, instance);
	}
	return points_failed ? 1 : 0;
}
