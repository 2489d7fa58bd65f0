// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of 4 KiB at depth 64 by io_uring, and the system calls that they take: of the
 * submitting thread, counted by the tracepoint raw_syscalls:sys_enter, or where the kernel
 * has no perf events by the program itself, which makes none that it does not count.
 *
 *   counts [--prepare] [--region] [--sqpoll] [--iopoll] [--fixed] READS CONTROLLER NAMESPACE NSID
 *
 * Prints, for a script: "counted READS SYSTEM_CALLS USES tracepoint|own", after having
 * looked at the bytes. With --prepare it only writes what is read later. Needs root. Writes to the first MiB of the namespace.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "region.h"
#include "uring.h"

#define DEPTH		64
#define LEN		4096

static unsigned long own_calls;

/* The tracepoint of this thread, or -1. It changes the kernel's text: COUNTS_OWN does without. */
static int count_calls(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = 1 };
	FILE *f = getenv("COUNTS_OWN") ? NULL : fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	unsigned long long id;
	int fd = -1;

	if (f && fscanf(f, "%llu", &id) == 1) {
		attr.config = id;
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (f)
		fclose(f);
	return fd;
}

/* Without liburing, which makes system calls of its own accord. */
static void submit(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	unsigned int tail = *sq->ktail, n = sq->sqe_tail - sq->sqe_head, flags = 0;

	if (!n)
		return;
	for (; sq->sqe_head != sq->sqe_tail; sq->sqe_head++)
		sq->array[tail++ & *sq->kring_mask] = sq->sqe_head & *sq->kring_mask;
	__atomic_store_n(sq->ktail, tail, __ATOMIC_RELEASE);
	if (ring->flags & IORING_SETUP_SQPOLL) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!(__atomic_load_n(sq->kflags, __ATOMIC_RELAXED) & IORING_SQ_NEED_WAKEUP))
			return;
		flags = IORING_ENTER_SQ_WAKEUP;
	}
	own_calls++;
	if (syscall(SYS_io_uring_enter, ring->ring_fd, n, 0, flags, NULL, 0) < 0)
		die("io_uring_enter to submit");
}

/* With a thread of the kernel that polls only memory is looked at. */
static unsigned int reap(struct io_uring *ring, bool *good)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;

	io_uring_for_each_cqe(ring, head, cqe) {
		if (cqe->res && *good) {
			say_result("a read", cqe->res);
			*good = false;
		}
		n++;
	}
	if (n) {
		io_uring_cq_advance(ring, n);
	} else if (!(ring->flags & IORING_SETUP_SQPOLL)) {
		own_calls++;
		if (syscall(SYS_io_uring_enter, ring->ring_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
		    errno != EINTR)
			die("io_uring_enter to wait");
	}
	return n;
}

int main(int argc, char **argv)
{
	bool region = false, fixed = false, prepare = false, good = true;
	unsigned long reads, begun = 0, ended = 0;
	unsigned int flags = BIG_RING;
	unsigned char *memory, *data;
	struct io_uring ring;
	struct iovec all;
	uint64_t seen = 0, uses;
	int calls;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		region |= !strcmp(argv[1], "--region");
		fixed |= !strcmp(argv[1], "--fixed");
		prepare |= !strcmp(argv[1], "--prepare");
		if (!strcmp(argv[1], "--sqpoll"))
			flags |= IORING_SETUP_SQPOLL;
		if (!strcmp(argv[1], "--iopoll"))
			flags |= IORING_SETUP_IOPOLL;
	}
	if (argc != 5) {
		fprintf(stderr, "usage: counts [--prepare] [--region] [--sqpoll] [--iopoll] [--fixed] READS CONTROLLER NAMESPACE NSID\n");
		return 2;
	}
	reads = strtoul(argv[1], NULL, 0);
	open_devices(argv + 2);
	learn_geometry();
	memory = guarded(DEPTH * LEN);
	data = guarded(DEPTH * LEN);
	all = (struct iovec){ memory, DEPTH * LEN };
	fill(data, DEPTH * LEN, 4711);
	for (uint32_t at = 0; prepare && at < DEPTH * LEN; at += 65536)
		if (io64(ns_fd, rw64(IO_WRITE, at / block, 65536 / block, data + at, 65536)))
			die("write what is read");
	if (prepare)
		return 0;
	if (region && region_add(ns_fd, memory, DEPTH * LEN, KDP_REGION_RECEIVE))
		die("KDP_IOC_REGION_ADD");
	ring_make(&ring, DEPTH, flags);
	if (fixed && io_uring_register_buffers(&ring, &all, 1))
		die("io_uring_register_buffers");
	alarm(0);

	calls = count_calls();
	if (calls >= 0)
		ioctl(calls, PERF_EVENT_IOC_ENABLE, 0);
	while (ended < reads) {
		while (begun < reads && begun - ended < DEPTH) {
			unsigned int slot = begun % DEPTH;
			struct nvme_passthru_cmd64 c = rw64(IO_READ, slot * LEN / block, LEN / block,
							    memory + slot * LEN, LEN);
			struct nvme_uring_cmd u = uring_cmd(&c);
			struct io_uring_sqe *sqe;

			/* the thread that takes them has not taken all */
			if (!io_uring_sq_space_left(&ring))
				break;
			sqe = ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &u, begun++);
			if (fixed)
				sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
		}
		submit(&ring);
		ended += reap(&ring, &good);
	}
	if (calls >= 0) {
		ioctl(calls, PERF_EVENT_IOC_DISABLE, 0);
		/* the last one is the disabling itself */
		if (read(calls, &seen, sizeof(seen)) == sizeof(seen) && seen)
			seen--;
	}
	point(good && !memcmp(memory, data, DEPTH * LEN), "all reads are right");
	if (calls >= 0)
		point(seen >= own_calls, "the tracepoint saw at least what the program counted");
	uses = region ? region_uses(ns_fd, (uintptr_t)memory) : 0;
	printf("counted %lu %llu %llu %s\n", reads, (unsigned long long)(calls >= 0 ? seen : own_calls),
	       (unsigned long long)uses, calls >= 0 ? "tracepoint" : "own");
	return points_failed ? 1 : 0;
}
