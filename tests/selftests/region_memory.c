// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registered regions of memory and files of all kinds: which can be had with which rights,
 * and data both ways through those that can.
 *
 *   region_memory CONTROLLER NAMESPACE NSID [tmpfs|FILESYSTEM]:DIRECTORY...
 *   region_memory --unreadable FILE CONTROLLER NAMESPACE NSID
 *
 * Of a tmpfs regions can receive, of other filesystems they can only send. Needs root.
 * Writes to the first MiB of the namespace.
 */
#include "region.h"
#include "uring.h"

#define LEN		(1 << 20)
#define PIECE		65536
#define HUGE		(2 << 20)

#ifndef MFD_HUGETLB
#define MFD_HUGETLB	4U
#endif

static struct io_uring ring;

static void pt(bool good, const char *kind, const char *what)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", kind, what);
	point(good, text);
}

static void back(const char *kind, const char *what, int rc, int want)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", kind, what);
	comes_back(text, rc, want);
}

static void use(const char *kind, const char *what, struct outcome o, int uses)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", kind, what);
	served(text, o, uses);
}

static struct outcome ring_io(uint8_t opcode, uint64_t slba, uint64_t addr, uint32_t len, uint64_t base)
{
	struct nvme_passthru_cmd64 c = rw64(opcode, slba, len / block, (void *)(uintptr_t)addr, len);
	uint64_t before = region_uses(ns_fd, base);
	struct outcome o;

	o.rc = ring_one(&ring, ns_fd, NVME_URING_CMD_IO, &c, NULL);
	o.uses = (int)(region_uses(ns_fd, base) - before);
	return o;
}

/* --- data through a region ------------------------------------------------------- */

/*
 * The region at @base has @len bytes; @memory leads to the same bytes, whichever way. Places:
 * its begin, its end, a page's middle, a dword's begin and a byte's.
 */
static void data_both_ways(const char *kind, uint64_t base, unsigned char *memory, size_t len, uint32_t flags)
{
	const size_t places[] = { 0, len - 4096, 6144, 4, 8193 };
	bool good = true, kept = true;
	size_t piece = len < PIECE ? len : PIECE;
	struct outcome o;

	for (size_t i = 0; i < ARRAY_SIZE(places) && (flags & KDP_REGION_SEND); i++) {
		size_t at = places[i], n = at + piece <= len ? piece : 4096;

		o = i % 2 ? ring_io(IO_WRITE, 0, base + at, n, base) :
			    region_io(ns_fd, IO_WRITE, 0, base + at, n, base);
		if (o.rc || o.uses != 1 || memcmp(blocks_hold(0, n), memory + at, n)) {
			say("write from offset %zu: %d, used %d times", at, o.rc, o.uses);
			good = false;
		}
	}
	if (flags & KDP_REGION_SEND)
		pt(good, kind, "commands that write use it, and its bytes arrive");
	good = true;
	for (size_t i = 0; i < ARRAY_SIZE(places) && (flags & KDP_REGION_RECEIVE); i++) {
		size_t at = places[i], n = at + piece <= len ? piece : 4096;
		const unsigned char *data = put_blocks(0, n, at + i);
		unsigned char before = at ? memory[at - 1] : 0, behind = at + n < len ? memory[at + n] : 0;

		o = i % 2 ? ring_io(IO_READ, 0, base + at, n, base) :
			    region_io(ns_fd, IO_READ, 0, base + at, n, base);
		if (o.rc || o.uses != 1 || memcmp(memory + at, data, n)) {
			say("read to offset %zu: %d, used %d times", at, o.rc, o.uses);
			good = false;
		}
		kept &= (!at || memory[at - 1] == before) && (at + n >= len || memory[at + n] == behind);
	}
	if (flags & KDP_REGION_RECEIVE) {
		pt(good, kind, "commands that read use it, and their bytes arrive");
		pt(kept, kind, "and nowhere else");
	}
}

/* Memory that can be had with @flags, and no more. */
static void memory(const char *kind, unsigned char *p, size_t len, uint32_t flags)
{
	struct kdp_region_add add;
	int rc = region_add_file(ns_fd, (uintptr_t)p, len, flags, 0, &add);

	back(kind, "ADD", rc, 0);
	if (rc)
		return;
	say("%s: %u memory regions, %u bytes an entry", kind, add.mrs, add.page_size);
	data_both_ways(kind, add.base, p, len, flags);
	back(kind, "DEL", region_del(ns_fd, add.base), 0);
}

static void no_memory(const char *kind, const void *p, size_t len, uint32_t flags, int want)
{
	back(kind, flags & KDP_REGION_RECEIVE ? "ADD to receive" : "ADD to send",
	     region_add(ns_fd, p, len, flags), want);
}

/* Refused as the one or the other: both hold. */
static void no_memory_either(const char *kind, const void *p, size_t len, uint32_t flags)
{
	int rc = region_add(ns_fd, p, len, flags);

	say_result(kind, rc);
	pt(rc == -EFAULT || rc == -EOPNOTSUPP, kind, "ADD to receive is refused");
}

/* --- anonymous ---------------------------------------------------------------------- */

static unsigned char *aligned(size_t len, size_t to)
{
	unsigned char *p = mapped(len + to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	return p + (to - (uintptr_t)p % to) % to;
}

static void anonymous(void)
{
	unsigned char *p = pages(LEN), *q;
	int zero = open("/dev/zero", O_RDWR);

	fill(p, LEN, 1);
	memory("anonymous", p, LEN, BOTH_WAYS);
	memory("anonymous, off its page", p + 100, LEN - 200, BOTH_WAYS);

	memory("anonymous, never touched",
	       mapped(LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1), LEN, BOTH_WAYS);
	q = mapped(LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	fill(q, LEN, 2);
	memory("anonymous, shared", q, LEN, BOTH_WAYS);

	q = mapped(LEN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memory("read-only, never touched", q, LEN, KDP_REGION_SEND);
	no_memory("read-only, never touched", q, LEN, KDP_REGION_RECEIVE, -EFAULT);
	mprotect(p, LEN, PROT_READ);
	memory("read-only", p, LEN, KDP_REGION_SEND);
	no_memory("read-only", p, LEN, KDP_REGION_RECEIVE, -EFAULT);
	no_memory("read-only", p, LEN, BOTH_WAYS, -EFAULT);
	mprotect(p, LEN, PROT_NONE);
	no_memory("PROT_NONE", p, LEN, KDP_REGION_SEND, -EFAULT);
	no_memory("PROT_NONE", p, LEN, KDP_REGION_RECEIVE, -EFAULT);

	if (zero < 0)
		die("open /dev/zero");
	memory("/dev/zero, private", mapped(LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero), LEN, BOTH_WAYS);
	memory("/dev/zero, shared", mapped(LEN, PROT_READ | PROT_WRITE, MAP_SHARED, zero), LEN, BOTH_WAYS);
	close(zero);

	q = pages(LEN);
	munmap(q + LEN / 2, 4096);
	no_memory("a hole", q, LEN, KDP_REGION_SEND, -EFAULT);
	no_memory("a hole", q, LEN, BOTH_WAYS, -EFAULT);
	memory("up to a hole", q, LEN / 2, BOTH_WAYS);
	munmap(q, LEN / 2);
	no_memory("nothing before", q + LEN / 2 - 4096, LEN / 2, KDP_REGION_SEND, -EFAULT);
	no_memory("a page that cannot be read at its end", guarded(4096), 8192, KDP_REGION_SEND, -EFAULT);
}

static void huge(void)
{
	unsigned char *p = aligned(2 * HUGE, HUGE);
	struct kdp_region_add add;
	int fd;

	if (madvise(p, 2 * HUGE, MADV_HUGEPAGE))
		say("no transparent huge pages here");
	fill(p, 2 * HUGE, 3);
	memory("transparent huge pages", p, 2 * HUGE, BOTH_WAYS);
	memory("part of huge pages", p + HUGE - 12288, 24576, BOTH_WAYS);

	p = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p == MAP_FAILED) {
		say("no hugetlb pages here");
		return;
	}
	fill(p, 2 * HUGE, 4);
	if (!region_add_file(ns_fd, (uintptr_t)p, 2 * HUGE, BOTH_WAYS, 0, &add)) {
		say("hugetlb: %u memory regions, %u bytes an entry", add.mrs, add.page_size);
		pt(add.page_size > 4096 && add.mrs == 1, "hugetlb", "an entry covers more than a small page");
		region_del(ns_fd, add.base);
	}
	memory("hugetlb", p, 2 * HUGE, BOTH_WAYS);
	munmap(p, 2 * HUGE);

	fd = memfd_create("huge", MFD_HUGETLB);
	if (fd < 0 || ftruncate(fd, 2 * HUGE))
		return;
	p = mapped(2 * HUGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	memory("hugetlb memfd", p, 2 * HUGE, BOTH_WAYS);
	if (!region_add_file(ns_fd, 0, 2 * HUGE, BOTH_WAYS | KDP_REGION_FILE, fd, &add)) {
		data_both_ways("hugetlb memfd as a file", add.base, p, 2 * HUGE, BOTH_WAYS);
		back("hugetlb memfd as a file", "DEL", region_del(ns_fd, add.base), 0);
	}
	munmap(p, 2 * HUGE);
	close(fd);
}

/* Memory of a device, wherever this machine has some. */
static void device(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	char line[300];
	void *p;
	int fd = open("/dev/mem", O_RDWR);

	if (fd >= 0) {
		p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0xf0000);
		if (p != MAP_FAILED) {
			no_memory("/dev/mem", p, 65536, KDP_REGION_SEND, -EOPNOTSUPP);
			no_memory("/dev/mem", p, 65536, BOTH_WAYS, -EOPNOTSUPP);
			munmap(p, 65536);
		}
		close(fd);
	}
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[vvar]") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
			no_memory("the kernel's clock page", (void *)begin, 4096, KDP_REGION_SEND, -EOPNOTSUPP);
	if (maps)
		fclose(maps);
}

/* --- files -------------------------------------------------------------------------- */

static int make_file(const char *dir, const char *name, unsigned int seed)
{
	unsigned char *data = malloc(LEN);
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (!data || fd < 0)
		die("create %s", path);
	fill(data, LEN, seed);
	if (write(fd, data, LEN) != LEN || fsync(fd))
		die("write %s", path);
	free(data);
	return fd;
}

static void file_mapping(const char *fs, int fd, bool receives)
{
	unsigned char *shared = mapped(LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	unsigned char *ro = mapped(LEN, PROT_READ, MAP_SHARED, fd);
	unsigned char *private = mapped(LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	unsigned char *both, byte;
	char kind[80];

	snprintf(kind, sizeof(kind), "%s, shared mapping", fs);
	memory(kind, shared, LEN, receives ? BOTH_WAYS : KDP_REGION_SEND);
	if (!receives) {
		no_memory(kind, shared, LEN, KDP_REGION_RECEIVE, -EOPNOTSUPP);
		no_memory(kind, shared, LEN, BOTH_WAYS, -EOPNOTSUPP);
	}
	shared[5] = 0x77;
	snprintf(kind, sizeof(kind), "%s, read-only mapping", fs);
	memory(kind, ro, LEN, KDP_REGION_SEND);
	no_memory_either(kind, ro, LEN, KDP_REGION_RECEIVE);

	/* such memory is the process' own as soon as it is written to */
	snprintf(kind, sizeof(kind), "%s, private mapping", fs);
	memory(kind, private, LEN, BOTH_WAYS);
	if (pread(fd, &byte, 1, 5) != 1)
		die("read back");
	pt(byte == 0x77 && shared[5] == 0x77, kind, "what is received is not in the file");

	/* the first half is anonymous, the second the file's */
	snprintf(kind, sizeof(kind), "%s, half of it", fs);
	both = pages(2 * LEN);
	if (mmap(both + LEN, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		die("mmap");
	memory(kind, both, 2 * LEN, receives ? BOTH_WAYS : KDP_REGION_SEND);
	if (!receives)
		no_memory(kind, both, 2 * LEN, BOTH_WAYS, -EOPNOTSUPP);
	munmap(both, 2 * LEN);
	munmap(shared, LEN);
	munmap(ro, LEN);
	munmap(private, LEN);
}

static int add_range(int file, uint64_t offset, uint64_t length, uint32_t flags, struct kdp_region_add *add)
{
	return region_add_file(ns_fd, offset, length, flags | KDP_REGION_FILE, file, add);
}

static void file_range(const char *fs, int fd, bool receives)
{
	const uint32_t flags = receives ? BOTH_WAYS : KDP_REGION_SEND;
	unsigned char *map = mapped(LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd), *text;
	struct kdp_region_add add, twice;
	char kind[80];
	int rc;

	/* out of the page cache with it: the call reads it in */
	snprintf(kind, sizeof(kind), "%s, a range", fs);
	munmap(map, LEN);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	rc = add_range(fd, 0, LEN, flags, &add);
	map = mapped(LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	back(kind, "ADD", rc, 0);
	if (rc)
		goto out;
	pt(add.base >> 63 && add.mrs && region_info(ns_fd, add.base).flags == (flags | KDP_REGION_FILE), kind,
	   "its address is one that no memory has");
	data_both_ways(kind, add.base, map, LEN, flags);
	back(kind, "the same again", add_range(fd, 0, LEN, flags, &twice), 0);
	pt(twice.base != add.base, kind, "has an address of its own");
	use(kind, "a command uses it", region_io(ns_fd, IO_WRITE, 0, twice.base, 4096, twice.base), 1);
	back(kind, "DEL of the one", region_del(ns_fd, twice.base), 0);

	/* beyond it there is nothing */
	back(kind, "over its end", io64(ns_fd, rw64(IO_WRITE, 0, 8192 / block,
						    (void *)(uintptr_t)(add.base + LEN - 4096), 8192)), -EFAULT);
	back(kind, "before its begin", io64(ns_fd, rw64(IO_WRITE, 0, 8192 / block,
							(void *)(uintptr_t)(add.base - 4096), 8192)), -EFAULT);

	/* what is written to the file is what is sent */
	text = pages(4096);
	memset(text, 0x5e, 4096);
	if (pwrite(fd, text, 4096, 8192) != 4096)
		die("pwrite");
	use(kind, "sent after a write to the file", region_io(ns_fd, IO_WRITE, 0, add.base + 8192, 4096, add.base), 1);
	pt(all_bytes(blocks_hold(0, 4096), 4096, 0x5e), kind, "what was written is sent");
	memset(map + 8192, 0x6f, 4096);
	use(kind, "sent after a write to the mapping",
	    region_io(ns_fd, IO_WRITE, 0, add.base + 8192, 4096, add.base), 1);
	pt(all_bytes(blocks_hold(0, 4096), 4096, 0x6f), kind, "what was written is sent");
	if (receives) {
		const unsigned char *data = put_blocks(0, 4096, 99);

		use(kind, "received", region_io(ns_fd, IO_READ, 0, add.base + 12288, 4096, add.base), 1);
		pt(pread(fd, text, 4096, 12288) == 4096 && !memcmp(text, data, 4096), kind, "read(2) sees it");
	} else {
		back(kind, "a read to what can only send",
		     io64(ns_fd, rw64(IO_READ, 0, 4096 / block, (void *)(uintptr_t)add.base, 4096)), -EFAULT);
		back(kind, "ADD to receive", add_range(fd, 0, LEN, KDP_REGION_RECEIVE, &twice), -EOPNOTSUPP);
	}
	back(kind, "fsync while it stands", fsync(fd) ? -errno : 0, 0);
	back(kind, "DEL", region_del(ns_fd, add.base), 0);
	back(kind, "a command after that",
	     io64(ns_fd, rw64(IO_WRITE, 0, 4096 / block, (void *)(uintptr_t)add.base, 4096)), -EFAULT);

	/* bytes, not pages */
	snprintf(kind, sizeof(kind), "%s, a range off its page", fs);
	rc = add_range(fd, 1000, 100000, flags, &add);
	back(kind, "ADD", rc, 0);
	if (!rc) {
		use(kind, "sent", region_io(ns_fd, IO_WRITE, 0, add.base, 4096, add.base), 1);
		pt(!memcmp(blocks_hold(0, 4096), map + 1000, 4096), kind, "its base is the first byte");
		region_del(ns_fd, add.base);
	}

	snprintf(kind, sizeof(kind), "%s, a range", fs);
	back(kind, "one byte over the file's end", add_range(fd, 0, LEN + 1, KDP_REGION_SEND, &add), -EINVAL);
	back(kind, "behind the file's end", add_range(fd, LEN, 4096, KDP_REGION_SEND, &add), -EINVAL);
	back(kind, "at the greatest offset", add_range(fd, INT64_MAX - 4095, 4096, KDP_REGION_SEND, &add), -EINVAL);
	back(kind, "it wraps", add_range(fd, -4096ULL, 8192, KDP_REGION_SEND, &add), -EOVERFLOW);
	back(kind, "of length 0", add_range(fd, 0, 0, KDP_REGION_SEND, &add), -EINVAL);
out:
	munmap(map, LEN);
}

/* A file that is all hole. */
static void sparse(const char *fs, const char *dir, bool receives)
{
	int fd = make_file(dir, "sparse", 0);
	struct kdp_region_add add;
	unsigned char *map;
	char kind[80];

	if (ftruncate(fd, 0) || ftruncate(fd, LEN))
		die("ftruncate");
	snprintf(kind, sizeof(kind), "%s, a hole", fs);
	back(kind, "ADD", add_range(fd, 0, LEN, receives ? BOTH_WAYS : KDP_REGION_SEND, &add), 0);
	map = mapped(LEN, PROT_READ, MAP_SHARED, fd);
	data_both_ways(kind, add.base, map, LEN, receives ? BOTH_WAYS : KDP_REGION_SEND);
	region_del(ns_fd, add.base);
	munmap(map, LEN);
	if (ftruncate(fd, 0))
		die("ftruncate");
	back(kind, "of an empty file", add_range(fd, 0, 1, KDP_REGION_SEND, &add), -EINVAL);
	close(fd);
}

/* A descriptor must allow what the region may do. */
static void file_rights(const char *fs, const char *dir, bool receives)
{
	char path[200], kind[80];
	struct kdp_region_add add;
	int rd, wr;

	snprintf(path, sizeof(path), "%s/rights", dir);
	close(make_file(dir, "rights", 9));
	snprintf(kind, sizeof(kind), "%s, a descriptor", fs);
	rd = open(path, O_RDONLY);
	wr = open(path, O_WRONLY);
	back(kind, "for reading, to send", add_range(rd, 0, LEN, KDP_REGION_SEND, &add), 0);
	region_del(ns_fd, add.base);
	back(kind, "for writing, to send", add_range(wr, 0, LEN, KDP_REGION_SEND, &add), -EBADF);
	if (receives) {
		back(kind, "for reading, to receive", add_range(rd, 0, LEN, KDP_REGION_RECEIVE, &add), -EBADF);
		back(kind, "for reading, both ways", add_range(rd, 0, LEN, BOTH_WAYS, &add), -EBADF);
		back(kind, "for writing, to receive", add_range(wr, 0, LEN, KDP_REGION_RECEIVE, &add), 0);
		region_del(ns_fd, add.base);
	}
	close(rd);
	close(wr);
}

static void no_files(void)
{
	const struct { const char *name, *path; int flags; int want; } cases[] = {
		{ "/dev/null", "/dev/null", O_RDWR, -EOPNOTSUPP },
		{ "/dev/zero", "/dev/zero", O_RDWR, -EOPNOTSUPP },
		{ "a directory", "/tmp", O_RDONLY | O_DIRECTORY, -EOPNOTSUPP },
		{ "a file of /proc", "/proc/self/maps", O_RDONLY, -EOPNOTSUPP },
		{ "O_PATH", "/etc/passwd", O_PATH, -EBADF },
	};
	struct kdp_region_add add;
	int fd, ends[2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = open(cases[i].path, cases[i].flags);
		if (fd < 0)
			die("open %s", cases[i].path);
		back("file", cases[i].name, add_range(fd, 0, 512, KDP_REGION_SEND, &add), cases[i].want);
		close(fd);
	}
	if (pipe(ends))
		die("pipe");
	back("file", "a pipe", add_range(ends[0], 0, 512, KDP_REGION_SEND, &add), -EOPNOTSUPP);
	close(ends[0]);
	close(ends[1]);
	back("file", "the namespace itself", add_range(ns_fd, 0, 512, KDP_REGION_SEND, &add), -EOPNOTSUPP);
	back("file", "a descriptor that is not open", add_range(ends[0], 0, 512, KDP_REGION_SEND, &add), -EBADF);
	back("file", "descriptor -1", add_range(-1, 0, 512, KDP_REGION_SEND, &add), -EBADF);
	back("file", "the greatest descriptor", add_range(INT32_MAX, 0, 512, KDP_REGION_SEND, &add), -EBADF);
}

/* --- seals --------------------------------------------------------------------------- */

static int sealed(int seals)
{
	int fd = memfd_create("sealed", MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, LEN) || (seals && fcntl(fd, F_ADD_SEALS, seals)))
		die("memfd with seals 0x%x", seals);
	return fd;
}

static void seals(void)
{
	static const struct { const char *name; int seals; } kinds[] = {
		{ "memfd, sealed against writing", F_SEAL_WRITE },
		{ "memfd, sealed against future writing", F_SEAL_FUTURE_WRITE },
	};
	struct kdp_region_add add;
	unsigned char *p;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		fd = sealed(kinds[i].seals);
		back(kinds[i].name, "to send", add_range(fd, 0, LEN, KDP_REGION_SEND, &add), 0);
		region_del(ns_fd, add.base);
		back(kinds[i].name, "to receive", add_range(fd, 0, LEN, KDP_REGION_RECEIVE, &add), -EPERM);
		back(kinds[i].name, "both ways", add_range(fd, 0, LEN, BOTH_WAYS, &add), -EPERM);
		close(fd);
	}

	/* what can be received to cannot be sealed, by whichever way it was had */
	fd = sealed(0);
	back("memfd", "a range to receive", add_range(fd, 0, LEN, KDP_REGION_RECEIVE, &add), 0);
	back("memfd", "F_SEAL_WRITE meanwhile", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) ? -errno : 0, -EBUSY);
	region_del(ns_fd, add.base);
	p = mapped(LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	back("memfd", "a mapping to receive", region_add(ns_fd, p, LEN, KDP_REGION_RECEIVE), 0);
	munmap(p, LEN);
	back("memfd", "F_SEAL_WRITE without the mapping", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) ? -errno : 0, -EBUSY);
	region_drop(ns_fd, p);
	back("memfd", "F_SEAL_WRITE after DEL", fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) ? -errno : 0, 0);
	close(fd);
}

/* Its disk gives an error for the file's blocks, or some of them. */
static int unreadable(const char *path)
{
	struct kdp_region_add add;
	int fd = open(path, O_RDONLY);
	off_t len = lseek(fd, 0, SEEK_END);

	if (fd < 0 || len < 4096)
		die("open %s", path);
	back("a file that cannot be read", "ADD", add_range(fd, 0, len, KDP_REGION_SEND, &add), -EIO);
	point(!region_count(ns_fd), "and leaves no region");
	close(fd);
	return points_failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "--unreadable")) {
		open_devices(argv + 3);
		return unreadable(argv[2]);
	}
	if (argc < 4) {
		fprintf(stderr, "usage: region_memory CONTROLLER NAMESPACE NSID [FILESYSTEM:DIRECTORY...]\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	ring_make(&ring, 4, BIG_RING);
	anonymous();
	huge();
	device();
	no_files();
	seals();
	for (int i = 4; i < argc; i++) {
		char *dir = strchr(argv[i], ':');
		bool receives = !strncmp(argv[i], "tmpfs:", 6);
		int fd;

		if (!dir)
			return 2;
		*dir++ = 0;
		fd = make_file(dir, "file", i);
		file_mapping(argv[i], fd, receives);
		file_range(argv[i], fd, receives);
		close(fd);
		sparse(argv[i], dir, receives);
		file_rights(argv[i], dir, receives);
	}
	point(!region_count(ns_fd), "no region is left");
	return points_failed ? 1 : 0;
}
