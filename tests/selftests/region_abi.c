// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registered regions, by the words of include/uapi/kdp/kdp_ioctl.h: each call used rightly
 * and wrongly, each field at its extremes, each errno that one can have here. What memory
 * there is is in region_memory.c, what may happen to a region in region_change.c.
 *
 *   region_abi CONTROLLER NAMESPACE NSID
 *
 * Needs root. Writes to the first MiB of the namespace.
 */
#include <sys/resource.h>

#include "region.h"

#define LEN		65536

static struct kdp_features features;

/* --- what there is --------------------------------------------------------------- */

static void test_features(void)
{
	struct kdp_features f, other;
	bool zero = true;
	void *ro = mapped(4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(&f, 0xff, sizeof(f));
	memset(&other, 0xff, sizeof(other));
	comes_back("FEATURES on the namespace", region_call(ns_fd, KDP_IOC_FEATURES, &f), 0);
	comes_back("FEATURES on the controller", region_call(ctrl_fd, KDP_IOC_FEATURES, &other), 0);
	for (size_t i = 0; i < ARRAY_SIZE(f.reserved); i++)
		zero &= !f.reserved[i];
	say("features 0x%llx, max_transfer %u, max_regions %u", (unsigned long long)f.features,
	    f.max_transfer, f.max_regions);
	point(!memcmp(&f, &other, sizeof(f)), "both say the same");
	point(zero, "reserved fields are 0");
	point((f.features & 15) == (KDP_FEATURE_REGION | KDP_FEATURE_REGION_FILE | KDP_FEATURE_URING |
				    KDP_FEATURE_URING_POLL), "regions, of files too, io_uring, polled too");
	point(f.max_transfer >= LEN && !(f.max_transfer % 4096) && f.max_regions,
	      "the limits can be true");
	comes_back("FEATURES at address 0", region_call(ns_fd, KDP_IOC_FEATURES, NULL), -EFAULT);
	comes_back("FEATURES to memory that is read-only", region_call(ns_fd, KDP_IOC_FEATURES, ro), -EFAULT);
	comes_back("a call of ours that is not there", region_call(ns_fd, _IO(KDP_IOC_MAGIC, 0x7f), NULL), -ENOTTY);
	comes_back("ADD with another size in its number",
		   region_call(ns_fd, _IOWR(KDP_IOC_MAGIC, 2, char[64]), &f), -ENOTTY);
	features = f;
}

static bool power_of_2(uint32_t n)
{
	return n && !(n & (n - 1));
}

static void test_add(int fd, const char *where)
{
	unsigned char *p = pages(LEN);
	struct kdp_region_info info;
	struct kdp_region_add add;
	char text[100];
	int rc;

	rc = region_add_file(fd, (uintptr_t)p, LEN, BOTH_WAYS, 0, &add);
	snprintf(text, sizeof(text), "ADD on the %s", where);
	comes_back(text, rc, 0);
	info = region_info(fd, (uintptr_t)p);
	say("%u memory regions, %u bytes an entry", add.mrs, add.page_size);
	snprintf(text, sizeof(text), "%s: it says how it is registered", where);
	point(add.base == (uintptr_t)p && add.mrs && power_of_2(add.page_size), text);
	snprintf(text, sizeof(text), "%s: LIST says the same", where);
	point(info.base == add.base && info.length == LEN && info.flags == BOTH_WAYS &&
	      info.mrs == add.mrs && info.page_size == add.page_size && !info.reserved && !info.uses, text);
	snprintf(text, sizeof(text), "DEL on the %s", where);
	comes_back(text, region_drop(fd, p), 0);
	snprintf(text, sizeof(text), "%s: it is gone", where);
	point(!region_count(fd) && region_drop(fd, p) == -ENOENT, text);
	munmap(p, LEN);
}

/* --- what is refused -------------------------------------------------------------- */

static void test_add_fields(void)
{
	unsigned char *p = pages(LEN);
	const struct kdp_region_add good = { .addr = (uintptr_t)p, .length = LEN, .flags = BOTH_WAYS };
	struct kdp_region_add add;
	char text[80];

#define REFUSED(name, want, ...) do {							\
	add = good;									\
	__VA_ARGS__;									\
	comes_back("ADD: " name, region_call(ns_fd, KDP_IOC_REGION_ADD, &add), want);	\
} while (0)
	REFUSED("length 0", -EINVAL, add.length = 0);
	REFUSED("neither SEND nor RECEIVE", -EINVAL, add.flags = 0);
	REFUSED("FILE alone", -EINVAL, add.flags = KDP_REGION_FILE);
	for (int bit = 3; bit < 32; bit++) {
		add = good;
		add.flags |= 1U << bit;
		snprintf(text, sizeof(text), "ADD: flag 0x%x", 1U << bit);
		comes_back(text, region_call(ns_fd, KDP_IOC_REGION_ADD, &add), -EINVAL);
	}
	for (int i = 0; i < 4; i++) {
		add = good;
		add.reserved[i] = 1ULL << 16 * i;
		snprintf(text, sizeof(text), "ADD: reserved field %d", i);
		comes_back(text, region_call(ns_fd, KDP_IOC_REGION_ADD, &add), -EINVAL);
	}
	REFUSED("base not 0", -EINVAL, add.base = 1);
	REFUSED("mrs not 0", -EINVAL, add.mrs = 1);
	REFUSED("page_size not 0", -EINVAL, add.page_size = 4096);
	REFUSED("a file without FILE", -EINVAL, add.fd = ns_fd);
	REFUSED("file -1 without FILE", -EINVAL, add.fd = -1);
	REFUSED("the range wraps", -EOVERFLOW, add.addr = -4096ULL, add.length = 8192);
	REFUSED("the longest range", -EOVERFLOW, add.length = ~0ULL);
	REFUSED("the last address, two bytes", -EOVERFLOW, add.addr = ~0ULL, add.length = 2);
	REFUSED("address 0", -EFAULT, add.addr = 0);
	REFUSED("a kernel address", -EFAULT, add.addr = 0xffff888000000000);
	REFUSED("an address that is none", -EFAULT, add.addr = 1ULL << 63);
	REFUSED("the most that does not wrap", -EFAULT, add.addr = 4096, add.length = -8192ULL);
	REFUSED("more than there are addresses for", -EFAULT, add.length = 1ULL << 58);
#undef REFUSED
	comes_back("ADD at address 0", region_call(ns_fd, KDP_IOC_REGION_ADD, NULL), -EFAULT);
	comes_back("ADD half behind a mapping",
		   region_call(ns_fd, KDP_IOC_REGION_ADD, guarded(4096) + 4096 - 40), -EFAULT);
	point(!region_count(ns_fd), "ADD: what is refused leaves nothing");
	munmap(p, LEN);
}

/* Its answer cannot be stored: then there is no region, or one that can be deleted. */
static void test_add_read_only(void)
{
	unsigned char *p = pages(LEN);
	struct kdp_region_add *ro = (void *)guarded(4096);

	*ro = (struct kdp_region_add){ .addr = (uintptr_t)p, .length = LEN, .flags = BOTH_WAYS };
	mprotect(ro, 4096, PROT_READ);
	comes_back("ADD whose answer cannot be stored", region_call(ns_fd, KDP_IOC_REGION_ADD, ro), -EFAULT);
	point(!region_count(ns_fd), "it leaves no region");
	munmap(p, LEN);
}

static void test_overlap(void)
{
	unsigned char *p = pages(4 * LEN);
	const struct { const char *name; unsigned char *at; uint64_t length; int want; } cases[] = {
		{ "the same", p + LEN, LEN, -EEXIST },
		{ "its first byte", p + LEN, 1, -EEXIST },
		{ "its last byte", p + 2 * LEN - 1, 1, -EEXIST },
		{ "over its begin", p + LEN - 4, 8, -EEXIST },
		{ "over its end", p + 2 * LEN - 4, 8, -EEXIST },
		{ "around it", p, 4 * LEN, -EEXIST },
		{ "inside it", p + LEN + 4096, 4096, -EEXIST },
		{ "right before it", p, LEN, 0 },
		{ "right behind it", p + 2 * LEN, LEN, 0 },
	};
	char text[80];

	if (region_add(ns_fd, p + LEN, LEN, BOTH_WAYS))
		die("ADD for the overlap");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "ADD: %s", cases[i].name);
		comes_back(text, region_add(ns_fd, cases[i].at, cases[i].length, KDP_REGION_SEND), cases[i].want);
	}
	point(region_count(ns_fd) == 3, "there are three");

	/* a command in two of them is in none */
	served("a command across two regions", region_io(ns_fd, IO_READ, 0, (uintptr_t)p + LEN - 4096, 8192,
							 (uintptr_t)p + LEN), 0);
	region_drop(ns_fd, p);
	region_drop(ns_fd, p + LEN);
	region_drop(ns_fd, p + 2 * LEN);

	/* bytes, not pages, are what regions are made of */
	comes_back("ADD: half a page", region_add(ns_fd, p, 2048, BOTH_WAYS), 0);
	comes_back("ADD: its other half", region_add(ns_fd, p + 2048, 2048, BOTH_WAYS), 0);
	served("a command in the first half", region_io(ns_fd, IO_READ, 0, (uintptr_t)p, 2048, (uintptr_t)p), 1);
	served("a command in both", region_io(ns_fd, IO_READ, 0, (uintptr_t)p, 4096, (uintptr_t)p), 0);
	region_drop(ns_fd, p);
	region_drop(ns_fd, p + 2048);
	comes_back("ADD: one byte", region_add(ns_fd, p + 77, 1, BOTH_WAYS), 0);
	region_drop(ns_fd, p + 77);
	munmap(p, 4 * LEN);
}

static void test_del(void)
{
	unsigned char *p = pages(LEN);
	struct kdp_region_del del;
	char text[60];

	if (region_add(ns_fd, p, LEN, BOTH_WAYS))
		die("ADD for DEL");
	comes_back("DEL in its middle", region_drop(ns_fd, p + 4096), -ENOENT);
	comes_back("DEL of its second byte", region_drop(ns_fd, p + 1), -ENOENT);
	comes_back("DEL behind it", region_drop(ns_fd, p + LEN), -ENOENT);
	comes_back("DEL of address 0", region_del(ns_fd, 0), -ENOENT);
	comes_back("DEL of the last address", region_del(ns_fd, ~0ULL), -ENOENT);
	comes_back("DEL of a file's address", region_del(ns_fd, 1ULL << 63), -ENOENT);
	for (int i = 0; i < 3; i++) {
		del = (struct kdp_region_del){ .base = (uintptr_t)p };
		del.reserved[i] = 1ULL << 63;
		snprintf(text, sizeof(text), "DEL: reserved field %d", i);
		comes_back(text, region_call(ns_fd, KDP_IOC_REGION_DEL, &del), -EINVAL);
	}
	comes_back("DEL at address 0", region_call(ns_fd, KDP_IOC_REGION_DEL, NULL), -EFAULT);
	point(region_count(ns_fd) == 1, "DEL: what is refused deletes nothing");
	comes_back("DEL", region_drop(ns_fd, p), 0);
	munmap(p, LEN);
}

static void test_list(void)
{
	unsigned char *p = pages(8 * 4096);
	struct kdp_region_info *infos = (void *)guarded(4 * sizeof(*infos)), empty;
	struct kdp_region_list list;
	bool sorted;

	memset(&empty, GUARD, sizeof(empty));
	for (int i = 3; i >= 0; i--)
		if (region_add(ns_fd, p + 8192 * i, 4096, KDP_REGION_SEND))
			die("ADD for LIST");
#define LIST(name, want, ...) do {							\
	list = (struct kdp_region_list){ .infos = (uintptr_t)infos, .nr = 4 };		\
	__VA_ARGS__;									\
	comes_back("LIST: " name, region_call(ns_fd, KDP_IOC_REGION_LIST, &list), want);	\
} while (0)
	LIST("no array", 0, list.infos = 0, list.nr = 0);
	point(list.nr == 4, "LIST: how many there are");
	LIST("room for two", 0, list.nr = 2);
	point(list.nr == 4 && infos[1].base == (uintptr_t)p + 8192 && !memcmp(&infos[2], &empty, sizeof(empty)),
	      "LIST: the first two, and how many there are");
	LIST("all", 0);
	sorted = list.nr == 4;
	for (int i = 0; i < 4; i++)
		sorted &= infos[i].base == (uintptr_t)p + 8192 * i && infos[i].length == 4096 &&
			  infos[i].flags == KDP_REGION_SEND && infos[i].mrs;
	point(sorted, "LIST: by address");
	LIST("room for more than there are", 0, list.nr = 0xffffffff);
	point(list.nr == 4, "LIST: how many there are");
	LIST("an array that is not there", -EFAULT, list.infos = 4096);
	LIST("an array in the kernel", -EFAULT, list.infos = 0xffff888000000000);
	LIST("an array half behind a mapping", -EFAULT, list.infos += 2 * sizeof(*infos));
	LIST("first reserved field", -EINVAL, list.reserved0 = 1);
	LIST("second reserved field", -EINVAL, list.reserved[0] = 1);
	LIST("third reserved field", -EINVAL, list.reserved[1] = 1ULL << 63);
#undef LIST
	comes_back("LIST at address 0", region_call(ns_fd, KDP_IOC_REGION_LIST, NULL), -EFAULT);
	for (int i = 0; i < 4; i++)
		region_drop(ns_fd, p + 8192 * i);
	munmap(p, 8 * 4096);
}

/* --- rights ----------------------------------------------------------------------- */

static void test_directions(void)
{
	unsigned char *p = pages(LEN);
	const uint64_t base = (uintptr_t)p;
	const unsigned char *data;

	if (region_add(ns_fd, p, LEN, KDP_REGION_SEND))
		die("ADD with SEND");
	fill(p, 4096, 11);
	served("SEND: a write uses it", region_io(ns_fd, IO_WRITE, 0, base, 4096, base), 1);
	point(!memcmp(blocks_hold(0, 4096), p, 4096), "SEND: and its bytes arrive");
	data = put_blocks(0, 4096, 12);
	served("SEND: a read does not use it", region_io(ns_fd, IO_READ, 0, base, 4096, base), 0);
	point(!memcmp(p, data, 4096), "SEND: and its bytes arrive");
	region_drop(ns_fd, p);

	if (region_add(ns_fd, p, LEN, KDP_REGION_RECEIVE))
		die("ADD with RECEIVE");
	data = put_blocks(0, 4096, 13);
	served("RECEIVE: a read uses it", region_io(ns_fd, IO_READ, 0, base, 4096, base), 1);
	point(!memcmp(p, data, 4096), "RECEIVE: and its bytes arrive");
	fill(p, 4096, 14);
	served("RECEIVE: a write does not use it", region_io(ns_fd, IO_WRITE, 0, base, 4096, base), 0);
	point(!memcmp(blocks_hold(0, 4096), p, 4096), "RECEIVE: and its bytes arrive");
	region_drop(ns_fd, p);
	munmap(p, LEN);
}

/* What a command is refused for without a region it is refused for with one. */
static void test_commands(void)
{
	unsigned char *p = guarded(LEN);
	const uint64_t base = (uintptr_t)p;
	struct nvme_passthru_cmd64 c;

	if (region_add(ns_fd, p, LEN, BOTH_WAYS))
		die("ADD for commands");
	comes_back("in a region: a length that is not NLB's", io64(ns_fd, rw64(IO_READ, 0, 8, p, 8192)), -EINVAL);
	comes_back("in a region: half a dword", io64(ns_fd, rw64(IO_READ, 0, 8, p, 4094)), -EINVAL);
	comes_back("in a region: Flush with data", io64(ns_fd, rw64(IO_FLUSH, 0, 1, p, 4096)), -EINVAL);
	comes_back("in a region: read beyond the end", io64(ns_fd, rw64(IO_READ, blocks, 4096 / block, p, 4096)),
		   NVME_STATUS);
	c = rw64(IO_READ, 0, 4096 / block, p, 4096);
	c.nsid++;
	comes_back("in a region: another namespace's number", io64(ns_fd, c), -EINVAL);
	point(all_bytes(p, LEN, GUARD), "in a region: what is refused leaves it alone");
	served("in a region: its last block", region_io(ns_fd, IO_READ, 0, base + LEN - 512, 512, base), 1);
	comes_back("over a region's and the mapping's end",
		   io64(ns_fd, rw64(IO_READ, 0, 8192 / block, p + LEN - 4096, 8192)), -EFAULT);
	comes_back("an address of files, without one",
		   io64(ns_fd, rw64(IO_READ, 0, 4096 / block, (void *)(1UL << 63), 4096)), -EFAULT);
	region_drop(ns_fd, p);
	munmap(p, LEN);
}

/* --- openers, processes ------------------------------------------------------------- */

static void test_openers(void)
{
	unsigned char *p = pages(LEN);
	int other = open(ns_path, O_RDWR);
	struct outcome o;

	if (other < 0 || region_add(ns_fd, p, LEN, BOTH_WAYS))
		die("ADD for two openers");
	point(!region_count(other), "another opener has no region");
	comes_back("nor can he delete it", region_drop(other, p), -ENOENT);
	o.rc = io64(other, rw64(IO_READ, 0, 4096 / block, p, 4096));
	o.uses = region_uses(ns_fd, (uintptr_t)p);
	served("his command does not use it", o, 0);
	comes_back("he may add the same memory", region_add(other, p, LEN, BOTH_WAYS), 0);
	served("then his command uses his", region_io(other, IO_READ, 0, (uintptr_t)p, 4096, (uintptr_t)p), 1);
	point(!region_uses(ns_fd, (uintptr_t)p), "and not the first one's");
	close(other);
	point(region_info(ns_fd, (uintptr_t)p).mrs, "when he closes the first one's stays");
	region_drop(ns_fd, p);
	munmap(p, LEN);
}

/* In a child: the file is the parent's, the memory a copy. */
static void child(unsigned char *p)
{
	const uint64_t base = (uintptr_t)p;

	points_failed = 0;
	point(!region_count(ns_fd), "a child has no region");
	comes_back("nor can it delete the parent's", region_drop(ns_fd, p), -ENOENT);
	memset(p, 0x11, 4096);
	comes_back("it writes from the same address", io64(ns_fd, rw64(IO_WRITE, 0, 4096 / block, p, 4096)), 0);
	point(all_bytes(blocks_hold(0, 4096), 4096, 0x11), "what it has there, not what the parent has");
	put_blocks(0, 4096, 21);
	comes_back("it reads to the same address", io64(ns_fd, rw64(IO_READ, 0, 4096 / block, p, 4096)), 0);
	comes_back("it may add that address", region_add(ns_fd, p, LEN, BOTH_WAYS), 0);
	memset(p, 0x22, 4096);
	served("and uses it", region_io(ns_fd, IO_WRITE, 0, base, 4096, base), 1);
	point(all_bytes(blocks_hold(0, 4096), 4096, 0x22), "its own bytes");
	_exit(points_failed ? 1 : 0);
}

static void test_fork(void)
{
	unsigned char *p = pages(LEN);
	const uint64_t base = (uintptr_t)p;
	int status;
	pid_t pid;

	if (region_add(ns_fd, p, LEN, BOTH_WAYS))
		die("ADD for a child");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		child(p);
	patience();
	if (waitpid(pid, &status, 0) != pid || status)
		points_failed++;
	point(all_bytes(p, LEN, GUARD), "what the child did is not in the parent's memory");
	point(!region_uses(ns_fd, base), "nor did it use the parent's region");
	memset(p, 0x33, 4096);
	served("the parent's still works", region_io(ns_fd, IO_WRITE, 0, base, 4096, base), 1);
	point(all_bytes(blocks_hold(0, 4096), 4096, 0x33), "with the parent's bytes");
	region_drop(ns_fd, p);
	munmap(p, LEN);
}

/* After exec the process is another one: its addresses are not those of the region. */
static int after_exec(char **argv)
{
	unsigned char *p;

	open_devices(argv);
	close(ns_fd);
	ns_fd = atoi(argv[3]);
	p = (void *)strtoul(argv[4], NULL, 0);
	learn_geometry();
	point(!region_count(ns_fd), "after exec there is no region");
	comes_back("none can be deleted", region_drop(ns_fd, p), -ENOENT);
	p = mmap(p, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != MAP_FAILED) {
		memset(p, 0x44, LEN);
		comes_back("after exec: write from the same address",
			   io64(ns_fd, rw64(IO_WRITE, 0, 4096 / block, p, 4096)), 0);
		point(all_bytes(blocks_hold(0, 4096), 4096, 0x44), "what is there now");
	}
	comes_back("after exec: ADD", region_add(ns_fd, pages(LEN), LEN, BOTH_WAYS), 0);
	return points_failed ? 1 : 0;
}

static void test_exec(void)
{
	unsigned char *p = pages(LEN);
	char id_text[16], fd_text[16], addr_text[32];
	int status, fd = open(ns_path, O_RDWR);
	pid_t pid;

	if (fd < 0)
		die("open %s", ns_path);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		if (region_add(fd, p, LEN, BOTH_WAYS))
			die("ADD before exec");
		snprintf(id_text, sizeof(id_text), "%u", nsid);
		snprintf(fd_text, sizeof(fd_text), "%d", fd);
		snprintf(addr_text, sizeof(addr_text), "%p", p);
		execl("/proc/self/exe", "region_abi", "--after-exec", ctrl_path, ns_path, id_text, fd_text,
		      addr_text, NULL);
		_exit(2);
	}
	patience();
	if (waitpid(pid, &status, 0) != pid || status > 0x100)
		point(false, "the program after exec runs to its end");
	else if (status)
		points_failed++;
	close(fd);
	munmap(p, LEN);
}

/* --- limits ------------------------------------------------------------------------- */

static void limit_memlock(rlim_t bytes)
{
	struct rlimit limit = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("RLIMIT_MEMLOCK %lu", (unsigned long)bytes);
}

static void nobody(void)
{
	int fd = open(ns_path, O_RDWR), ro = open(ns_path, O_RDONLY);
	unsigned char *p = pages(4 * LEN);
	const uint64_t base = (uintptr_t)p;

	if (fd < 0 || ro < 0)
		die("open the nodes as nobody");
	comes_back("nobody: ADD over RLIMIT_MEMLOCK", region_add(fd, p, LEN + 4096, BOTH_WAYS), -ENOMEM);
	comes_back("nobody: ADD of as much as it is", region_add(fd, p, LEN, BOTH_WAYS), 0);
	comes_back("nobody: ADD of a page more", region_add(fd, p + LEN, 4096, BOTH_WAYS), -ENOMEM);
	comes_back("nobody: ADD of a page more by another opener", region_add(ro, p + LEN, 4096, BOTH_WAYS), -ENOMEM);
	served("nobody: a command uses it", region_io(fd, IO_READ, 0, base, 4096, base), 1);
	comes_back("nobody: DEL", region_drop(fd, p), 0);
	comes_back("nobody: ADD of another", region_add(ro, p + LEN, LEN, BOTH_WAYS), 0);
	comes_back("nobody: write from it by a read-only descriptor",
		   io64(ro, rw64(IO_WRITE, 0, 4096 / block, p + LEN, 4096)), -EACCES);
	served("nobody: read to it by a read-only descriptor",
	       region_io(ro, IO_READ, 0, base + LEN, 4096, base + LEN), 1);
	close(ro);
	comes_back("nobody: ADD after the close", region_add(fd, p, LEN, BOTH_WAYS), 0);
	close(fd);
	fd = open(ns_path, O_RDWR);
	limit_memlock(0);
	comes_back("nobody: ADD with RLIMIT_MEMLOCK 0", region_add(fd, p, 4096, BOTH_WAYS), -EPERM);
}

static void test_limits(void)
{
	unsigned char *p = pages(LEN);

	limit_memlock(0);
	comes_back("root: ADD with RLIMIT_MEMLOCK 0", region_add(ns_fd, p, LEN, BOTH_WAYS), 0);
	region_drop(ns_fd, p);
	limit_memlock(LEN);
	as_nobody(nobody);
	limit_memlock(1 << 23);
	munmap(p, LEN);
}

static void test_max(void)
{
	unsigned int n = features.max_regions, added = 0;
	int fd = open(ns_path, O_RDWR), rc = 0;
	unsigned char *p;

	if (fd < 0)
		die("open %s", ns_path);
	if (n > 4096) {
		say("max_regions is %u: not tried", n);
		close(fd);
		return;
	}
	p = pages(4096UL * (n + 1));
	for (; added < n && !rc; added += !rc)
		rc = region_add(fd, p + 4096UL * added, 4096, KDP_REGION_SEND);
	if (rc)
		say("%u of %u", added, n);
	comes_back("as many regions as there may be", rc, 0);
	comes_back("one more", region_add(fd, p + 4096UL * n, 4096, KDP_REGION_SEND), -ENOSPC);
	if (region_drop(fd, p))
		die("DEL of the first of many");
	comes_back("one more, after one went", region_add(fd, p + 4096UL * n, 4096, KDP_REGION_SEND), 0);
	point(region_count(fd) == (int)n, "LIST says so");
	close(fd);
	munmap(p, 4096UL * (n + 1));
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "--after-exec"))
		return after_exec(argv + 2);
	if (argc != 4) {
		fprintf(stderr, "usage: region_abi CONTROLLER NAMESPACE NSID\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	test_features();
	test_add(ns_fd, "namespace");
	test_add(ctrl_fd, "controller");
	test_add_fields();
	test_add_read_only();
	test_overlap();
	test_del();
	test_list();
	test_directions();
	test_commands();
	test_openers();
	test_fork();
	test_exec();
	test_limits();
	test_max();
	return points_failed ? 1 : 0;
}
