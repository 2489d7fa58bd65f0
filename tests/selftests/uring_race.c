// SPDX-License-Identifier: GPL-2.0-only
/*
 * SQEs that another thread changes while the kernel takes them. Each field by itself has
 * one of two values; each command must come to what one of the two would have come to, and
 * touch nothing else.
 *
 *   uring_race [--stock] [--rounds N] CONTROLLER NAMESPACE NSID
 *
 * As uring_abi.c. Writes to the first 64 KiB of the namespace.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "uring.h"

#define BATCH		16
#define LEN		4096u

static unsigned int rounds = 48;

/* --- the other thread ---------------------------------------------------------------- */

struct target {
	volatile unsigned char	*place;		/* of the field in each SQE */
	size_t			size;
	uint64_t		values[2];
};

static struct target targets[BATCH];
static atomic_bool hammering, busy, leave;
static atomic_ulong swings;

static void put(const struct target *t, uint64_t value)
{
	switch (t->size) {
	case 1: *t->place = value; break;
	case 4: *(volatile uint32_t *)t->place = value; break;
	default: *(volatile uint64_t *)t->place = value; break;
	}
}

static void *hammer(void *unused)
{
	for (unsigned int turn = 0; !atomic_load(&leave);) {
		atomic_store(&busy, true);
		if (!atomic_load(&hammering)) {
			atomic_store(&busy, false);
			usleep(50);
			continue;
		}
		turn++;
		for (int i = 0; i < BATCH; i++)
			put(&targets[i], targets[i].values[(turn + i) & 1]);
		atomic_fetch_add(&swings, 1);
	}
	return unused;
}

/* --- the rounds ------------------------------------------------------------------------ */

static struct io_uring ring;
static int fd;				/* whose commands */
static unsigned char *first[BATCH], *second[BATCH];
static unsigned long served, refusals;

/* A batch of @c, each with buffers of its own: @offset is the field's in the command. */
static void batch(struct nvme_passthru_cmd64 c, size_t offset, size_t size, const uint64_t *values,
		  int *res)
{
	struct nvme_uring_cmd u = uring_cmd(&c);

	for (int i = 0; i < BATCH; i++) {
		struct io_uring_sqe *sqe;

		memset(first[i], GUARD, 2 * LEN);
		memset(second[i], GUARD, 2 * LEN);
		u.addr = (uintptr_t)first[i];
		sqe = ring_add(&ring, fd, NVME_URING_CMD_IO, &u, i);
		targets[i] = (struct target){ (unsigned char *)sqe->cmd + offset, size,
					      { values[0], values[1] } };
		if (offset == offsetof(struct nvme_uring_cmd, addr)) {
			targets[i].values[0] = (uintptr_t)first[i];
			if (!values[1])
				targets[i].values[1] = (uintptr_t)second[i];
		}
	}
	atomic_store(&hammering, true);
	ring_submit(&ring);
	for (int i = 0; i < BATCH; i++) {
		struct answer a = ring_wait(&ring);

		res[a.data % BATCH] = a.res;
		if (a.res)
			refusals++;
		else
			served++;
	}
	atomic_store(&hammering, false);
	while (atomic_load(&busy))
		sched_yield();
}

#define FIELD(f)	offsetof(struct nvme_uring_cmd, f), sizeof(((struct nvme_uring_cmd *)0)->f)

static bool is(const unsigned char *buf, const unsigned char *data)
{
	return !memcmp(buf, data, LEN) && all_bytes(buf + LEN, LEN, GUARD);
}

static bool untouched(const unsigned char *buf)
{
	return all_bytes(buf, 2 * LEN, GUARD);
}

static unsigned char *one, *other;	/* what is in the blocks from 0, and from LEN */

static void write_both(void)
{
	if (io64(ns_fd, rw64(IO_WRITE, 0, LEN / block, one, LEN)) ||
	    io64(ns_fd, rw64(IO_WRITE, LEN / block, LEN / block, other, LEN)))
		die("write what is read later");
}

/* Each part says of one command whether it came to what it may come to. */
typedef bool (*judge)(int i, int res);

static void race(const char *name, struct nvme_passthru_cmd64 c, size_t offset, size_t size,
		 uint64_t value, uint64_t instead, judge good)
{
	uint64_t values[] = { value, instead };
	unsigned int bad = 0;
	char text[120];

	served = refusals = 0;
	for (unsigned int n = 0; n < rounds; n++) {
		int res[BATCH];

		batch(c, offset, size, values, res);
		for (int i = 0; i < BATCH; i++) {
			if (good(i, res[i]))
				continue;
			if (!bad++)
				say("%s: %d, in the first buffer %02x, in the second %02x", name,
				    res[i], first[i][0], second[i][0]);
		}
	}
	say("%s: %lu served, %lu refused", name, served, refusals);
	snprintf(text, sizeof(text), "%s changes under way", name);
	point(!bad, text);
}

static bool either_buffer(int i, int res)
{
	return !res && ((is(first[i], one) && untouched(second[i])) ||
			(is(second[i], one) && untouched(first[i])));
}

static bool there_or_fault(int i, int res)
{
	return untouched(second[i]) && (res ? res == -EFAULT && untouched(first[i]) :
					      is(first[i], one));
}

/* 8192 bytes for 4096 is refused, by the in-tree driver's target. */
static bool right_or_refused(int i, int res)
{
	return untouched(second[i]) && (res ? refused(res) && all_bytes(first[i] + LEN, LEN, GUARD) :
					      is(first[i], one));
}

static bool here_or_nowhere(int i, int res)
{
	return untouched(second[i]) && (res ? res == -EINVAL && untouched(first[i]) :
					      is(first[i], one));
}

static bool either_block(int i, int res)
{
	return !res && (is(first[i], one) || is(first[i], other));
}

static bool read_or_no_right(int i, int res)
{
	return res ? res == -EACCES && untouched(first[i]) : is(first[i], one);
}

static void races(const char *kind)
{
	uint32_t nlb = LEN / block;
	struct nvme_passthru_cmd64 r = rw64(IO_READ, 0, nlb, NULL, LEN);
	char text[80];

#define NAME(f)	(snprintf(text, sizeof(text), "%s ring: %s", kind, f), text)
	race(NAME("addr"), r, FIELD(addr), 0, 0, either_buffer);
	race(NAME("addr, one in the kernel"), r, FIELD(addr), 0, 0xffff888000000000, there_or_fault);
	race(NAME("data_len"), r, FIELD(data_len), LEN, 2 * LEN, right_or_refused);
	race(NAME("nsid"), r, FIELD(nsid), nsid, nsid + 1, here_or_nowhere);
	race(NAME("flags"), r, FIELD(flags), 0, 1, here_or_nowhere);
	race(NAME("cdw10"), r, FIELD(cdw10), 0, nlb, either_block);
#undef NAME
}

/* --- rights ------------------------------------------------------------------------- */

static bool still_there(void)
{
	unsigned char *buf = guarded(LEN);

	return !io64(ns_fd, rw64(IO_READ, 0, LEN / block, buf, LEN)) && !memcmp(buf, one, LEN);
}

/* Judged as a read and sent as a write would write GUARD bytes. */
static void nobody_races(void)
{
	static const unsigned int flags[] = { 0, IORING_SETUP_SQPOLL };
	pthread_t thread;

	fd = open(ns_path, O_RDONLY);
	if (fd < 0 || pthread_create(&thread, NULL, hammer, NULL))
		die("open %s as nobody", ns_path);
	for (int i = 0; i < 2; i++) {
		ring_make(&ring, BATCH, flags[i] | BIG_RING);
		race(i ? "nobody, SQPOLL ring: opcode read or write" : "nobody: opcode read or write",
		     rw64(IO_READ, 0, LEN / block, NULL, LEN), FIELD(opcode), IO_READ, IO_WRITE,
		     read_or_no_right);
		io_uring_queue_exit(&ring);
	}
	atomic_store(&leave, true);
	pthread_join(thread, NULL);
}

static int nobody_reads(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		_exit(io64(ns_fd, rw64(IO_READ, 0, LEN / block, guarded(LEN), LEN)) ? 1 : 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		stock |= !strcmp(argv[1], "--stock");
		if (!strcmp(argv[1], "--rounds") && argc > 2) {
			rounds = atoi(argv[2]);
			argc--;
			argv++;
		}
	}
	if (argc != 4) {
		fprintf(stderr, "usage: uring_race [--stock] [--rounds N] CONTROLLER NAMESPACE NSID\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	one = guarded(LEN);
	other = guarded(LEN);
	fill(one, LEN, 1);
	fill(other, LEN, 2);
	write_both();
	for (int i = 0; i < BATCH; i++) {
		first[i] = guarded(2 * LEN);
		second[i] = guarded(2 * LEN);
	}

	fd = ns_fd;
	if (pthread_create(&thread, NULL, hammer, NULL))
		die("pthread_create");
	for (size_t i = 0; i < ARRAY_SIZE(ring_kinds); i++) {
		ring_make(&ring, BATCH, ring_kinds[i].flags | BIG_RING);
		races(ring_kinds[i].name);
		io_uring_queue_exit(&ring);
	}
	atomic_store(&leave, true);
	pthread_join(thread, NULL);
	say("%lu swings", atomic_load(&swings));
	point(atomic_load(&swings) > rounds, "the other thread was at it");
	atomic_store(&leave, false);
	if (!stock || nobody_reads()) {
		as_nobody(nobody_races);
		point(still_there(), "nobody with a read-only descriptor has written nothing");
	}
	return points_failed ? 1 : 0;
}
