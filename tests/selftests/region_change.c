// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may happen to the memory, the file and the process of a registered region while it
 * stands, and while commands use it.
 *
 *   region_change [--big BYTES] CONTROLLER NAMESPACE NSID [tmpfs|FILESYSTEM]:DIRECTORY...
 *
 * --big: also a region of so many bytes of a memfd, and of huge pages if there are so many.
 * Needs root. Writes to the first MiB of the namespace.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "region.h"
#include "uring.h"

#define LEN		(1 << 20)
#define DEPTH		32

static void pt(bool good, const char *kind, const char *what)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", kind, what);
	point(good, text);
}

static void use(const char *kind, const char *what, struct outcome o)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", kind, what);
	served(text, o, 1);
}

static struct outcome write_from(uint64_t addr, uint64_t base)
{
	return region_io(ns_fd, IO_WRITE, 0, addr, 4096, base);
}

static struct outcome read_to(uint64_t addr, uint64_t base)
{
	return region_io(ns_fd, IO_READ, 0, addr, 4096, base);
}

/* A region of pages that hold @value. */
static unsigned char *region_of(unsigned char value)
{
	unsigned char *p = pages(LEN);

	memset(p, value, LEN);
	if (region_add(ns_fd, p, LEN, BOTH_WAYS))
		die("ADD");
	return p;
}

static bool arrived(unsigned char value)
{
	return all_bytes(blocks_hold(0, 4096), 4096, value);
}

/* --- the address space ------------------------------------------------------------- */

static void unmapped(void)
{
	unsigned char *p = region_of(0x31), *other;
	const uint64_t base = (uintptr_t)p;

	munmap(p, LEN);
	use("munmap", "a write from what was there", write_from(base, base));
	pt(arrived(0x31), "munmap", "sends what was there");
	use("munmap", "a read to what was there", read_to(base + 4096, base));
	use("munmap", "and a write from that", write_from(base + 4096, base));
	pt(arrived(0x31), "munmap", "sends what was read");

	/* somebody else's memory is there now */
	other = mmap(p, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (other != p)
		die("mmap at the same address");
	memset(other, GUARD, LEN);
	put_blocks(0, 4096, 32);
	use("other memory there", "a read", read_to(base, base));
	pt(all_bytes(other, LEN, GUARD), "other memory there", "does not see it");
	use("other memory there", "a write", write_from(base + 8192, base));
	pt(arrived(0x31), "other memory there", "sends the region's");
	region_drop(ns_fd, p);
	point(!io64(ns_fd, rw64(IO_WRITE, 0, 4096 / block, p, 4096)) && arrived(GUARD),
	      "after DEL the address leads to that memory");
	munmap(p, LEN);
}

static void moved(void)
{
	unsigned char *p = region_of(0x41), *q;
	const uint64_t base = (uintptr_t)p;
	const unsigned char *data;

	q = mremap(p, LEN, 2 * LEN, MREMAP_MAYMOVE);
	if (q == p)
		q = mremap(p, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, pages(LEN));
	if (q == MAP_FAILED)
		die("mremap");
	memset(q, 0x42, 4096);
	use("mremap", "a write by the old address", write_from(base, base));
	pt(arrived(0x42), "mremap", "sends what the new one has");
	data = put_blocks(0, 4096, 43);
	use("mremap", "a read by the old address", read_to(base, base));
	pt(!memcmp(q, data, 4096), "mremap", "is seen at the new one");
	pt(!io64(ns_fd, rw64(IO_READ, 0, 4096 / block, q, 4096)) && region_uses(ns_fd, base) == 2, "mremap",
	   "the new address is not the region's");
	region_drop(ns_fd, p);
	munmap(q, LEN);
}

static void protected(void)
{
	unsigned char *p = region_of(0x44);
	const uint64_t base = (uintptr_t)p;

	mprotect(p, LEN, PROT_NONE);
	use("mprotect", "a write", write_from(base, base));
	pt(arrived(0x44), "mprotect", "sends what is there");
	madvise(p, LEN, MADV_DONTNEED);
	use("MADV_DONTNEED", "a write", write_from(base + 4096, base));
	pt(arrived(0x44), "MADV_DONTNEED", "sends what was there");
	region_drop(ns_fd, p);
	munmap(p, LEN);
}

/* Copy on write must not part the parent from its region, nor join it to the child. */
static void forked(void)
{
	unsigned char *p = region_of(0x51);
	const uint64_t base = (uintptr_t)p;
	const unsigned char *data;
	int go[2], status;
	char byte;
	pid_t pid;

	if (pipe(go))
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) < 0)
			_exit(2);
		_exit(all_bytes(p, LEN, 0x51) ? 0 : 1);
	}
	memset(p, 0x52, 4096);
	use("fork, then a write to memory", "a command that writes", write_from(base, base));
	pt(arrived(0x52), "fork, then a write to memory", "sends what was written");
	data = put_blocks(0, 4096, 53);
	use("fork", "a command that reads", read_to(base + 8192, base));
	pt(!memcmp(p + 8192, data, 4096), "fork", "the parent sees it");
	close(go[1]);
	close(go[0]);
	patience();
	pt(waitpid(pid, &status, 0) == pid && !status, "fork", "the child does not");
	region_drop(ns_fd, p);
	munmap(p, LEN);
}

/* --- the file -------------------------------------------------------------------------- */

static int make_file(const char *dir, unsigned char value)
{
	unsigned char *data = pages(LEN);
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/changes", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	memset(data, value, LEN);
	if (fd < 0 || write(fd, data, LEN) != LEN || fsync(fd))
		die("write %s", path);
	munmap(data, LEN);
	return fd;
}

/* Truncated, or a hole where the data were: the region keeps the pages, the file does not. */
static void given_up(const char *fs, const char *dir, bool receives, bool hole)
{
	unsigned char *text = pages(4096);
	struct kdp_region_add add;
	char kind[80];
	int fd = make_file(dir, 0x61);

	snprintf(kind, sizeof(kind), "%s, %s", fs, hole ? "a hole is punched" : "truncated");
	if (region_add_file(ns_fd, 0, LEN, (receives ? BOTH_WAYS : KDP_REGION_SEND) | KDP_REGION_FILE, fd, &add))
		die("ADD of a file on %s", fs);
	if (hole ? fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, LEN) : ftruncate(fd, 0)) {
		say("%s: %s", kind, strerror(errno));
		goto out;
	}
	use(kind, "a write", write_from(add.base + 4096, add.base));
	/* the begin of a page that is given up in part may be zeroed, these are whole */
	pt(arrived(0x61), kind, "sends what was there");
	if (receives) {
		put_blocks(0, 4096, 62);
		use(kind, "a read", read_to(add.base + 8192, add.base));
	}
	if (ftruncate(fd, LEN) || pread(fd, text, 4096, 8192) != 4096)
		die("the file again");
	pt(all_bytes(text, 4096, 0), kind, "the file does not see it");
	memset(text, 0x63, 4096);
	if (pwrite(fd, text, 4096, 4096) != 4096)
		die("pwrite");
	use(kind, "a write after a write to the file", write_from(add.base + 4096, add.base));
	pt(arrived(0x61), kind, "sends what was there still");
out:
	region_del(ns_fd, add.base);
	munmap(text, 4096);
	close(fd);
}

/* --- while commands run ------------------------------------------------------------------ */

static struct io_uring ring;
static uint64_t running_base, running_len;
static uint8_t running_opcode;
static atomic_bool leave;
static atomic_ulong done, failed;
static atomic_int first_failure;

static void run_one(uint64_t n)
{
	uint64_t at = n * 20480 % (running_len - 8192);
	struct nvme_passthru_cmd64 c = rw64(running_opcode, n * 8 % 1024, 4096 / block,
					    (void *)(uintptr_t)(running_base + at), 4096);
	struct nvme_uring_cmd u = uring_cmd(&c);

	ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &u, n);
	ring_submit(&ring);
}

static void *run(void *unused)
{
	struct io_uring_cqe *cqe;
	uint64_t n = 0;

	while (n < DEPTH)
		run_one(n++);
	for (uint64_t ended = 0; ended < n; ended++) {
		if (io_uring_wait_cqe(&ring, &cqe))
			die("io_uring_wait_cqe");
		if (cqe->res) {
			if (!atomic_fetch_add(&failed, 1))
				atomic_store(&first_failure, cqe->res);
		} else {
			atomic_fetch_add(&done, 1);
		}
		io_uring_cqe_seen(&ring, cqe);
		if (!atomic_load(&leave))
			run_one(n++);
	}
	return unused;
}

static pthread_t runner;

static void begin_running(uint64_t base, uint64_t len, uint8_t opcode)
{
	running_base = base;
	running_len = len;
	running_opcode = opcode;
	atomic_store(&leave, false);
	atomic_store(&done, 0);
	atomic_store(&failed, 0);
	atomic_store(&first_failure, 0);
	if (pthread_create(&runner, NULL, run, NULL))
		die("pthread_create");
	while (!atomic_load(&done) && !atomic_load(&failed))
		usleep(1000);
}

/* So many have ended since; then no more begin, and all have ended. */
static void more_of_them(unsigned long n)
{
	unsigned long from = atomic_load(&done) + atomic_load(&failed);

	patience();
	while (atomic_load(&done) + atomic_load(&failed) < from + n)
		usleep(1000);
}

static void end_running(const char *kind, const char *what)
{
	patience();
	atomic_store(&leave, true);
	pthread_join(runner, NULL);
	say("%s: %lu commands, %lu failed, the first with %d", kind, atomic_load(&done), atomic_load(&failed),
	    atomic_load(&first_failure));
	pt(!atomic_load(&failed) && atomic_load(&done) > DEPTH, kind, what);
}

static void changes_while_running(void)
{
	unsigned char *p = region_of(0x71);
	const uint64_t base = (uintptr_t)p;
	pid_t pid;

	begin_running(base, LEN, IO_READ);
	for (int i = 0; i < 8; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		for (int at = 0; at < LEN; at += 4096)
			p[at] = i;
		waitpid(pid, NULL, 0);
		more_of_them(DEPTH);
	}
	munmap(p, LEN / 2);
	more_of_them(DEPTH);
	mprotect(p + LEN / 2, LEN / 2, PROT_NONE);
	more_of_them(DEPTH);
	munmap(p + LEN / 2, LEN / 2);
	more_of_them(DEPTH);
	end_running("reads", "go on through fork, mprotect, munmap");
	pt(region_uses(ns_fd, base) == atomic_load(&done), "reads", "all by the region");
	/* nobody else's memory comes there */
	if (mmap(p, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
		die("mmap at the same address");

	begin_running(base, LEN, IO_WRITE);
	point(!region_drop(ns_fd, p), "DEL while commands run");
	more_of_them(DEPTH);
	atomic_store(&leave, true);
	pthread_join(runner, NULL);
	say("%lu before, %lu after, %d", atomic_load(&done), atomic_load(&failed), atomic_load(&first_failure));
	point(atomic_load(&done) && atomic_load(&failed) && atomic_load(&first_failure) == -EFAULT,
	      "those before it end well, those after it find no memory");
	munmap(p, LEN);
}

static void file_while_running(const char *fs, const char *dir, bool receives)
{
	struct kdp_region_add add;
	unsigned char *text = pages(4096);
	char kind[80];
	int fd = make_file(dir, 0x72);

	snprintf(kind, sizeof(kind), "%s", fs);
	if (region_add_file(ns_fd, 0, LEN, (receives ? BOTH_WAYS : KDP_REGION_SEND) | KDP_REGION_FILE, fd, &add))
		die("ADD of a file on %s", fs);
	begin_running(add.base, LEN, receives ? IO_READ : IO_WRITE);
	for (int i = 0; i < 8; i++) {
		if (pwrite(fd, text, 4096, i * 4096) != 4096)
			die("pwrite");
		more_of_them(16);
		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, i * 65536, 65536))
			say("%s: no holes", fs);
		if (i == 4 && (ftruncate(fd, 0) || ftruncate(fd, LEN)))
			die("ftruncate");
		if (fsync(fd))
			die("fsync");
		more_of_them(16);
	}
	end_running(kind, "commands go on through writes, holes, truncation, fsync");
	close(fd);
	snprintf(kind, sizeof(kind), "%s/changes", dir);
	unlink(kind);
	use(fs, "the file is gone, a write goes on", write_from(add.base, add.base));
	region_del(ns_fd, add.base);
	munmap(text, 4096);
}

/* The last to close it waits for what is under way. */
static void closed_while_running(void)
{
	unsigned char *p = pages(LEN);
	struct io_uring r;
	char text[80];
	int fd;

	for (size_t k = 0; k < ARRAY_SIZE(ring_kinds); k++) {
		fd = open(ns_path, O_RDWR);
		if (fd < 0 || region_add(fd, p, LEN, BOTH_WAYS))
			die("ADD for close");
		ring_make(&r, 128, ring_kinds[k].flags | BIG_RING);
		for (int i = 0; i < 128; i++) {
			struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 4096 / block, p + i * 4096, 4096);
			struct nvme_uring_cmd u = uring_cmd(&c);

			ring_add(&r, fd, NVME_URING_CMD_IO, &u, i);
		}
		patience();
		ring_submit(&r);
		/* a thread that takes them looks for the file when it does */
		while (io_uring_sq_ready(&r))
			usleep(100);
		if (k % 2)
			io_uring_queue_exit(&r);
		close(fd);
		if (!(k % 2)) {
			bool good = true;

			/* io_uring holds the file until they have ended */
			for (int i = 0; i < 128; i++)
				good &= !ring_wait(&r).res;
			snprintf(text, sizeof(text), "%s ring: commands end well after close",
				 ring_kinds[k].name);
			point(good, text);
			io_uring_queue_exit(&r);
		}
	}
	point(!region_count(ns_fd), "closed with commands in flight");
	munmap(p, LEN);
}

/* --- signals --------------------------------------------------------------------------------- */

static atomic_bool quiet;
static pthread_t struck;

static void caught(int sig __attribute__((unused)))
{
}

static void *strike(void *unused)
{
	while (!atomic_load(&quiet)) {
		pthread_kill(struck, SIGUSR1);
		usleep(300);
	}
	return unused;
}

/* A call that a signal comes to has added it, or has not. */
static void signals(void)
{
	const size_t len = 64 << 20;
	struct sigaction action = { .sa_handler = caught };
	unsigned int added = 0, interrupted = 0, others = 0;
	bool left_over = false;
	pthread_t striker;

	sigaction(SIGUSR1, &action, NULL);
	struck = pthread_self();
	if (pthread_create(&striker, NULL, strike, NULL))
		die("pthread_create");
	for (int i = 0; i < 12; i++) {
		/* not there yet: it has to be made, which takes its time */
		unsigned char *p = mapped(len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		int rc = region_add(ns_fd, p, len, BOTH_WAYS);

		added += !rc;
		interrupted += rc == -EINTR;
		others += rc && rc != -EINTR;
		if (rc && rc != -EINTR)
			say_result("ADD", rc);
		left_over |= region_count(ns_fd) != !rc;
		while (!rc && region_drop(ns_fd, p) == -EINTR)
			left_over = true;
		munmap(p, len);
	}
	atomic_store(&quiet, true);
	pthread_join(striker, NULL);
	say("%u added, %u interrupted", added, interrupted);
	point(!others && added + interrupted == 12, "signals: ADD succeeds or is interrupted");
	point(!left_over && !region_count(ns_fd), "signals: and leaves nothing when it is interrupted");
}

/* --- large ones ------------------------------------------------------------------------------ */

static void big(const char *kind, unsigned int flags, uint64_t len)
{
	int fd = memfd_create(kind, flags);
	struct kdp_region_add add;
	unsigned char *p;
	char text[80];
	int rc;

	if (fd < 0 || ftruncate(fd, len) || fallocate(fd, 0, 0, len)) {
		say("no %s of %llu bytes here", kind, (unsigned long long)len);
		if (fd >= 0)
			close(fd);
		return;
	}
	p = mapped(len, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	patience();
	rc = region_add_file(ns_fd, (uintptr_t)p, len, BOTH_WAYS, 0, &add);
	snprintf(text, sizeof(text), "%s of %llu MiB", kind, (unsigned long long)len >> 20);
	pt(!rc, text, "ADD");
	say("%s: %u memory regions, %u bytes an entry", text, add.mrs, add.page_size);
	/* where one memory region ends and the next begins, and at both ends */
	for (uint64_t at = 0; !rc && at <= len - 65536; at += (len - 65536) / 8 / 4096 * 4096 ?: 4096) {
		uint64_t place = at ? at - 32768 : 0;
		const unsigned char *data = put_blocks(0, 65536, at >> 12);
		struct outcome o = region_io(ns_fd, IO_READ, 0, add.base + place, 65536, add.base);

		if (o.rc || o.uses != 1 || memcmp(p + place, data, 65536)) {
			say("read to offset %llu: %d, used %d times", (unsigned long long)place, o.rc, o.uses);
			rc = 1;
		}
	}
	pt(!rc, text, "reads use it, all over, and their bytes arrive");
	if (!rc) {
		fill(p + len - 65536, 65536, 8);
		use(text, "a write from its end",
		    region_io(ns_fd, IO_WRITE, 0, add.base + len - 65536, 65536, add.base));
		pt(!memcmp(blocks_hold(0, 65536), p + len - 65536, 65536), text, "and its bytes arrive");
	}
	patience();
	pt(!region_del(ns_fd, add.base), text, "DEL");
	munmap(p, len);
	close(fd);
}

int main(int argc, char **argv)
{
	uint64_t bytes = 0;

	if (argc > 2 && !strcmp(argv[1], "--big")) {
		bytes = strtoull(argv[2], NULL, 0);
		argc -= 2;
		argv += 2;
	}
	if (argc < 4) {
		fprintf(stderr, "usage: region_change [--big BYTES] CONTROLLER NAMESPACE NSID [FILESYSTEM:DIRECTORY...]\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	ring_make(&ring, DEPTH, BIG_RING);
	unmapped();
	moved();
	protected();
	forked();
	changes_while_running();
	closed_while_running();
	signals();
	for (int i = 4; i < argc; i++) {
		char *dir = strchr(argv[i], ':');
		bool receives = !strncmp(argv[i], "tmpfs:", 6);

		if (!dir)
			return 2;
		*dir++ = 0;
		given_up(argv[i], dir, receives, false);
		given_up(argv[i], dir, receives, true);
		file_while_running(argv[i], dir, receives);
	}
	if (bytes) {
		big("memfd", 0, bytes / 4);
		big("hugetlb memfd", MFD_HUGETLB, bytes);
	}
	point(!region_count(ns_fd), "no region is left");
	return points_failed ? 1 : 0;
}
