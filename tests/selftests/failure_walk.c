// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failure walks: let the first thing fail, then the second, and so on, until a pass
 * meets no failure any more.
 *
 *   failure_walk alloc CORE_KO HOST_KO ADDRESS NQN
 *	allocations (and copies to and from user space) of the thread that loads the
 *	modules, connects, sets another CQ mode, does I/O, registers regions and does I/O
 *	in them, disconnects, unloads:
 *	/proc/thread-self/fail-nth
 *   failure_walk point NAME... -- ADDRESS NQN
 *	kdp_core's own fault points (/sys/kernel/debug/kdp/fault/NAME), through connect,
 *	I/O, regions and disconnect. The modules are loaded.
 *
 * To save time: FAILURE_WALK_STRIDE=N, only the first, the N+1st, ...;
 * FAILURE_WALK_LOAD_STRIDE=N, the same for loading the modules (0: not at all).
 *
 * Every pass must end in time, with success or an error, and leave nothing: no node, no
 * RDMA object. The target at ADDRESS, port 4420, has one namespace of at least 1 MiB.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <kdp/kdp_ioctl.h>
#include <linux/nvme_ioctl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "genl.h"

#define INSTANCE	7
#define DISK		"/dev/kdp7n1"
#define CHAR		"/dev/kdpg7n1"
#define IO_BYTES	65536
#define MOST		20000		/* passes of one walk: more means that it does not end */
#define PASS_SECONDS	120

static const char *address, *nqn;
static int fail_nth = -1, memfd = -1;
static void *buffer;

/* --- small files ------------------------------------------------------------------------ */

static bool read_line(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = 0;
	return true;
}

static bool write_number(const char *path, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n), fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, len) == len;

	if (fd >= 0)
		close(fd);
	return good;
}

/* --- the thing that fails ----------------------------------------------------------------- */

/* Arms the next operation; then tells whether the failure came. */
struct trap {
	void	(*arm)(struct trap *trap, int n);
	bool	(*sprung)(struct trap *trap);
	char	path[128];
};

static bool nth_write(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	return pwrite(fail_nth, text, len, 0) == len;
}

static void nth_arm(struct trap *trap, int n)
{
	(void)trap;
	if (!nth_write(n))
		die("fail-nth");
}

/* What is left may hit this very read, or the write that disarms. */
static bool nth_sprung(struct trap *trap)
{
	char text[16] = "";
	bool sprung = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	(void)trap;
	if (!nth_write(0) && !nth_write(0))
		die("fail-nth");
	return sprung;
}

static void point_arm(struct trap *trap, int n)
{
	if (!write_number(trap->path, n))
		die("%s", trap->path);
}

static bool point_sprung(struct trap *trap)
{
	char text[32];
	int left = 0;

	if (!read_line(trap->path, text, sizeof(text)) || sscanf(text, "%*d %d", &left) != 1)
		die("%s", trap->path);
	point_arm(trap, 0);
	return left == 0;
}

/* --- what is walked through: each returns 0 or a negative errno --------------------------- */

/* The file is opened unharmed, before. */
static int module = -1;

static bool open_module(const char *ko)
{
	if (module >= 0)
		close(module);
	module = open(ko, O_RDONLY | O_CLOEXEC);
	return module >= 0;
}

static int load_module(void)
{
	return syscall(SYS_finit_module, module, "", 0) ? -errno : 0;
}

static int unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static int do_connect(void)
{
	struct message m = new_message(family, KDP_CMD_CONNECT);
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(4420) };

	inet_pton(AF_INET, address, &sin.sin_addr);
	put(&m, KDP_A_TRADDR, &sin, sizeof(sin));
	put_string(&m, KDP_A_SUBNQN, nqn);
	put_string(&m, KDP_A_HOSTNQN, "nqn.2014-08.org.nvmexpress:uuid:77000000-0000-4000-8000-000000000001");
	put(&m, KDP_A_HOSTID, "\x77\0\0\0\0\0\x40\0\x80\0\0\0\0\0\0\1", 16);
	put_u32(&m, KDP_A_INSTANCE, INSTANCE);
	put_u32(&m, KDP_A_QUEUE_SIZE, 16);
	put_u32(&m, KDP_A_NR_IO_QUEUES, 1);
	return talk(&m, NULL);
}

static int do_disconnect(void)
{
	struct message m = new_message(family, KDP_CMD_DISCONNECT);

	put_u32(&m, KDP_A_INSTANCE, INSTANCE);
	return talk(&m, NULL);
}

/* A read and a write by the disk, a read by the passthrough ioctl. */
static int do_io(void)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = 2, .nsid = 1, .addr = (uintptr_t)buffer, .data_len = 4096,
		.cdw12 = 4096 / 512 - 1,
	};
	int fd = open(DISK, O_RDWR | O_DIRECT | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (pread(fd, buffer, IO_BYTES, 0) != IO_BYTES || pwrite(fd, buffer, 4096, 8192) != 4096)
		rc = -errno;
	close(fd);
	fd = open(CHAR, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return rc ? rc : -errno;
	if (ioctl(fd, NVME_IOCTL_IO_CMD, &cmd))
		rc = rc ? rc : -EIO;
	close(fd);
	return rc;
}

static int read_at(int fd, uint64_t addr)
{
	struct nvme_passthru_cmd64 cmd = {
		.opcode = 2, .nsid = 1, .addr = addr, .data_len = 8192, .cdw12 = 8192 / 512 - 1,
	};
	int rc = ioctl(fd, NVME_IOCTL_IO64_CMD, &cmd);

	return rc < 0 ? -errno : rc ? -EIO : 0;
}

/* Somebody told the caller that he is at fault. */
static bool blamed;

/* Register @add, read into it, and remove it or leave that to close(). */
static int use_region(int fd, struct kdp_region_add *add, bool remove)
{
	struct kdp_region_del del;
	int rc;

	if (ioctl(fd, KDP_IOC_REGION_ADD, add)) {
		rc = -errno;
		if (rc == -EINVAL) {
			say("ADD blames its arguments: EINVAL");
			blamed = true;
		}
		return rc;
	}
	rc = read_at(fd, add->base);
	del = (struct kdp_region_del) { .base = add->base };
	if (remove && ioctl(fd, KDP_IOC_REGION_DEL, &del) && !rc)
		rc = -errno;
	return rc;
}

/* A region of memory, and one of a file's page cache. */
static int do_regions(void)
{
	struct kdp_region_add memory = {
		.addr = (uintptr_t)buffer, .length = IO_BYTES,
		.flags = KDP_REGION_SEND | KDP_REGION_RECEIVE,
	};
	struct kdp_region_add file = {
		.length = IO_BYTES, .flags = KDP_REGION_RECEIVE | KDP_REGION_FILE, .fd = memfd,
	};
	int fd = open(CHAR, O_RDWR | O_CLOEXEC), rc, err;

	if (fd < 0)
		return -errno;
	rc = use_region(fd, &memory, true);
	err = use_region(fd, &file, false);
	close(fd);
	return rc ? rc : err;
}

/* --- nothing is left ------------------------------------------------------------------------ */

static char calm[4096];
static bool look_each;
static int stride = 1, load_stride = 1;

/* ib_core keeps the CQs that in-tree drivers share; the other end is one of those. */
static void rdma_objects(char *text, size_t size)
{
	FILE *p = popen("{ rdma resource show | grep -oE '(qp|mr|pd|cm_id|ctx|srq) [0-9]+';"
			" rdma resource show cq | grep -vcF '[ib_core]'; } | paste -sd ' '", "r");
	size_t n = p ? fread(text, 1, size - 1, p) : 0;

	text[n] = 0;
	if (p)
		pclose(p);
}

static bool no_nodes(void)
{
	if (access("/dev/kdp7", F_OK) && access(DISK, F_OK) && access(CHAR, F_OK))
		return true;
	say("a node is left");
	return false;
}

static bool no_objects(void)
{
	char now[sizeof(calm)];

	/* the other end's teardown may take a moment */
	for (int tries = 0; tries < 200; tries++) {
		rdma_objects(now, sizeof(now));
		if (strcmp(now, calm) == 0)
			return true;
		usleep(100000);
	}
	say("RDMA objects: %s", now);
	say("were:         %s", calm);
	return false;
}

/*
 * After a pass. To look at the RDMA objects takes longer than a pass: what was lost in one
 * is still lost at the end of the walk. FAILURE_WALK_EACH=1 looks each time.
 */
static bool nothing_left(void)
{
	return no_nodes() && (!look_each || no_objects());
}

/* --- walking -------------------------------------------------------------------------------- */

struct tally {
	struct { int rc; unsigned int n; } of[16];
	unsigned int passes;
};

static void count(struct tally *tally, int rc)
{
	unsigned int i = 0;

	while (i < ARRAY_SIZE(tally->of) - 1 && tally->of[i].n && tally->of[i].rc != rc)
		i++;
	tally->of[i].rc = rc;
	tally->of[i].n++;
	tally->passes++;
}

static void tell(const char *name, const struct tally *tally, int step_by)
{
	char text[512];
	int len = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(tally->of) && tally->of[i].n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s %u", i ? ", " : "",
				tally->of[i].rc ? strerror(-tally->of[i].rc) : "none the wiser",
				tally->of[i].n);
	say("%s: %u failures%s; outcomes: %s", name, tally->passes,
	    step_by > 1 ? " (not every one was tried)" : "", len ? text : "none");
}

/*
 * One step, failing at ever later places. @prepare brings about what @step starts from,
 * @undo ends what there is after it (@rc: what it returned); both unharmed.
 */
struct walk {
	const char	*name;
	bool		(*prepare)(void);
	int		(*step)(void);
	bool		(*undo)(int rc);
};

static void walk(struct trap *trap, const struct walk *w, int step_by)
{
	struct tally tally = {};
	bool good = true, sprung = true;
	char name[128];
	int n, rc;

	for (n = 1; sprung && good && n < MOST; n += step_by) {
		alarm(PASS_SECONDS);
		if (w->prepare && !w->prepare()) {
			say("pass %d cannot begin", n);
			good = false;
			break;
		}
		trap->arm(trap, n);
		rc = w->step();
		sprung = trap->sprung(trap);
		if (!sprung && rc) {
			say("pass %d met no failure and ended with: %s", n, strerror(-rc));
			good = false;
		}
		if (sprung)
			count(&tally, rc);
		if (!w->undo(rc)) {
			say("after failure %d, which ended with: %s", n, rc ? strerror(-rc) : "success");
			good = false;
		}
	}
	good = good && !blamed;
	blamed = false;
	if (good && !no_objects()) {
		say("FAILURE_WALK_EACH=1 tells after which failure");
		good = false;
	}
	alarm(0);
	tell(w->name, &tally, step_by);
	snprintf(name, sizeof(name), "%s: every failure ends in order, and leaves nothing", w->name);
	point(good && !sprung, name);
	if (sprung && good)
		say("the walk did not come to an end");
}

/* --- allocations ------------------------------------------------------------------------------ */

static const char *core_ko, *host_ko;

static bool core_loaded(void) { return access("/sys/module/kdp_core", F_OK) == 0; }
static bool host_loaded(void) { return access("/sys/module/kdp_host", F_OK) == 0; }

static bool all_unloaded(void)
{
	if (host_loaded() && unload("kdp_host"))
		return false;
	return !core_loaded() || !unload("kdp_core");
}

static bool core_ready(void)
{
	return core_loaded() || (open_module(core_ko) && !load_module());
}

static bool all_ready(void)
{
	if (!core_ready() || (!host_loaded() && (!open_module(host_ko) || load_module())))
		return false;
	family = 0;
	return !find_family();
}

static bool core_to_load(void) { return open_module(core_ko); }
static bool host_to_load(void) { return core_ready() && open_module(host_ko); }

/* A module that failed to load is gone; one that loaded can be unloaded. */
static bool undo_load_core(int rc)
{
	return rc ? !core_loaded() : !unload("kdp_core");
}

static bool undo_load_host(int rc)
{
	return rc ? !host_loaded() : !unload("kdp_host");
}

/* The answer may be lost although the connect was made. */
static bool undo_connect(int rc)
{
	int err = do_disconnect();

	return (rc || !err) && (!err || err == -ENODEV) && nothing_left();
}

static bool connected(void) { return all_ready() && !do_connect(); }
static bool undo_io(int rc) { (void)rc; return !do_disconnect() && nothing_left(); }

static int set_mode(uint32_t mode)
{
	struct message m = new_message(family, KDP_CMD_SET);

	put_u32(&m, KDP_A_INSTANCE, INSTANCE);
	put_u32(&m, KDP_A_CQ_MODE, mode);
	return talk(&m, NULL);
}

/* Without a poller thread, which the other mode needs. */
static bool connected_without_thread(void) { return connected() && !set_mode(KDP_MODE_EVENT); }
static int do_set(void) { return set_mode(KDP_MODE_THREAD); }

/* Whichever mode it is in, it works. */
static bool undo_set(int rc) { return !do_io() && undo_io(rc); }

/* One that failed may have come to pass all the same. */
static bool undo_disconnect(int rc)
{
	int err = do_disconnect();

	return (err == -ENODEV || (rc && !err)) && nothing_left();
}

static int unload_both(void)
{
	int rc = unload("kdp_host");

	return rc ? rc : unload("kdp_core");
}

static bool undo_unload(int rc)
{
	(void)rc;
	return all_unloaded();
}

static void walk_allocations(void)
{
	static const struct walk walks[] = {
		{ "load kdp_core", core_to_load, load_module, undo_load_core },
		{ "load kdp_host", host_to_load, load_module, undo_load_host },
		{ "connect", all_ready, do_connect, undo_connect },
		{ "set", connected_without_thread, do_set, undo_set },
		{ "I/O", connected, do_io, undo_io },
		{ "regions", connected, do_regions, undo_io },
		{ "disconnect", connected, do_disconnect, undo_disconnect },
		{ "unload", all_ready, unload_both, undo_unload },
	};
	struct trap trap = { .arm = nth_arm, .sprung = nth_sprung };

	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		die("/proc/thread-self/fail-nth");
	for (unsigned int i = 0; i < ARRAY_SIZE(walks); i++) {
		int step_by = i < 2 ? load_stride : stride;

		/* little may fail there: all of it does */
		if (walks[i].step == do_set || walks[i].step == do_regions)
			step_by = 1;
		if (step_by)
			walk(&trap, &walks[i], step_by);
	}
}

/* --- fault points ------------------------------------------------------------------------------- */

/* The life of a connection. */
static int live(void)
{
	int rc = do_connect(), err;

	if (rc)
		return rc;
	rc = do_io();
	err = do_regions();
	rc = rc ? rc : err;
	err = do_disconnect();
	return rc ? rc : err;
}

static bool undo_live(int rc)
{
	(void)rc;
	return do_disconnect() == -ENODEV && nothing_left();
}

static void walk_points(int nr, char **names)
{
	struct trap trap = { .arm = point_arm, .sprung = point_sprung };

	if (find_family())
		die("the family kdp_host");
	for (int i = 0; i < nr; i++) {
		struct walk w = { names[i], NULL, live, undo_live };

		snprintf(trap.path, sizeof(trap.path), "/sys/kernel/debug/kdp/fault/%s", names[i]);
		walk(&trap, &w, stride);
	}
}

int main(int argc, char **argv)
{
	int dashes = 2;

	if (posix_memalign(&buffer, 4096, IO_BYTES))
		die("memory");
	memfd = memfd_create("walk", MFD_CLOEXEC);
	if (memfd < 0 || ftruncate(memfd, IO_BYTES))
		die("memfd");
	look_each = getenv("FAILURE_WALK_EACH");
	if (getenv("FAILURE_WALK_STRIDE"))
		stride = atoi(getenv("FAILURE_WALK_STRIDE"));
	if (getenv("FAILURE_WALK_LOAD_STRIDE"))
		load_stride = atoi(getenv("FAILURE_WALK_LOAD_STRIDE"));
	if (stride < 1 || load_stride < 0)
		die("FAILURE_WALK_STRIDE");
	open_socket();
	rdma_objects(calm, sizeof(calm));

	if (argc == 6 && !strcmp(argv[1], "alloc")) {
		core_ko = argv[2];
		host_ko = argv[3];
		address = argv[4];
		nqn = argv[5];
		walk_allocations();
		return points_failed ? 1 : 0;
	}
	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	if (argc > 2 && !strcmp(argv[1], "point") && argc == dashes + 3) {
		address = argv[dashes + 1];
		nqn = argv[dashes + 2];
		walk_points(dashes - 2, argv + 2);
		return points_failed ? 1 : 0;
	}
	fprintf(stderr, "usage: failure_walk alloc CORE_KO HOST_KO ADDRESS NQN\n"
			"       failure_walk point NAME... -- ADDRESS NQN\n");
	return 2;
}
