// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer of the char devices: passthrough by ioctl and by io_uring, and the calls for
 * regions, with fields right, random and at their extremes.
 *
 *   FUZZ_SEED=N FUZZ_CALLS=N fuzz_ioctl [--stock] CONTROLLER NAMESPACE NSID
 *
 * As root without what would change the controller (of admin commands only those that tell
 * something, no vendor's, no short timeouts; resets are rare), as nobody with everything, and
 * as nobody with descriptors for reading. What must hold: what a command may not touch is
 * untouched; an errno is one that user space has; who may only read writes nothing; in
 * the end the controller works. The seed is printed; the same one does the same again, as
 * far as the kernel does. Needs root. Writes to all of the namespace: make it small.
 */
#include <sys/uio.h>
#include <time.h>

#include "chance.h"
#include "region.h"
#include "uring.h"

#define SLOTS		32
#define SLOT		16384
#define PIECES		8
#define MARGIN		(1 << 20)
#define MOST_ERRNO	133

enum who { ROOT, NOBODY_WRITES, NOBODY_READS };

static const char *const whos[] = { "root", "nobody", "nobody, read-only" };
static enum who who;
static uint64_t left;

/* --- memory that notices ------------------------------------------------------------- */

static unsigned char *arena;		/* SLOTS of SLOT bytes, between MARGINs that fault */

struct slot {
	struct iovec	pieces[PIECES];	/* what may change, by address */
	unsigned int	n;
	bool		foreign;	/* the address is not in the slot */
	char		text[160];	/* the command, for who asks */
};

static struct slot slots[SLOTS];
static unsigned long spoilt, odd_errnos;

static unsigned char *slot_begin(unsigned int i)
{
	return arena + i * SLOT;
}

/* An address that leads nowhere, or too far. */
static uint64_t bad_address(void)
{
	switch (below(6)) {
	case 0: return (uintptr_t)arena - 1 - below(8192);
	case 1: return (uintptr_t)arena + SLOTS * SLOT + below(8192);
	case 2: return 0xffff888000000000 + (any() & 0xffffffff);
	case 3: return 0xffffffff80000000 + below(1 << 24);
	case 4: return -1 - below(8192);
	default: return extreme();
	}
}

/* A bounced read that is not sent copies the bounce pages, which begin as zeroes. */
static bool nothing_came(const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != GUARD && p[i])
			return false;
	return true;
}

/* Does anything but its pieces have another value than before? */
static void look_at(unsigned int i, int rc)
{
	const unsigned char *at = slot_begin(i), *end = at + SLOT;
	struct slot *s = &slots[i];
	bool refusal = rc == -EINVAL || rc == -EACCES || rc == -EOPNOTSUPP || rc == -ENOTTY;
	bool good = true;

	for (unsigned int n = 0; n < s->n; n++) {
		const unsigned char *piece = s->pieces[n].iov_base;

		good &= all_bytes(at, piece - at, GUARD);
		good &= !refusal || nothing_came(piece, s->pieces[n].iov_len);
		at = piece + s->pieces[n].iov_len;
	}
	good &= all_bytes(at, end - at, GUARD);
	if (!good && !spoilt++) {
		say("%s: bytes changed that no command may change, after %d; calls left %llu", whos[who],
		    rc, (unsigned long long)left);
		say("%s", s->text);
		for (unsigned int n = 0; n < s->n; n++)
			say("piece at %zx, %zu bytes", (unsigned char *)s->pieces[n].iov_base - slot_begin(i),
			    s->pieces[n].iov_len);
		for (unsigned int n = 0; n < SLOT; n++)
			if (slot_begin(i)[n] != GUARD) {
				say("first other byte at %x: %02x", n, slot_begin(i)[n]);
				break;
			}
	}
	if (rc < -MOST_ERRNO && !odd_errnos++)
		say("%s: errno %d", whos[who], -rc);
}

/* --- commands -------------------------------------------------------------------------- */

static const uint8_t telling_admin[] = { 0x02, 0x06, 0x06, 0x0a, 0x18, 0x08, 0x03, 0x0b, 0x3f };
static const uint8_t driver_admin[] = { 0x0c, 0x7f };
static const uint8_t io_opcodes[] = { 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x01, 0x01, 0x01, 0x01,
				      0x05, 0x00, 0x08, 0x09, 0x0c, 0x04, 0x19, 0x54, 0x56, 0x70, 0x73, 0x0e };

static uint8_t some_opcode(bool admin)
{
	if (who != ROOT && once_in(3))
		return any();
	if (!admin)
		return !stock && once_in(50) ? OPC_FABRICS : io_opcodes[below(sizeof(io_opcodes))];
	if (!stock && once_in(8))
		return driver_admin[below(sizeof(driver_admin))];
	return telling_admin[below(sizeof(telling_admin))];
}

static uint32_t some_timeout(void)
{
	if (!once_in(16) || stock)	/* which lets everybody end the connection */
		return 0;
	return who == ROOT ? 60000 + (any() & 0xffffff) : extreme();
}

/* Where the data are: a piece of the slot, or somewhere else. */
static void some_data(struct nvme_passthru_cmd64 *c, unsigned int i, bool vec)
{
	struct slot *s = &slots[i];
	static struct iovec arrays[SLOTS][PIECES];
	uint32_t len = once_in(4) ? below(SLOT) + 1 : (1 + below(SLOT / 2 / 512)) * 512;
	uint32_t at = (SLOT - len) / 4 * 4;

	at = at ? below(at) : 0;
	if (!once_in(8))
		at &= ~3u;
	s->foreign = once_in(8);
	s->n = 1;
	s->pieces[0] = (struct iovec){ slot_begin(i) + at, len };
	c->addr = s->foreign ? bad_address() : (uintptr_t)s->pieces[0].iov_base;
	c->data_len = once_in(12) ? extreme() : len;
	c->cdw12 = len / block - 1;
	if (once_in(12) && s->foreign)
		s->n = 0;
	/* a length of its own choice may go over the slot's end: not there */
	if (!s->foreign && c->data_len > (uint32_t)(SLOT - at))
		c->addr = bad_address();
	else if (!s->foreign && c->data_len > len)
		s->pieces[0].iov_len = c->data_len;
	if (!vec)
		return;

	/* cut the piece into several, with gaps */
	s->n = 1 + below(PIECES);
	for (unsigned int n = 0, from = 0; n < s->n; n++) {
		uint32_t step = SLOT / s->n, length = below(step) / (once_in(2) ? 1 : 512) ?: 1;

		if (once_in(2))
			length = (length + 511) / 512 * 512;
		if (length > step)
			length = step;
		s->pieces[n] = (struct iovec){ slot_begin(i) + from, length };
		arrays[i][n] = s->pieces[n];
		if (once_in(30))
			arrays[i][n] = (struct iovec){ (void *)(uintptr_t)bad_address(), extreme() };
		from += step;
	}
	c->addr = once_in(20) ? bad_address() : (uintptr_t)arrays[i];
	c->data_len = once_in(20) ? extreme() : s->n;
	if (c->data_len > s->n && c->addr == (uintptr_t)arrays[i])
		c->data_len = s->n;
	if (once_in(2)) {
		uint32_t sum = 0;

		for (unsigned int n = 0; n < s->n; n++)
			sum += s->pieces[n].iov_len;
		c->cdw12 = sum / block - 1;
	}
}

/* A command for slot @i; mostly one that works. */
static struct nvme_passthru_cmd64 some_command(unsigned int i, bool admin, bool vec)
{
	struct nvme_passthru_cmd64 c = { .nsid = nsid, .opcode = some_opcode(admin) };

	memset(slot_begin(i), GUARD, SLOT);
	some_data(&c, i, vec);
	if (admin) {
		c.nsid = once_in(2) ? 0 : nsid;
		c.cdw10 = once_in(2) ? 1 : extreme();
		c.cdw12 = 0;
		if (c.opcode == ADM_GET_LOG)
			c.cdw10 = (c.data_len / 4 - 1) << 16 | (once_in(2) ? 2 : below(256));
		if (c.opcode == ADM_IDENTIFY && !vec && !slots[i].foreign && once_in(2)) {
			slots[i].pieces[0] = (struct iovec){ slot_begin(i), 4096 };
			c.addr = (uintptr_t)slot_begin(i);
			c.data_len = 4096;
		}
	} else {
		uint64_t slba = once_in(10) ? extreme() : below(blocks);

		c.cdw10 = slba;
		c.cdw11 = slba >> 32;
	}
	if (c.opcode == IO_FLUSH && !admin && !once_in(4))
		c.addr = c.data_len = 0;
	for (uint64_t changes = once_in(2) ? 0 : below(3); changes; changes--)
		switch (below(14)) {
		case 0: c.flags = extreme(); break;
		case 1: c.rsvd1 = extreme(); break;
		case 2: c.nsid = extreme(); break;
		case 3: c.cdw2 = extreme(); break;
		case 4: c.cdw3 = extreme(); break;
		case 5: c.metadata = once_in(2) ? (uintptr_t)slot_begin(i) : bad_address(); break;
		case 6: c.metadata_len = extreme(); break;
		case 7: c.cdw10 = extreme(); break;
		case 8: c.cdw11 = extreme(); break;
		case 9: c.cdw12 = extreme(); break;
		case 10: c.cdw13 = extreme(); break;
		case 11: c.cdw14 = extreme(); break;
		case 12: c.cdw15 = extreme(); break;
		case 13: c.rsvd2 = extreme(); break;
		}
	c.timeout_ms = some_timeout();
	snprintf(slots[i].text, sizeof(slots[i].text), "%s%s opcode %02x nsid %x addr %llx data_len %x cdw10 %x cdw12 %x",
		 admin ? "admin" : "I/O", vec ? " array" : "", c.opcode, c.nsid, (unsigned long long)c.addr,
		 c.data_len, c.cdw10, c.cdw12);
	memcpy(step, slots[i].text, sizeof(slots[i].text));
	return c;
}

/* --- ioctls ----------------------------------------------------------------------------- */

static int ctrl, ns;
static unsigned long worked, resets;

static void passthrough_ioctl(void)
{
	static const unsigned long requests[] = { NVME_IOCTL_IO_CMD, NVME_IOCTL_IO64_CMD, NVME_IOCTL_IO64_CMD,
						  NVME_IOCTL_IO64_CMD_VEC, NVME_IOCTL_ADMIN_CMD,
						  NVME_IOCTL_ADMIN64_CMD };
	unsigned long request = requests[below(ARRAY_SIZE(requests))];
	bool admin = request == NVME_IOCTL_ADMIN_CMD || request == NVME_IOCTL_ADMIN64_CMD;
	struct nvme_passthru_cmd64 c = some_command(0, admin, request == NVME_IOCTL_IO64_CMD_VEC);
	struct nvme_passthru_cmd c32;
	int fd = admin ? (once_in(2) ? ctrl : ns) : once_in(30) ? ctrl : ns, rc;
	void *arg = &c;

	if (request == NVME_IOCTL_IO_CMD || request == NVME_IOCTL_ADMIN_CMD) {
		memcpy(&c32, &c, sizeof(c32));	/* the same up to the result */
		c32.timeout_ms = c.timeout_ms;
		c32.result = 0;
		arg = &c32;
	}
	if (once_in(40))
		arg = (void *)(uintptr_t)bad_address();
	rc = by_ioctl(fd, request, arg);
	worked += !rc;
	look_at(0, rc);
}

static void other_ioctl(void)
{
	struct nvme_passthru_cmd64 c = { 0 };
	unsigned long request;
	int rc, fd = once_in(2) ? ctrl : ns;

	switch (below(6)) {
	case 0: request = NVME_IOCTL_ID; break;
	case 1: request = NVME_IOCTL_SUBSYS_RESET; fd = stock ? ns : fd; break;
	case 2: request = who != ROOT || once_in(200) ? NVME_IOCTL_RESCAN : NVME_IOCTL_ID; break;
	case 3:
		request = NVME_IOCTL_ID;
		if (who != ROOT || (fd == ctrl && resets < 3 && once_in(2000))) {
			request = NVME_IOCTL_RESET;
			resets += who == ROOT;
		}
		break;
	/* of other types and numbers; the block layer's are not for a char device */
	case 4: request = _IOC(below(4), 0xdb, 5 + below(250), below(1 << 14)); break;
	default: request = _IOC(below(4), "TVHf\0\xff"[below(6)], below(256), below(1 << 14)); break;
	}
	rc = by_ioctl(fd, request, &c);
	if (rc < -MOST_ERRNO && !odd_errnos++)
		say("ioctl 0x%lx: errno %d", request, -rc);
}

/* --- regions -------------------------------------------------------------------------------- */

#define BASES	8

static uint64_t bases[2][BASES];
static int some_file = -1, some_null = -1;

static void some_reserved(__u64 *fields, unsigned int n)
{
	if (once_in(12))
		fields[below(n)] = extreme();
}

static void region_calls(void)
{
	bool on_ctrl = once_in(4);
	int fd = on_ctrl ? ctrl : ns, rc = 0;
	uint64_t *base = &bases[on_ctrl][below(BASES)];
	static struct kdp_region_info infos[64];

	if (once_in(3)) {	/* ADD */
		struct kdp_region_add add = {
			.addr = once_in(5) ? bad_address() : (uintptr_t)arena + below(SLOTS * SLOT),
			.length = once_in(5) ? extreme() : 1 + below(4 * SLOT),
			.flags = once_in(12) ? extreme() : 1 + below(3),
		};

		if (once_in(4)) {
			add.flags |= KDP_REGION_FILE;
			add.addr = once_in(4) ? extreme() : below(65536);
			add.fd = once_in(6) ? (int)extreme() : once_in(8) ? some_null : some_file;
		} else if (once_in(20)) {
			add.fd = extreme();
		}
		if (once_in(30))
			add.base = extreme();
		some_reserved(add.reserved, 4);
		/* few, and none of the whole machine: one place, one region */
		if (*base && !region_del(fd, *base))
			*base = 0;
		rc = region_call(fd, KDP_IOC_REGION_ADD,
				 once_in(40) ? (void *)(uintptr_t)bad_address() : &add);
		if (!rc)
			*base = add.base;
		worked += !rc;
	} else if (once_in(2)) {
		struct kdp_region_del del = { .base = once_in(4) ? extreme() : *base };

		some_reserved(del.reserved, 3);
		rc = region_call(fd, KDP_IOC_REGION_DEL,
				 once_in(40) ? (void *)(uintptr_t)bad_address() : &del);
		if (!rc && del.base == *base)
			*base = 0;
	} else if (once_in(4)) {
		struct kdp_features features;

		rc = region_call(fd, KDP_IOC_FEATURES,
				 once_in(4) ? (void *)(uintptr_t)bad_address() : &features);
	} else {
		struct kdp_region_list list = { .infos = once_in(6) ? bad_address() : (uintptr_t)infos,
						.nr = once_in(6) ? extreme() : below(ARRAY_SIZE(infos)) };

		if (once_in(20))
			list.reserved0 = extreme();
		some_reserved(list.reserved, 2);
		rc = region_call(fd, KDP_IOC_REGION_LIST,
				 once_in(40) ? (void *)(uintptr_t)bad_address() : &list);
	}
	if (rc < -MOST_ERRNO && !odd_errnos++)
		say("a call for regions: errno %d", -rc);
}

/* --- io_uring ---------------------------------------------------------------------------------- */

static struct io_uring rings[ARRAY_SIZE(ring_kinds)];
static unsigned int nr_rings;
static long cpus;

static void uring_commands(void)
{
	static const unsigned int ops[] = { NVME_URING_CMD_IO, NVME_URING_CMD_IO, NVME_URING_CMD_IO,
					    NVME_URING_CMD_IO_VEC, NVME_URING_CMD_ADMIN,
					    NVME_URING_CMD_ADMIN_VEC };
	struct io_uring *ring = &rings[below(nr_rings)];
	unsigned int n = 1 + below(once_in(4) ? SLOTS : 4);

	/* a thread that spins for the next one, and one CPU for all */
	if (ring->flags & IORING_SETUP_SQPOLL && cpus == 1 && !once_in(16))
		ring = &rings[0];
	if (n > left)
		n = left;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int op = ops[below(ARRAY_SIZE(ops))];
		bool admin = op == NVME_URING_CMD_ADMIN || op == NVME_URING_CMD_ADMIN_VEC;
		bool vec = op == NVME_URING_CMD_IO_VEC || op == NVME_URING_CMD_ADMIN_VEC;
		struct nvme_passthru_cmd64 c = some_command(i, admin, vec);
		struct nvme_uring_cmd u = uring_cmd(&c);
		struct io_uring_sqe *sqe;

		if (once_in(30))
			u.rsvd2 = extreme();
		if (once_in(60))
			op = once_in(2) ? any() : _IOWR('N', 0x80 + below(8), struct nvme_uring_cmd);
		/* the opcodes of the one may do harm to the other: each to its own */
		sqe = ring_add(ring, admin ? ctrl : ns, op, &u, i);
		if (once_in(30))
			sqe->fd = once_in(2) ? -1 : some_null;
		if (once_in(20))
			sqe->flags = IOSQE_ASYNC;
		if (!vec && once_in(4)) {
			sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
			sqe->buf_index = once_in(8) ? extreme() : 0;
		}
		if (once_in(60))
			sqe->uring_cmd_flags |= extreme();
	}
	patience();
	ring_submit(ring);
	for (unsigned int i = 0; i < n; i++) {
		struct answer a = ring_wait(ring);

		worked += !a.res;
		if (a.data >= n) {
			spoilt++;
			continue;
		}
		look_at(a.data, a.res);
	}
	left -= n - 1;
}

/* --- all of it ------------------------------------------------------------------------------------ */

static void open_nodes(void)
{
	int flags = who == NOBODY_READS ? O_RDONLY : O_RDWR;

	ctrl = open(ctrl_path, flags);
	ns = open(ns_path, flags);
	if (ctrl < 0 || ns < 0)
		die("open the nodes as %s", whos[who]);
	memset(bases, 0, sizeof(bases));
}

static void fuzz(void)
{
	struct iovec all = { arena, SLOTS * SLOT };
	uint64_t calls = left;
	char text[120];

	some_file = memfd_create("fuzz", MFD_ALLOW_SEALING);
	some_null = open("/dev/null", O_RDWR);
	if (some_file < 0 || ftruncate(some_file, 65536 + 2 * SLOT))
		die("memfd");
	open_nodes();
	idle_ms = 1;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < ARRAY_SIZE(ring_kinds); i++) {
		if (stock && ring_kinds[i].flags & IORING_SETUP_IOPOLL)
			continue;
		/* a bad SQE does not keep the next ones from being taken */
		ring_make(&rings[nr_rings], SLOTS, ring_kinds[i].flags | BIG_RING | IORING_SETUP_SUBMIT_ALL);
		if (io_uring_register_buffers(&rings[nr_rings], &all, 1))
			die("io_uring_register_buffers");
		nr_rings++;
	}
	for (; left; left--) {
		uint64_t choice = below(100);

		if (choice < 45)
			passthrough_ioctl();
		else if (choice < 75)
			uring_commands();
		else if (choice < 90 && !stock)
			region_calls();
		else
			other_ioctl();
		if (once_in(5000)) {	/* with all that belongs to them */
			close(ctrl);
			close(ns);
			open_nodes();
		}
	}
	say("%s: %llu calls, %lu worked, %lu resets", whos[who], (unsigned long long)calls, worked, resets);
	snprintf(text, sizeof(text), "%s: some commands work", whos[who]);
	point(worked > (calls > 20000 ? 100 : 0), text);
	snprintf(text, sizeof(text), "%s: no byte changed that may not", whos[who]);
	point(!spoilt, text);
	snprintf(text, sizeof(text), "%s: each errno is one of user space", whos[who]);
	point(!odd_errnos, text);
	for (unsigned int i = 0; i < nr_rings; i++)
		io_uring_queue_exit(&rings[i]);
}

/* What all the blocks hold, in a number. */
static uint64_t digest(void)
{
	unsigned char *buf = guarded(65536);
	uint64_t hash = 0xcbf29ce484222325;

	for (uint64_t at = 0; at + 65536 / block <= blocks; at += 65536 / block) {
		int rc;

		while ((rc = io64(ns_fd, rw64(IO_READ, at, 65536 / block, buf, 65536))) == -EAGAIN)
			usleep(100000);
		if (rc)
			return 0;
		for (size_t i = 0; i < 65536; i += 8) {
			uint64_t word;

			memcpy(&word, buf + i, 8);
			hash = (hash ^ word) * 0x100000001b3;
		}
	}
	return hash;
}

static void phase(enum who as, uint64_t calls)
{
	char text[80];
	int status;
	pid_t pid;

	who = as;
	left = calls;
	if (as != ROOT) {
		as_nobody(fuzz);
		any();
		return;
	}
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		fuzz();
		exit(points_failed ? 1 : 0);
	}
	alarm(0);	/* it has its own */
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		snprintf(text, sizeof(text), "%s: the fuzzer lives to its end", whos[as]);
		point(false, text);
	} else if (status) {
		points_failed++;
	}
	any();
}

int main(int argc, char **argv)
{
	const char *wish = getenv("FUZZ_SEED"), *number = getenv("FUZZ_CALLS");
	uint64_t calls = number && *number ? strtoull(number, NULL, 0) : 1000000, before;
	unsigned char *buf;
	uint32_t nlb;

	if (argc > 1 && !strcmp(argv[1], "--stock")) {
		stock = true;
		argc--;
		argv++;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: fuzz_ioctl [--stock] CONTROLLER NAMESPACE NSID\n");
		return 2;
	}
	seed = wish && *wish ? strtoull(wish, NULL, 0) : (uint64_t)time(NULL) << 20 ^ getpid();
	say("FUZZ_SEED=%llu FUZZ_CALLS=%llu", (unsigned long long)seed, (unsigned long long)calls);
	seed |= 1ULL << 63;
	open_devices(argv + 1);
	learn_geometry();
	arena = mapped(SLOTS * SLOT + 2 * MARGIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	arena += MARGIN;
	if (mprotect(arena, SLOTS * SLOT, PROT_READ | PROT_WRITE))
		die("mprotect");
	buf = guarded(4096);
	nlb = 4096 / block;

	phase(ROOT, calls / 2);
	phase(NOBODY_WRITES, calls / 4);
	before = digest();
	phase(NOBODY_READS, calls / 4);
	point(before && digest() == before, "who may only read has written nothing");

	fill(buf, 4096, 1);
	point(!io64(ns_fd, rw64(IO_WRITE, 0, nlb, buf, 4096)) && !memcmp(blocks_hold(0, 4096), buf, 4096),
	      "the controller works as before");
	return points_failed ? 1 : 0;
}
