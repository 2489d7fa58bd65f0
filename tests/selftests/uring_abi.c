// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passthrough by io_uring, NVME_URING_CMD_*, used rightly and wrongly. Arrays of buffers
 * are in vec_abi.c, SQEs that change under way in uring_race.c, who may what, and rings that go, in
 * uring_rights.c.
 *
 *   uring_abi [--stock] [--rings] CONTROLLER NAMESPACE NSID
 *
 * CONTROLLER and NAMESPACE are char devices (/dev/kdp0, /dev/kdpg0n1). With --stock they
 * are those of the in-tree driver (/dev/nvme0, /dev/ng0n1), and what kdp checks beyond it
 * is left out. --rings: only the I/O on each kind of ring. Needs root. Writes to the first MiB of
 * the namespace.
 */
#include "uring.h"

#define DEPTH		128
#define LINKED		1000	/* pairs of commands */

static struct io_uring ring;

/* The same name, by the plain ring. */
static void io(const char *name, int fd, struct nvme_passthru_cmd64 c, int want)
{
	comes_back(name, ring_one(&ring, fd, NVME_URING_CMD_IO, &c, NULL), want);
}

/* A refused read leaves the buffer as it was. */
static void refused_read(const char *name, struct nvme_passthru_cmd64 c, unsigned char *buf,
			 size_t len, int want)
{
	io(name, ns_fd, c, want);
	if (!all_bytes(buf, len, GUARD)) {
		say("%s: the buffer was written to", name);
		point(false, "a refused read leaves the buffer alone");
		memset(buf, GUARD, len);
	}
}

/* --- each kind of ring ---------------------------------------------------------- */

/* Written by the ring, read by the ring and by the ioctl. */
static bool back_and_forth(struct io_uring *r, uint32_t len, unsigned int seed)
{
	unsigned char *out = guarded(len), *in = guarded(len), *check = guarded(len);
	struct nvme_passthru_cmd64 w = rw64(IO_WRITE, 0, len / block, out, len);
	struct nvme_passthru_cmd64 rd = rw64(IO_READ, 0, len / block, in, len);
	int rc;

	fill(out, len, seed);
	rc = ring_one(r, ns_fd, NVME_URING_CMD_IO, &w, NULL);
	if (!rc)
		rc = ring_one(r, ns_fd, NVME_URING_CMD_IO, &rd, NULL);
	if (rc) {
		say_result("write or read", rc);
		return false;
	}
	rc = io64(ns_fd, rw64(IO_READ, 0, len / block, check, len));
	if (rc || memcmp(out, check, len))
		say("what the ioctl reads is not what was written");
	else if (memcmp(out, in, len))
		say("what the ring reads is not what was written");
	else
		return true;
	return false;
}

/* @n reads at once, each of another place; @fixed: into one registered buffer. */
static bool many_at_once(struct io_uring *r, unsigned int n, bool fixed)
{
	uint32_t len = 4096, nlb = len / block;
	unsigned char *out = guarded(n * len), *in = guarded(n * len);
	struct iovec all = { in, n * len };
	uint64_t seen[8] = { 0 };
	bool good = true;

	fill(out, n * len, n + fixed);
	for (uint32_t at = 0; at < n * len; at += 65536)
		if (io64(ns_fd, rw64(IO_WRITE, at / block, 65536 / block, out + at, 65536)))
			die("write for depth %u", n);
	if (fixed && io_uring_register_buffers(r, &all, 1))
		die("io_uring_register_buffers");
	for (unsigned int i = 0; i < n; i++) {
		struct nvme_passthru_cmd64 c = rw64(IO_READ, i * nlb, nlb, in + i * len, len);
		struct nvme_uring_cmd u = uring_cmd(&c);
		struct io_uring_sqe *sqe = ring_add(r, ns_fd, NVME_URING_CMD_IO, &u, i);

		if (fixed)
			sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
	}
	ring_submit(r);
	for (unsigned int i = 0; i < n; i++) {
		struct answer a = ring_wait(r);

		if (a.res)
			say_result("one of many", a.res);
		good &= !a.res && a.data < n && !(seen[a.data / 64] >> a.data % 64 & 1);
		seen[a.data / 64 % 8] |= 1ULL << a.data % 64;
	}
	if (fixed)
		io_uring_unregister_buffers(r);
	if (!good)
		return false;
	if (memcmp(out, in, n * len))
		say("the bytes differ");
	return !memcmp(out, in, n * len);
}

static void test_kind(const struct ring_kind *kind)
{
	static const uint32_t sizes[] = { 512, 4096, 8192, 65536, 262144 };
	struct io_uring r;
	char text[120];

	ring_make(&r, DEPTH, kind->flags | BIG_RING);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t len = sizes[i] < block ? block : sizes[i];

		snprintf(text, sizeof(text), "%s ring: write and read %u bytes", kind->name, len);
		point(back_and_forth(&r, len, i), text);
	}
	snprintf(text, sizeof(text), "%s ring: %u reads at once", kind->name, DEPTH);
	point(many_at_once(&r, DEPTH, false), text);
	snprintf(text, sizeof(text), "%s ring: %u reads at once into a fixed buffer", kind->name,
		 DEPTH);
	point(many_at_once(&r, DEPTH, true), text);
	io_uring_queue_exit(&r);
}

/* More than the queue has room for: the rest waits, nothing is refused. */
static void test_deep(void)
{
	struct io_uring r;

	ring_make(&r, 256, BIG_RING);
	point(many_at_once(&r, 256, false), "plain ring: 256 reads at once");
	io_uring_queue_exit(&r);
}

static void test_small_entries(void)
{
	static const struct ring_kind kinds[] = {
		{ "without SQE128", IORING_SETUP_CQE32 },
		{ "without CQE32", IORING_SETUP_SQE128 },
		{ "without SQE128 and CQE32", 0 },
	};
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 4096 / block, buf, 4096);
	struct nvme_passthru_cmd64 id = identify64(1, 0, buf);
	struct io_uring r;
	char text[80];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		ring_make(&r, 4, kinds[i].flags);
		snprintf(text, sizeof(text), "ring %s: IO", kinds[i].name);
		comes_back(text, ring_one(&r, ns_fd, NVME_URING_CMD_IO, &c, NULL), -EOPNOTSUPP);
		snprintf(text, sizeof(text), "ring %s: ADMIN", kinds[i].name);
		comes_back(text, ring_one(&r, ctrl_fd, NVME_URING_CMD_ADMIN, &id, NULL), -EOPNOTSUPP);
		io_uring_queue_exit(&r);
	}
	point(all_bytes(buf, 4096, GUARD), "and nothing was read");
}

/* --- what works ------------------------------------------------------------------ */

static void test_admin(void)
{
	unsigned char *buf = guarded(4096), *check = guarded(4096);
	struct nvme_passthru_cmd64 c = identify64(1, 0, buf), i = identify64(1, 0, check);
	struct io_uring polled;
	uint64_t result = 0;
	int rc;

	comes_back("ADMIN: Identify Controller",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN, &c, NULL), 0);
	if (by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN64_CMD, &i))
		die("Identify Controller by ioctl");
	point(!memcmp(buf, check, 4096), "ADMIN: the bytes are those of the ioctl");

	c = i = (struct nvme_passthru_cmd64){ .opcode = ADM_GET_FEAT, .cdw10 = 7 };
	comes_back("ADMIN: Get Features, number of queues",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN, &c, &result), 0);
	if (by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN64_CMD, &i))
		die("Get Features by ioctl");
	say("result 0x%llx", (unsigned long long)result);
	point(result && result == i.result, "ADMIN: the result is in the CQE's second half");

	/* the controller's queue is never polled */
	memset(buf, GUARD, 4096);
	c = identify64(1, 0, buf);
	ring_make(&polled, 4, IORING_SETUP_IOPOLL | BIG_RING);
	rc = ring_one(&polled, ctrl_fd, NVME_URING_CMD_ADMIN, &c, NULL);
	io_uring_queue_exit(&polled);
	say_result("ADMIN on an IOPOLL ring", rc);
	point((rc == -EOPNOTSUPP && all_bytes(buf, 4096, GUARD)) ||
	      (!rc && !memcmp(buf, check, 4096)), "ADMIN on an IOPOLL ring is served or refused");
}

static void test_flags(void)
{
	unsigned char *out = guarded(4096), *in = guarded(4096);
	struct nvme_passthru_cmd64 w = rw64(IO_WRITE, 0, 4096 / block, out, 4096);
	struct nvme_passthru_cmd64 r = rw64(IO_READ, 0, 4096 / block, in, 4096);
	struct nvme_uring_cmd uw = uring_cmd(&w), ur = uring_cmd(&r);
	struct answer a[2];
	bool good = true;

	/* the read is issued by task work, which now and then runs on the way out of an interrupt */
	for (int i = 0; i < LINKED && good; i++) {
		fill(out, 4096, 4711 + i);
		memset(in, GUARD, 4096);
		ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &uw, 0)->flags = IOSQE_IO_LINK;
		ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &ur, 1);
		ring_submit(&ring);
		a[0] = ring_wait(&ring);
		a[1] = ring_wait(&ring);
		good = !a[0].data && !a[0].res && !a[1].res && !memcmp(in, out, 4096);
		if (!good)
			say("pair %d: results %d and %d, the data %s", i, a[0].res, a[1].res,
			    memcmp(in, out, 4096) ? "differ" : "are right");
	}
	point(good, "a read linked to a write reads what that wrote");

	memset(in, GUARD, 4096);
	ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &ur, 1)->flags = IOSQE_ASYNC;
	ring_submit(&ring);
	a[0] = ring_wait(&ring);
	point(!a[0].res && !memcmp(in, out, 4096), "IOSQE_ASYNC reads");

	if (io_uring_register_files(&ring, &ns_fd, 1))
		die("io_uring_register_files");
	memset(in, GUARD, 4096);
	ring_add(&ring, 0, NVME_URING_CMD_IO, &ur, 1)->flags = IOSQE_FIXED_FILE;
	ring_submit(&ring);
	a[0] = ring_wait(&ring);
	io_uring_unregister_files(&ring);
	point(!a[0].res && !memcmp(in, out, 4096), "a registered file reads");

	io("Flush", ns_fd, (struct nvme_passthru_cmd64){ .opcode = IO_FLUSH, .nsid = nsid }, 0);
	io("a time limit of its own", ns_fd,
	   (struct nvme_passthru_cmd64){ .opcode = IO_FLUSH, .nsid = nsid, .timeout_ms = 60000 }, 0);
}

/* --- what is refused -------------------------------------------------------------- */

static void test_requests(void)
{
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 4096 / block, buf, 4096);
	struct nvme_passthru_cmd64 id = identify64(1, 0, buf);
	struct io_uring_sqe *sqe;
	struct nvme_uring_cmd u = uring_cmd(&c);

	comes_back("ADMIN on the namespace",
		   ring_one(&ring, ns_fd, NVME_URING_CMD_ADMIN, &id, NULL), -ENOTTY);
	comes_back("ADMIN_VEC on the namespace",
		   ring_one(&ring, ns_fd, NVME_URING_CMD_ADMIN_VEC, &id, NULL), -ENOTTY);
	comes_back("IO on the controller",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_IO, &c, NULL), -ENOTTY);
	comes_back("IO_VEC on the controller",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_IO_VEC, &c, NULL), -ENOTTY);
	comes_back("an ioctl's number", ring_one(&ring, ns_fd, NVME_IOCTL_IO64_CMD, &c, NULL), -ENOTTY);
	comes_back("a number that nobody has",
		   ring_one(&ring, ns_fd, _IOWR('N', 0x8f, struct nvme_uring_cmd), &c, NULL), -ENOTTY);
	comes_back("number 0", ring_one(&ring, ctrl_fd, 0, &c, NULL), -ENOTTY);
	comes_back("IO with another size in its number",
		   ring_one(&ring, ns_fd, _IOWR('N', 0x80, char[16]), &c, NULL), -ENOTTY);

	sqe = ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &u, 0);
	sqe->uring_cmd_flags = 1U << 30;
	ring_submit(&ring);
	comes_back("an unknown flag of the SQE", ring_wait(&ring).res, -EINVAL);
	point(all_bytes(buf, 4096, GUARD), "and nothing was read");
}

static void test_fields(void)
{
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd64 good = rw64(IO_READ, 0, 4096 / block, buf, 4096), c;
	struct nvme_uring_cmd u;

	for (unsigned int bit = 0; bit < 8; bit++) {
		char text[40];

		c = good;
		c.flags = 1U << bit;
		snprintf(text, sizeof(text), "flags 0x%02x", 1U << bit);
		refused_read(text, c, buf, 4096, -EINVAL);
	}
	c = good;
	c.nsid = nsid + 1;
	refused_read("another namespace's number", c, buf, 4096, -EINVAL);
	c.nsid = 0;
	refused_read("namespace 0", c, buf, 4096, -EINVAL);
	c.nsid = 0xffffffff;
	refused_read("namespace ffffffffh", c, buf, 4096, -EINVAL);
	if (stock)
		return;

	c = good;
	c.rsvd1 = 1;
	refused_read("rsvd1 not 0", c, buf, 4096, -EINVAL);
	u = uring_cmd(&good);
	u.rsvd2 = 1;
	ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &u, 0);
	ring_submit(&ring);
	comes_back("rsvd2 not 0", ring_wait(&ring).res, -EINVAL);
	c = good;
	c.metadata = (uintptr_t)buf;
	c.metadata_len = 64;
	refused_read("metadata", c, buf, 4096, -EINVAL);
	c.metadata_len = 0;
	refused_read("metadata without a length", c, buf, 4096, -EINVAL);
	c = good;
	c.metadata_len = 64;
	refused_read("length of metadata without an address", c, buf, 4096, -EINVAL);
	point(all_bytes(buf, 4096, GUARD), "and nothing was read");
}

static void test_lengths(void)
{
	unsigned char *buf = guarded(4096);
	const struct { const char *name; uint32_t nlb, len; } cases[] = {
		{ "no data for one page", 4096 / block, 0 },
		{ "a dword less than a page", 4096 / block, 4092 },
		{ "a page and one byte", 4096 / block, 4097 },
		{ "a block for eight", 8 * 4096 / block, 4096 },
		{ "a page for the most blocks", 65536, 4096 },
		{ "half a block", 1, block / 2 },
		{ "one byte", 1, 1 },
		{ "length ffffffffh", 4096 / block, 0xffffffff },
		{ "length 80000000h", 4096 / block, 0x80000000 },
		{ "length fffff000h", 4096 / block, 0xfffff000 },
	};

	if (stock)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, cases[i].nlb, buf, cases[i].len);
		char text[80];

		snprintf(text, sizeof(text), "read, %s", cases[i].name);
		refused_read(text, c, buf, 4096, -EINVAL);
		c.opcode = IO_WRITE;
		snprintf(text, sizeof(text), "write, %s", cases[i].name);
		io(text, ns_fd, c, -EINVAL);
	}
	io("Flush with data", ns_fd,
	   (struct nvme_passthru_cmd64){ .opcode = IO_FLUSH, .nsid = nsid, .addr = (uintptr_t)buf,
					 .data_len = 4096 }, -EINVAL);
	io("a dword short of a multiple, unknown opcode", ns_fd,
	   (struct nvme_passthru_cmd64){ .opcode = 0x56, .nsid = nsid, .addr = (uintptr_t)buf,
					 .data_len = 4094 }, -EINVAL);
}

static void test_opcodes(void)
{
	static const uint8_t unknown[] = { 0x54, 0x70, 0x80, 0xfc };
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd64 c;
	char text[80];

	for (size_t i = 0; i < sizeof(unknown); i++) {
		c = (struct nvme_passthru_cmd64){ .opcode = unknown[i], .nsid = nsid };
		snprintf(text, sizeof(text), "unknown I/O opcode %02xh is refused", unknown[i]);
		point(refused(ring_one(&ring, ns_fd, NVME_URING_CMD_IO, &c, NULL)), text);
		c.nsid = 0;
		snprintf(text, sizeof(text), "unknown admin opcode %02xh is refused", unknown[i]);
		point(refused(ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN, &c, NULL)), text);
	}
	c = rw64(0x56, 0, 4096 / block, buf, 4096);
	point(refused(ring_one(&ring, ns_fd, NVME_URING_CMD_IO, &c, NULL)) &&
	      all_bytes(buf, 4096, GUARD), "unknown I/O opcode 56h with data is refused");
	if (stock)
		return;
	c = (struct nvme_passthru_cmd64){ .opcode = OPC_FABRICS, .nsid = 1 };
	comes_back("a fabrics command by ADMIN",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN, &c, NULL), -EOPNOTSUPP);
	c.opcode = 0x0c;
	comes_back("Asynchronous Event Request by ADMIN",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN, &c, NULL), -EOPNOTSUPP);
	c = (struct nvme_passthru_cmd64){ .opcode = OPC_FABRICS, .nsid = nsid };
	io("a fabrics command by IO", ns_fd, c, -EOPNOTSUPP);
}

static void test_addresses(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *buf = guarded(4096);
	unsigned char *ro = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct { const char *name; uint8_t opcode; uint64_t addr; uint32_t len; } cases[] = {
		{ "read to a page that is not there", IO_READ, 4096, 4096 },
		{ "write from a page that is not there", IO_WRITE, 4096, 4096 },
		{ "read to a kernel address", IO_READ, 0xffff888000000000, 4096 },
		{ "write from a kernel address", IO_WRITE, 0xffff888000000000, 4096 },
		{ "write from an address that is none", IO_WRITE, 0x8000000000000000, 4096 },
		{ "read to the last page there can be", IO_READ, -(uint64_t)4096, 4096 },
		{ "read to a page that is read-only", IO_READ, (uintptr_t)ro, 4096 },
		{ "read over the end of a mapping", IO_READ, (uintptr_t)buf, 8192 },
		{ "write over the end of a mapping", IO_WRITE, (uintptr_t)buf, 8192 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		io(cases[i].name, ns_fd, rw64(cases[i].opcode, 0, cases[i].len / block,
					      (void *)(uintptr_t)cases[i].addr, cases[i].len),
		   -EFAULT);
	if (stock)	/* address 0 is no data there, and a bounced read is not looked at */
		return;
	io("read to address 0", ns_fd, rw64(IO_READ, 0, 4096 / block, NULL, 4096), -EFAULT);
	io("write from address 0", ns_fd, rw64(IO_WRITE, 0, 4096 / block, NULL, 4096), -EFAULT);
	io("misaligned read over the end of a mapping", ns_fd,
	   rw64(IO_READ, 0, 8192 / block, buf + 1, 8192), -EFAULT);
}

static void test_range(void)
{
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd64 c = rw64(IO_READ, blocks, 4096 / block, buf, 4096);
	int status = io64(ns_fd, c);
	int rc = ring_one(&ring, ns_fd, NVME_URING_CMD_IO, &c, NULL);

	say("status beyond the end: by ioctl 0x%x, by the ring 0x%x", status, rc);
	point(rc > 0 && rc == status, "read beyond the end: the NVMe status, as by ioctl");
	point(all_bytes(buf, 4096, GUARD), "and nothing was read");
	c.opcode = IO_WRITE;
	io("write beyond the end", ns_fd, c, NVME_STATUS);
	io("write across the end", ns_fd, rw64(IO_WRITE, blocks - 1, 8192 / block, guarded(8192), 8192),
	   NVME_STATUS);
	io("read at the last LBA there can be", ns_fd, rw64(IO_READ, ~0ULL, 4096 / block, buf, 4096),
	   NVME_STATUS);
}

/* A buffer that begins in the middle of a dword is served or refused, never garbled. */
static void test_alignment(void)
{
	static const unsigned int shifts[] = { 4, 1, 4092 };
	unsigned char *out = guarded(8192), *space = guarded(16384);
	char text[80];

	fill(out, 8192, 99);
	if (io64(ns_fd, rw64(IO_WRITE, 0, 8192 / block, out, 8192)))
		die("write for the alignment test");
	for (size_t i = 0; i < ARRAY_SIZE(shifts); i++) {
		unsigned char *in = space + shifts[i];
		struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 8192 / block, in, 8192);
		int rc;

		memset(space, GUARD, 16384);
		rc = ring_one(&ring, ns_fd, NVME_URING_CMD_IO, &c, NULL);
		snprintf(text, sizeof(text), "read to a buffer %u bytes off", shifts[i]);
		point((rc == -EINVAL && all_bytes(space, 16384, GUARD)) ||
		      (!rc && !memcmp(in, out, 8192) && all_bytes(space, shifts[i], GUARD) &&
		       all_bytes(in + 8192, 16384 - 8192 - shifts[i], GUARD)), text);
	}
}

/* --- fixed buffers --------------------------------------------------------------- */

static int fixed(unsigned int op, struct nvme_passthru_cmd64 c, unsigned int index)
{
	struct nvme_uring_cmd u = uring_cmd(&c);
	struct io_uring_sqe *sqe = ring_add(&ring, ns_fd, op, &u, 0);

	sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
	sqe->buf_index = index;
	ring_submit(&ring);
	return ring_wait(&ring).res;
}

static void test_fixed(void)
{
	uint32_t nlb = 4096 / block;
	unsigned char *a = guarded(32768), *b = guarded(8192), *out = guarded(4096);
	struct iovec two[] = { { a + 4096, 16384 }, { b, 8192 } };
	struct nvme_passthru_cmd64 w;

	comes_back("fixed: no buffer is registered",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, a + 4096, 4096), 0), -EFAULT);
	if (io_uring_register_buffers(&ring, two, 2))
		die("io_uring_register_buffers");
	fill(out, 4096, 31337);
	if (io64(ns_fd, rw64(IO_WRITE, 0, nlb, out, 4096)))
		die("write for the fixed buffers");

	comes_back("fixed: read to the begin",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, a + 4096, 4096), 0), 0);
	point(!memcmp(a + 4096, out, 4096) && all_bytes(a, 4096, GUARD) &&
	      all_bytes(a + 8192, 24576, GUARD), "fixed: the bytes are there, and nowhere else");
	comes_back("fixed: read to the end",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, a + 16384, 4096), 0), 0);
	point(!memcmp(a + 16384, out, 4096), "fixed: the bytes are there");
	comes_back("fixed: read to an offset of 512",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, b + 512, 4096), 1), 0);
	point(!memcmp(b + 512, out, 4096) && all_bytes(b, 512, GUARD) &&
	      all_bytes(b + 4608, 3584, GUARD), "fixed: the bytes are there, and nowhere else");

	w = rw64(IO_WRITE, 64, nlb, b + 512, 4096);
	comes_back("fixed: write", fixed(NVME_URING_CMD_IO, w, 1), 0);
	memset(out, 0, 4096);
	point(!io64(ns_fd, rw64(IO_READ, 64, nlb, out, 4096)) && !memcmp(out, b + 512, 4096),
	      "fixed: the ioctl reads it");

	memset(a, GUARD, 32768);
	memset(b, GUARD, 8192);
	comes_back("fixed: read over the end",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, 2 * nlb, a + 16384, 8192), 0), -EFAULT);
	comes_back("fixed: read before the begin",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, 2 * nlb, a, 8192), 0), -EFAULT);
	comes_back("fixed: read to another's buffer",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, a + 4096, 4096), 1), -EFAULT);
	comes_back("fixed: write from another's buffer",
		   fixed(NVME_URING_CMD_IO, rw64(IO_WRITE, 0, nlb, b, 4096), 0), -EFAULT);
	comes_back("fixed: an index that is not there",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, b, 4096), 2), -EFAULT);
	comes_back("fixed: index ffffh",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, b, 4096), 0xffff), -EFAULT);
	comes_back("fixed: an address that wraps",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, (void *)-4096UL, 4096), 0), -EFAULT);
	if (!stock) {
		struct iovec piece = { b, 4096 };

		comes_back("fixed: an array of buffers",
			   fixed(NVME_URING_CMD_IO_VEC, rw64(IO_READ, 0, nlb, &piece, 1), 1), -EINVAL);
		comes_back("fixed: address 0",
			   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, NULL, 4096), 0), -EFAULT);
	}
	io_uring_unregister_buffers(&ring);
	comes_back("fixed: the buffers are registered no more",
		   fixed(NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, a + 4096, 4096), 0), -EFAULT);
	point(all_bytes(a, 32768, GUARD) && all_bytes(b, 8192, GUARD),
	      "fixed: what is refused leaves the buffers alone");
}

int main(int argc, char **argv)
{
	bool rings_only = false;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		stock |= !strcmp(argv[1], "--stock");
		rings_only |= !strcmp(argv[1], "--rings");
	}
	if (argc != 4) {
		fprintf(stderr, "usage: uring_abi [--stock] [--rings] CONTROLLER NAMESPACE NSID\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	ring_make(&ring, 8, BIG_RING);
	for (size_t i = 0; i < ARRAY_SIZE(ring_kinds); i++)
		test_kind(&ring_kinds[i]);
	if (rings_only)
		return points_failed ? 1 : 0;

	test_deep();
	test_small_entries();
	test_admin();
	test_flags();
	test_requests();
	test_fields();
	test_lengths();
	test_opcodes();
	test_addresses();
	test_range();
	test_alignment();
	test_fixed();
	io_uring_queue_exit(&ring);
	return points_failed ? 1 : 0;
}
