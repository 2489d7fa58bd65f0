// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the pages of an I/O the very pages that the driver maps for the HCA?
 *
 *   zero_copy direct-read  PATH OFFSET PAGES   O_DIRECT into a buffer of ours
 *   zero_copy direct-write PATH OFFSET PAGES
 *   zero_copy buffered     PATH OFFSET PAGES   read(2) through the page cache
 *   zero_copy writeback    PATH OFFSET PAGES   a dirtied shared mapping, fdatasync(2)
 *   zero_copy sent         PATH OFFSET PAGES COMMAND...
 *   zero_copy received     PATH OFFSET PAGES COMMAND...   what COMMAND moves from, or to, the file
 *
 * PATH is a block device or a file on it, OFFSET a multiple of the page size. The page
 * frame numbers (PFNs) of the buffer, or of the page cache by way of a shared mapping,
 * come from /proc/self/pagemap; those that the driver mapped come from the tracepoint
 * kdp_host:kdp_map_page, one event a segment:
 *
 *   kdp0 qid=1 tag=7 op=read how=mr seg=0 pfn=0x1234 off=0 len=4096 dma=0x... rkey=0x...
 *
 * Both lists must agree, for direct I/O in order, else page by page. Needs root.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "points.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define PFN_MASK	((1ULL << 55) - 1)
#define PRESENT		(1ULL << 63)

static size_t page;

/* --- page frame numbers of our own memory --------------------------------------- */

static uint64_t *pfns_of(void *memory, size_t pages)
{
	uint64_t *pfn = calloc(pages, sizeof(*pfn));
	int fd = open("/proc/self/pagemap", O_RDONLY);
	off_t at = (uintptr_t)memory / page * sizeof(*pfn);

	if (!pfn || fd < 0 ||
	    pread(fd, pfn, pages * sizeof(*pfn), at) != (ssize_t)(pages * sizeof(*pfn)))
		die("read /proc/self/pagemap");
	close(fd);
	for (size_t i = 0; i < pages; i++) {
		if (!(pfn[i] & PRESENT) || !(pfn[i] & PFN_MASK)) {
			errno = ENODATA;
			die("page %zu has no page frame number (not root?)", i);
		}
		pfn[i] &= PFN_MASK;
	}
	return pfn;
}

/* --- what the driver mapped --------------------------------------------------------- */

struct mapped {
	uint64_t	*pfn;
	size_t		pages;
	size_t		segments, requests, in_capsule;
	uint64_t	base;		/* DMA address of page frame 0 */
	bool		one_base;	/* the same by each segment */
};

static void tracefs_write(const char *name, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACEFS "%s", name);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("write %s", path);
	close(fd);
}

static void trace_begin(void)
{
	tracefs_write("trace", "");
	tracefs_write("tracing_on", "1");
	tracefs_write("events/kdp_host/kdp_map_page/enable", "1");
}

static void trace_end(void)
{
	tracefs_write("events/kdp_host/kdp_map_page/enable", "0");
}

/* Each page that a traced segment of operation @op touches, in order. */
static struct mapped trace_read(const char *op)
{
	struct mapped m = { .one_base = true };
	FILE *f = fopen(TRACEFS "trace", "r");
	char line[512];

	if (!f)
		die("open " TRACEFS "trace");
	while (fgets(line, sizeof(line), f)) {
		char *event = strstr(line, "kdp_map_page:"), *fields;
		char got_op[16], how[16];
		unsigned int seg, off, len;
		unsigned long pfn;
		unsigned long long dma;

		if (!event)
			continue;
		fields = strstr(event, "op=");
		if (!fields ||
		    sscanf(fields, "op=%15s how=%15s seg=%u pfn=0x%lx off=%u len=%u dma=0x%llx",
			   got_op, how, &seg, &pfn, &off, &len, &dma) != 7) {
			errno = EBADMSG;
			die("cannot read the event: %s", event);
		}
		if (strcasecmp(got_op, op))
			continue;
		dma -= (uint64_t)pfn * page + off;
		if (m.segments && dma != m.base)
			m.one_base = false;
		m.base = dma;
		m.segments++;
		m.requests += !seg;
		m.in_capsule += !strcasecmp(how, "inline");
		for (size_t i = 0; i < (off + len + page - 1) / page; i++) {
			m.pfn = reallocarray(m.pfn, m.pages + 1, sizeof(*m.pfn));
			if (!m.pfn)
				die("memory");
			m.pfn[m.pages++] = pfn + i;
		}
	}
	fclose(f);
	say("traced: %zu pages in %zu segments of %zu %s requests, %zu segments in the capsule",
	    m.pages, m.segments, m.requests, op, m.in_capsule);
	return m;
}

/*
 * The DMA addresses name these very pages: without an IOMMU (soft-RoCE uses the kernel's
 * linear map, hardware physical addresses) all lie at one distance from their page frames.
 */
static void check_dma(const struct mapped *m)
{
	say("DMA address of page frame 0: 0x%llx", (unsigned long long)m->base);
	point(m->segments && m->one_base && !(m->base % page),
	      "the DMA addresses are those of the mapped pages");
}

static bool same_in_order(const uint64_t *ours, size_t pages, const struct mapped *m)
{
	if (m->pages != pages) {
		say("%zu pages of ours, %zu mapped", pages, m->pages);
		return false;
	}
	for (size_t i = 0; i < pages; i++)
		if (ours[i] != m->pfn[i]) {
			say("page %zu: PFN 0x%llx, mapped 0x%llx", i, (unsigned long long)ours[i],
			    (unsigned long long)m->pfn[i]);
			return false;
		}
	return true;
}

/* Read-ahead and write-back choose size and order; each page of ours must be there once. */
static bool each_once(const uint64_t *ours, size_t pages, const struct mapped *m)
{
	for (size_t i = 0; i < pages; i++) {
		size_t found = 0;

		for (size_t j = 0; j < m->pages; j++)
			found += m->pfn[j] == ours[i];
		if (found != 1) {
			say("page %zu, PFN 0x%llx: mapped %zu times", i,
			    (unsigned long long)ours[i], found);
			return false;
		}
	}
	return true;
}

/* --- the four ways -------------------------------------------------------------- */

static unsigned char *locked_memory(size_t len)
{
	unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	if (p == MAP_FAILED || mlock(p, len))
		die("%zu bytes of locked memory", len);
	memset(p, 0x5a, len);
	return p;
}

static void direct(const char *path, off_t offset, size_t pages, bool writes)
{
	size_t len = pages * page;
	uint64_t *before, *after, *others;
	struct mapped m;
	unsigned char *buf, *other;
	ssize_t done;
	int fd = open(path, (writes ? O_RDWR : O_RDONLY) | O_DIRECT);

	if (fd < 0)
		die("open %s", path);
	buf = locked_memory(len);
	other = locked_memory(len);

	before = pfns_of(buf, pages);
	trace_begin();
	done = writes ? pwrite(fd, buf, len, offset) : pread(fd, buf, len, offset);
	trace_end();
	after = pfns_of(buf, pages);
	if (done != (ssize_t)len)
		die("%s of %zu bytes gave %zd", writes ? "write" : "read", len, done);
	if (memcmp(before, after, pages * sizeof(*before)))
		say("the kernel moved pages meanwhile");

	m = trace_read(writes ? "write" : "read");
	point(same_in_order(after, pages, &m),
	      writes ? "direct write: the mapped pages are the buffer's, in order" :
		       "direct read: the mapped pages are the buffer's, in order");
	check_dma(&m);

	/* the comparison can fail */
	others = pfns_of(other, pages);
	for (size_t i = 0; i < pages && i < m.pages; i++)
		if (others[i] == m.pfn[i])
			point(false, "a buffer that took no part does not match");
}

static unsigned char *map_shared(int fd, off_t offset, size_t len, int prot)
{
	unsigned char *map = mmap(NULL, len, prot, MAP_SHARED, fd, offset);

	if (map == MAP_FAILED)
		die("mmap shared");
	return map;
}

/* Out of the page cache with it, clean. */
static void drop(int fd)
{
	struct stat st;
	int all;

	if (fsync(fd) || fstat(fd, &st))
		die("fsync");
	if (S_ISBLK(st.st_mode))
		ioctl(fd, BLKFLSBUF);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	all = open("/proc/sys/vm/drop_caches", O_WRONLY);
	if (all < 0 || write(all, "3", 1) != 1)
		die("drop caches");
	close(all);
}

/* Which pages of the page cache are there, by mincore(2); none may be before a read. */
static size_t resident(unsigned char *map, size_t pages)
{
	unsigned char *vec = calloc(pages, 1);
	size_t n = 0;

	if (!vec || mincore(map, pages * page, vec))
		die("mincore");
	for (size_t i = 0; i < pages; i++)
		n += vec[i] & 1;
	free(vec);
	return n;
}

static void touch(const unsigned char *map, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		(void)*(volatile const unsigned char *)(map + i * page);
}

static void buffered(const char *path, off_t offset, size_t pages)
{
	size_t len = pages * page;
	unsigned char *buf = malloc(len), *map;
	struct mapped m;
	uint64_t *pfn;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || !buf)
		die("open %s", path);
	map = map_shared(fd, offset, len, PROT_READ);
	drop(fd);
	if (resident(map, pages))
		say("%zu pages stayed in the page cache", resident(map, pages));

	trace_begin();
	if (pread(fd, buf, len, offset) != (ssize_t)len)
		die("read");
	trace_end();
	touch(map, pages);
	pfn = pfns_of(map, pages);

	m = trace_read("read");
	point(each_once(pfn, pages, &m), "buffered read: the mapped pages are the page cache's");
	check_dma(&m);
	point(!memcmp(buf, map, len), "and hold what read(2) gave");
}

static void writeback(const char *path, off_t offset, size_t pages)
{
	size_t len = pages * page;
	unsigned char *map;
	struct mapped m;
	uint64_t *pfn;
	int fd = open(path, O_RDWR);

	if (fd < 0)
		die("open %s", path);
	map = map_shared(fd, offset, len, PROT_READ | PROT_WRITE);
	drop(fd);
	memset(map, 0x3c, len);

	trace_begin();
	if (msync(map, len, MS_SYNC) || fdatasync(fd))
		die("msync");
	trace_end();
	touch(map, pages);
	pfn = pfns_of(map, pages);

	m = trace_read("write");
	point(each_once(pfn, pages, &m), "write-back: the mapped pages are the page cache's");
	check_dma(&m);
}

/* Another program moves the file's data: from, or to, the page cache's pages themselves? */
static void by_command(const char *path, off_t offset, size_t pages, char **command, bool sends)
{
	size_t len = pages * page;
	unsigned char *map;
	struct mapped m;
	uint64_t *pfn;
	int fd, status;
	pid_t pid;

	trace_begin();
	pid = fork();
	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		die("run %s", command[0]);
	trace_end();
	point(!status, sends ? "the command sends the file" : "the command receives the file");
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("open %s", path);
	map = map_shared(fd, offset, len, PROT_READ);
	touch(map, pages);
	pfn = pfns_of(map, pages);
	m = trace_read(sends ? "write" : "read");
	point(each_once(pfn, pages, &m), sends ? "what is sent are the page cache's pages" :
						 "what receives are the page cache's pages");
	check_dma(&m);
}

int main(int argc, char **argv)
{
	off_t offset;
	size_t pages;
	bool sends = argc > 1 && !strcmp(argv[1], "sent");

	if (argc < 5 || (argc > 5) != (sends || !strcmp(argv[1], "received"))) {
		fprintf(stderr, "usage: zero_copy direct-read|direct-write|buffered|writeback PATH OFFSET PAGES\n"
				"       zero_copy sent|received PATH OFFSET PAGES COMMAND...\n");
		return 2;
	}
	page = sysconf(_SC_PAGESIZE);
	offset = strtoll(argv[3], NULL, 0);
	pages = strtoul(argv[4], NULL, 0);
	if (!strcmp(argv[1], "direct-read"))
		direct(argv[2], offset, pages, false);
	else if (!strcmp(argv[1], "direct-write"))
		direct(argv[2], offset, pages, true);
	else if (!strcmp(argv[1], "buffered"))
		buffered(argv[2], offset, pages);
	else if (!strcmp(argv[1], "writeback"))
		writeback(argv[2], offset, pages);
	else if (argc > 5)
		by_command(argv[2], offset, pages, argv + 5, sends);
	else
		return 2;
	return points_failed ? 1 : 0;
}
