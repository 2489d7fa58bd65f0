// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passthrough by io_uring: who may what, whoever of the kernel's threads does it for him; and
 * rings, and their processes, that go with commands in flight.
 *
 *   uring_rights [--stock] CONTROLLER NAMESPACE NSID
 *
 * As uring_abi.c.
 */
#include "uring.h"

#define DEPTH		128

static struct io_uring ring;

static void io(const char *name, int fd, struct nvme_passthru_cmd64 c, int want)
{
	comes_back(name, ring_one(&ring, fd, NVME_URING_CMD_IO, &c, NULL), want);
}

/* Another ring reads, as ever. */
static bool reads_on(unsigned char *in)
{
	struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 4096 / block, in, 4096);

	return !ring_one(&ring, ns_fd, NVME_URING_CMD_IO, &c, NULL);
}

/* --- rights -------------------------------------------------------------------------- */

static int by_ring(const struct ring_kind *kind, int fd, unsigned int op, struct nvme_passthru_cmd64 c)
{
	struct io_uring r;
	int rc;

	ring_make(&r, 4, kind->flags | BIG_RING);
	rc = ring_one(&r, fd, op, &c, NULL);
	io_uring_queue_exit(&r);
	return rc;
}

/* What nobody may not do, whoever of the kernel's threads does it for him. */
static void nobody(void)
{
	unsigned char *buf = guarded(4096);
	uint32_t nlb = 4096 / block;
	int ctrl = open(ctrl_path, O_RDWR), ns = open(ns_path, O_RDWR), ro = open(ns_path, O_RDONLY);
	struct nvme_passthru_cmd64 get_log = {
		.opcode = ADM_GET_LOG, .nsid = 0xffffffff, .addr = (uintptr_t)buf, .data_len = 512,
		.cdw10 = 127U << 16 | 2,
	};
	struct nvme_passthru_cmd64 get_feature = { .opcode = ADM_GET_FEAT, .cdw10 = 7 };
	struct nvme_passthru_cmd64 vendor = { .opcode = 0xc0, .nsid = nsid };
	struct nvme_passthru_cmd64 w = rw64(IO_WRITE, 0, nlb, buf, 4096);
	struct nvme_uring_cmd u = uring_cmd(&w);
	struct io_uring r;
	char text[120];

	if (ctrl < 0 || ns < 0 || ro < 0)
		die("open the nodes as nobody");
	for (size_t i = 0; i < ARRAY_SIZE(ring_kinds); i++) {
		const struct ring_kind *kind = &ring_kinds[i];

		snprintf(text, sizeof(text), "nobody, %s ring: write by a read-only descriptor", kind->name);
		comes_back(text, by_ring(kind, ro, NVME_URING_CMD_IO, w), -EACCES);
		snprintf(text, sizeof(text), "nobody, %s ring: vendor opcode", kind->name);
		comes_back(text, by_ring(kind, ns, NVME_URING_CMD_IO, vendor), -EACCES);
		if (kind->flags & IORING_SETUP_IOPOLL)
			continue;
		snprintf(text, sizeof(text), "nobody, %s ring: Get Log Page", kind->name);
		comes_back(text, by_ring(kind, ctrl, NVME_URING_CMD_ADMIN, get_log), -EACCES);
		snprintf(text, sizeof(text), "nobody, %s ring: Get Features", kind->name);
		comes_back(text, by_ring(kind, ctrl, NVME_URING_CMD_ADMIN, get_feature), -EACCES);
	}
	ring_make(&r, 4, BIG_RING);
	ring_add(&r, ro, NVME_URING_CMD_IO, &u, 0)->flags = IOSQE_ASYNC;
	ring_submit(&r);
	comes_back("nobody, IOSQE_ASYNC: write by a read-only descriptor", ring_wait(&r).res, -EACCES);
	io_uring_queue_exit(&r);
	point(all_bytes(buf, 4096, GUARD), "nobody: nothing was read");
	if (stock)	/* what is allowed there depends on its version */
		return;
	comes_back("nobody: Identify Controller",
		   by_ring(ring_kinds, ctrl, NVME_URING_CMD_ADMIN, identify64(1, 0, buf)), 0);
	comes_back("nobody: read by a read-only descriptor",
		   by_ring(ring_kinds, ro, NVME_URING_CMD_IO, rw64(IO_READ, 0, nlb, buf, 4096)), 0);
	comes_back("nobody: write back what was read", by_ring(ring_kinds, ns, NVME_URING_CMD_IO, w), 0);
	comes_back("nobody: Write Zeroes by a read-only descriptor",
		   by_ring(ring_kinds, ro, NVME_URING_CMD_IO, rw64(0x08, 0, nlb, NULL, 0)), -EACCES);
}

/* Root's descriptor in nobody's hands, and a ring that root made: its maker's rights count. */
static void test_rights(void)
{
	int fd = open(ns_path, O_RDONLY);
	unsigned char *buf = guarded(4096);

	if (fd < 0)
		die("open %s read-only", ns_path);
	io("read by a read-only descriptor", fd, rw64(IO_READ, 0, 4096 / block, buf, 4096), 0);
	io("root writes by a read-only descriptor", fd, rw64(IO_WRITE, 0, 4096 / block, buf, 4096), 0);
	close(fd);
	as_nobody(nobody);
}

/* --- going while commands are under way --------------------------------------------- */

static void begin_reads(struct io_uring *r, unsigned int flags, unsigned char *in)
{
	ring_make(r, DEPTH, flags | BIG_RING);
	for (unsigned int i = 0; i < DEPTH; i++) {
		struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 4096 / block, in + i * 4096, 4096);
		struct nvme_uring_cmd u = uring_cmd(&c);

		ring_add(r, ns_fd, NVME_URING_CMD_IO, &u, i);
	}
	ring_submit(r);
}

static void test_going(void)
{
	unsigned char *in = guarded(DEPTH * 4096);
	struct io_uring r;
	char text[100];
	int status;
	pid_t pid;

	for (size_t i = 0; i < ARRAY_SIZE(ring_kinds); i++) {
		unsigned int flags = ring_kinds[i].flags;

		patience();
		begin_reads(&r, flags, in);
		io_uring_queue_exit(&r);
		snprintf(text, sizeof(text), "%s ring: it goes with %u commands in flight",
			 ring_kinds[i].name, DEPTH);
		point(reads_on(in), text);

		/*
		 * The in-tree driver ends polled commands in the task that issued them; that
		 * may wait for them in its exit, and then for ever.
		 */
		if (stock && flags & IORING_SETUP_IOPOLL)
			continue;
		fflush(stdout);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			begin_reads(&r, flags, in);
			kill(getpid(), SIGKILL);
		}
		patience();
		if (waitpid(pid, &status, 0) != pid)
			die("waitpid");
		snprintf(text, sizeof(text), "%s ring: its process is killed with %u commands in flight",
			 ring_kinds[i].name, DEPTH);
		point(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
		      reads_on(in), text);
	}
}

int main(int argc, char **argv)
{
	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++)
		stock |= !strcmp(argv[1], "--stock");
	if (argc != 4) {
		fprintf(stderr, "usage: uring_rights [--stock] CONTROLLER NAMESPACE NSID\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	ring_make(&ring, 8, BIG_RING);
	test_rights();
	test_going();
	io_uring_queue_exit(&ring);
	return points_failed ? 1 : 0;
}
