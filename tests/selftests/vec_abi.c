// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passthrough with arrays of buffers: NVME_IOCTL_IO64_CMD_VEC, NVME_URING_CMD_IO_VEC and
 * NVME_URING_CMD_ADMIN_VEC, used rightly and wrongly.
 *
 *   vec_abi [--stock] CONTROLLER NAMESPACE NSID
 *
 * As uring_abi.c. The array's address stands in `addr`, its length in `data_len` (of the
 * ioctl also called `vec_cnt`). Writes to the first 64 KiB of the namespace.
 */
#include <sys/uio.h>

#include "uring.h"

#define MOST		1024	/* UIO_MAXIOV */

/* The three ways; each point is made for both that do I/O. */
enum way { BY_IOCTL, BY_RING };

static const char *const way_names[] = { "IO64_CMD_VEC", "IO_VEC" };
static struct io_uring ring;

static int vec(enum way way, int fd, struct nvme_passthru_cmd64 c)
{
	if (way == BY_IOCTL)
		return by_ioctl(fd, NVME_IOCTL_IO64_CMD_VEC, &c);
	return ring_one(&ring, fd, NVME_URING_CMD_IO_VEC, &c, NULL);
}

static int rw_vec(enum way way, uint8_t opcode, uint32_t bytes, const void *pieces, uint32_t n)
{
	return vec(way, ns_fd, rw64(opcode, 0, bytes / block, pieces, n));
}

/* What a command with these pieces comes back with, one point for each way. */
static void pieces_give(const char *name, uint8_t opcode, uint32_t bytes, const void *pieces,
			uint32_t n, int want)
{
	char text[160];

	for (enum way way = BY_IOCTL; way <= BY_RING; way++) {
		snprintf(text, sizeof(text), "%s: %s", way_names[way], name);
		comes_back(text, rw_vec(way, opcode, bytes, pieces, n), want);
	}
}

/* --- data ------------------------------------------------------------------------- */

#define PIECES		64
#define BYTES		32768
#define ARENA		(BYTES + PIECES * 8192)

struct layout {
	const char	*name;
	unsigned int	n;
	size_t		length[PIECES];		/* of each piece; the last repeats */
	size_t		shift;			/* from the begin of a page, of the first */
	size_t		gap;			/* between pieces; 0: up to the next page */
	bool		may_refuse;		/* EINVAL is an answer too */
};

static const struct layout layouts[] = {
	{ "one piece", 1, { BYTES }, 0, 0, false },
	{ "one piece 512 bytes off", 1, { BYTES }, 512, 0, false },
	{ "8 whole pages", 8, { 4096 }, 0, 0, false },
	{ "2 pieces that touch", 2, { 16384 }, 0, SIZE_MAX, false },
	{ "pieces of a block, apart", 64, { 512 }, 1024, 1536, false },
	{ "64 pieces, apart", 64, { 512 }, 0, 4096, false },
	{ "pieces off their pages", 8, { 4096 }, 512, 1024, false },
	{ "pieces of many lengths", 5, { 512, 12288, 1024, 2560, 16384 }, 1536, 512, false },
	{ "pieces of dwords", 4, { 4, 8188, 12, 24564 }, 4, 8, true },
	{ "pieces of odd lengths and addresses", 4, { 1, 4095, 513, 28159 }, 3, 5, true },
};

static size_t lay_out(const struct layout *l, unsigned char *arena, struct iovec *pieces)
{
	unsigned char *at = arena + l->shift;
	size_t sum = 0;

	for (unsigned int i = 0; i < l->n; i++) {
		size_t length = l->length[i] ? l->length[i] : pieces[i - 1].iov_len;

		pieces[i] = (struct iovec){ at, length };
		at += length;
		sum += length;
		if (l->gap == 0)
			at = arena + (at - arena + 4095) / 4096 * 4096;
		else if (l->gap != SIZE_MAX)
			at += l->gap;
	}
	return sum;
}

/* The pieces hold @data, and what is between them is as it was. */
static bool holds(const unsigned char *arena, const struct iovec *pieces, unsigned int n,
		  const unsigned char *data)
{
	const unsigned char *at = arena;

	for (unsigned int i = 0; i < n; i++) {
		const unsigned char *piece = pieces[i].iov_base;

		if (!all_bytes(at, piece - at, GUARD) || memcmp(piece, data, pieces[i].iov_len))
			return false;
		data += pieces[i].iov_len;
		at = piece + pieces[i].iov_len;
	}
	return all_bytes(at, arena + ARENA - at, GUARD);
}

static bool try_layout(enum way way, const struct layout *l, unsigned char *arena)
{
	unsigned char *data = malloc(BYTES), *back = guarded(BYTES), *at = data;
	struct iovec pieces[PIECES];
	size_t bytes;
	int rc;

	memset(arena, GUARD, ARENA);
	bytes = lay_out(l, arena, pieces);
	if (!data || bytes % block)
		die("layout %s has %zu bytes", l->name, bytes);
	fill(data, bytes, bytes + way);
	for (unsigned int i = 0; i < l->n; at += pieces[i++].iov_len)
		memcpy(pieces[i].iov_base, at, pieces[i].iov_len);

	rc = rw_vec(way, IO_WRITE, bytes, pieces, l->n);
	if (rc == -EINVAL && l->may_refuse)
		goto refused;
	if (rc)
		goto failed;
	if (!holds(arena, pieces, l->n, data)) {
		say("the write changed the memory");
		return false;
	}
	rc = io64(ns_fd, rw64(IO_READ, 0, bytes / block, back, bytes));
	if (rc)
		goto failed;
	if (memcmp(back, data, bytes)) {
		say("not what was in the pieces was written");
		return false;
	}

	memset(arena, GUARD, ARENA);
	rc = rw_vec(way, IO_READ, bytes, pieces, l->n);
	if (rc == -EINVAL && l->may_refuse)
		goto refused;
	if (rc)
		goto failed;
	free(data);
	return holds(arena, pieces, l->n, back);

refused:
	say("%s: refused", l->name);
	free(data);
	return true;
failed:
	say_result("write or read", rc);
	free(data);
	return false;
}

static void test_data(void)
{
	unsigned char *arena = guarded(ARENA);
	char text[120];

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		for (enum way way = BY_IOCTL; way <= BY_RING; way++) {
			snprintf(text, sizeof(text), "%s: %s", way_names[way], layouts[i].name);
			point(try_layout(way, &layouts[i], arena), text);
		}
}

/* As many pieces as there may be, each of a dword. */
static void test_most(void)
{
	static struct iovec pieces[MOST + 1];
	unsigned char *space = guarded(16 * (MOST + 1)), *out = guarded(4096);

	fill(out, 4096, MOST);
	if (io64(ns_fd, rw64(IO_WRITE, 0, 4096 / block, out, 4096)))
		die("write for the most pieces");
	for (int i = 0; i <= MOST; i++)
		pieces[i] = (struct iovec){ space + 16 * i, 4 };
	for (enum way way = BY_IOCTL; way <= BY_RING; way++) {
		int rc = rw_vec(way, IO_READ, 4096, pieces, MOST);
		bool good = rc == 0 || rc == -EINVAL;
		char text[80];

		for (int i = 0; i < MOST; i++) {
			good &= all_bytes(space + 16 * i + 4, 12, GUARD);
			good &= rc ? all_bytes(space + 16 * i, 4, GUARD) :
				     !memcmp(space + 16 * i, out + 4 * i, 4);
		}
		snprintf(text, sizeof(text), "%s: 1024 pieces are served or refused", way_names[way]);
		say_result(text, rc);
		point(good, text);
		memset(space, GUARD, 16 * MOST);
	}
	pieces_give("1025 pieces", IO_READ, 4096, pieces, MOST + 1, -EINVAL);
	pieces_give("80000000h pieces", IO_READ, 4096, pieces, 0x80000000, -EINVAL);
	pieces_give("ffffffffh pieces", IO_WRITE, 4096, pieces, 0xffffffff, -EINVAL);
	point(all_bytes(space, 16 * MOST, GUARD), "too many pieces: nothing was read");
}

/* --- what is refused --------------------------------------------------------------- */

static void test_lengths(void)
{
	unsigned char *buf = guarded(8192);
	struct iovec p[3];

	if (stock)
		return;
	pieces_give("no piece", IO_READ, 4096, p, 0, -EINVAL);
	pieces_give("no piece, no array", IO_READ, 4096, NULL, 0, -EINVAL);
	p[0] = (struct iovec){ buf, 0 };
	pieces_give("one piece of length 0", IO_READ, 4096, p, 1, -EINVAL);
	p[1] = p[0];
	pieces_give("two pieces of length 0", IO_WRITE, 4096, p, 2, -EINVAL);
	p[0].iov_len = 2048;
	p[1] = (struct iovec){ buf + 2048, 1024 };
	pieces_give("a sum below NLB, read", IO_READ, 4096, p, 2, -EINVAL);
	pieces_give("a sum below NLB, write", IO_WRITE, 4096, p, 2, -EINVAL);
	p[1].iov_len = 4096;
	pieces_give("a sum above NLB, read", IO_READ, 4096, p, 2, -EINVAL);
	pieces_give("a sum above NLB, write", IO_WRITE, 4096, p, 2, -EINVAL);
	p[1].iov_len = 2046;
	pieces_give("a sum of half a dword less", IO_READ, 4096, p, 2, -EINVAL);
	pieces_give("Flush with data", IO_FLUSH, 4096, p, 2, -EINVAL);
	point(all_bytes(buf, 8192, GUARD), "lengths: nothing was read");
}

/* Refused as one or the other; the array is judged by several. */
static void no_such_memory(const char *name, uint8_t opcode, const void *pieces, uint32_t n)
{
	for (enum way way = BY_IOCTL; way <= BY_RING; way++) {
		int rc = rw_vec(way, opcode, 4096, pieces, n);
		char text[160];

		snprintf(text, sizeof(text), "%s: %s", way_names[way], name);
		say_result(text, rc);
		point(rc == -EFAULT || rc == -EINVAL, text);
	}
}

static void test_addresses(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *buf = guarded(4096);
	unsigned char *ro = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec *p = (void *)guarded(2 * sizeof(*p));
	struct iovec *at_end = (void *)(guarded(page) + page - sizeof(*p));

	*at_end = (struct iovec){ buf, 2048 };
	pieces_give("an array half behind a mapping", IO_READ, 4096, at_end, 2, -EFAULT);
	pieces_give("an array that is not there", IO_READ, 4096, (void *)4096, 2, -EFAULT);
	pieces_give("an array in the kernel", IO_READ, 4096, (void *)0xffff888000000000, 2, -EFAULT);
	p[0] = (struct iovec){ buf, 2048 };
	p[1] = (struct iovec){ (void *)4096, 2048 };
	pieces_give("a piece that is not there, write", IO_WRITE, 4096, p, 2, -EFAULT);
	if (!stock) {	/* bounced, and it does not look whether the bytes arrive */
		pieces_give("a piece that is not there, read", IO_READ, 4096, p, 2, -EFAULT);
		p[1].iov_base = ro;
		pieces_give("a piece that is read-only", IO_READ, 4096, p, 2, -EFAULT);
	}
	p[1].iov_base = (void *)0xffff888000000000;
	pieces_give("a piece in the kernel", IO_READ, 4096, p, 2, -EFAULT);
	p[0] = (struct iovec){ buf, 4096 };
	p[1] = (struct iovec){ buf, 1UL << 63 };
	no_such_memory("a negative length", IO_READ, p, 2);
	p[1].iov_len = 1UL << 32;
	no_such_memory("a length whose lower half is right", IO_WRITE, p + 1, 1);
	p[0].iov_len = (1UL << 32) + 4096;
	no_such_memory("a sum whose lower half is right", IO_WRITE, p, 1);
	p[0] = (struct iovec){ (void *)-4096UL, 4096 };
	no_such_memory("a piece at the last page there can be", IO_READ, p, 1);
	if (stock)
		return;
	pieces_give("an array at address 0", IO_READ, 4096, NULL, 1, -EFAULT);
	p[0] = (struct iovec){ NULL, 4096 };
	pieces_give("a piece at address 0", IO_READ, 4096, p, 1, -EFAULT);
}

static void test_fields(void)
{
	unsigned char *buf = guarded(4096), *beyond = guarded(4096);
	struct iovec p[] = { { buf, 2048 }, { buf + 2048, 2048 } };
	struct iovec q[] = { { beyond, 2048 }, { beyond + 2048, 2048 } };
	struct nvme_passthru_cmd64 good = rw64(IO_READ, 0, 4096 / block, p, 2), c;

	for (enum way way = BY_IOCTL; way <= BY_RING; way++) {
		const char *name = way_names[way];
		char text[120];

		c = good;
		c.flags = 1;
		snprintf(text, sizeof(text), "%s: flags 0x01", name);
		comes_back(text, vec(way, ns_fd, c), -EINVAL);
		c = good;
		c.nsid = nsid + 1;
		snprintf(text, sizeof(text), "%s: another namespace's number", name);
		comes_back(text, vec(way, ns_fd, c), -EINVAL);
		c = rw64(IO_READ, blocks, 4096 / block, q, 2);
		snprintf(text, sizeof(text), "%s: read beyond the end", name);
		comes_back(text, vec(way, ns_fd, c), NVME_STATUS);
		if (stock)
			continue;
		c = good;
		c.rsvd1 = 1;
		snprintf(text, sizeof(text), "%s: reserved field not 0", name);
		comes_back(text, vec(way, ns_fd, c), -EINVAL);
		c = good;
		c.metadata = (uintptr_t)buf;
		c.metadata_len = 8;
		snprintf(text, sizeof(text), "%s: metadata", name);
		comes_back(text, vec(way, ns_fd, c), -EINVAL);
		c = (struct nvme_passthru_cmd64){ .opcode = OPC_FABRICS, .nsid = nsid };
		snprintf(text, sizeof(text), "%s: a fabrics command", name);
		comes_back(text, vec(way, ns_fd, c), -EOPNOTSUPP);
	}
	comes_back("IO64_CMD_VEC on the controller", vec(BY_IOCTL, ctrl_fd, good), -ENOTTY);
	comes_back("IO64_CMD_VEC at address 0", by_ioctl(ns_fd, NVME_IOCTL_IO64_CMD_VEC, NULL), -EFAULT);
	point(all_bytes(buf, 4096, GUARD), "fields: nothing was read");
	/* the block layer's bounce pages begin as zeroes, and are copied whatever comes */
	point(all_bytes(beyond, 4096, GUARD) || all_bytes(beyond, 4096, 0),
	      "beyond the end there is nothing to be seen");
}

static void test_admin(void)
{
	unsigned char *buf = guarded(8192), *check = guarded(4096);
	struct iovec p[] = { { buf, 1024 }, { buf + 4096, 3072 } };
	struct nvme_passthru_cmd64 c = identify64(1, 0, check);
	int rc;

	if (by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN64_CMD, &c))
		die("Identify Controller by ioctl");
	c.addr = (uintptr_t)p;
	c.data_len = 2;
	rc = ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN_VEC, &c, NULL);
	comes_back("ADMIN_VEC: Identify Controller into two pieces", rc, 0);
	point(!memcmp(buf, check, 1024) && !memcmp(buf + 4096, check + 1024, 3072) &&
	      all_bytes(buf + 1024, 3072, GUARD) && all_bytes(buf + 7168, 1024, GUARD),
	      "ADMIN_VEC: the bytes are in the pieces, and nowhere else");
	c.data_len = MOST + 1;
	comes_back("ADMIN_VEC: 1025 pieces",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN_VEC, &c, NULL), -EINVAL);
	c.data_len = 2;
	c.addr = 4096;
	comes_back("ADMIN_VEC: an array that is not there",
		   ring_one(&ring, ctrl_fd, NVME_URING_CMD_ADMIN_VEC, &c, NULL), -EFAULT);
}

/* --- rights ------------------------------------------------------------------------- */

static void nobody(void)
{
	int ro = open(ns_path, O_RDONLY), ctrl = open(ctrl_path, O_RDWR);
	unsigned char *buf = guarded(4096);
	struct iovec p[] = { { buf, 2048 }, { buf + 2048, 2048 } };
	struct nvme_passthru_cmd64 get_log = { .opcode = ADM_GET_LOG, .nsid = 0xffffffff,
					       .addr = (uintptr_t)p, .data_len = 2,
					       .cdw10 = 1023U << 16 | 2 };
	char text[120];

	if (ro < 0 || ctrl < 0)
		die("open the nodes as nobody");
	io_uring_queue_exit(&ring);
	ring_make(&ring, 4, BIG_RING);
	for (enum way way = BY_IOCTL; way <= BY_RING; way++) {
		snprintf(text, sizeof(text), "nobody, %s: write by a read-only descriptor", way_names[way]);
		comes_back(text, vec(way, ro, rw64(IO_WRITE, 0, 4096 / block, p, 2)), -EACCES);
		snprintf(text, sizeof(text), "nobody, %s: vendor opcode", way_names[way]);
		comes_back(text, vec(way, ro, (struct nvme_passthru_cmd64){ .opcode = 0xc0, .nsid = nsid }),
			   -EACCES);
		if (stock)
			continue;
		snprintf(text, sizeof(text), "nobody, %s: read by a read-only descriptor", way_names[way]);
		comes_back(text, vec(way, ro, rw64(IO_READ, 0, 4096 / block, p, 2)), 0);
	}
	comes_back("nobody, ADMIN_VEC: Get Log Page",
		   ring_one(&ring, ctrl, NVME_URING_CMD_ADMIN_VEC, &get_log, NULL), -EACCES);
}

int main(int argc, char **argv)
{
	open_arguments("vec_abi", argc, argv);
	learn_geometry();
	if (block > 512)
		die("blocks of %u bytes: the pieces are made for 512", block);
	ring_make(&ring, 4, BIG_RING);
	test_data();
	test_most();
	test_lengths();
	test_addresses();
	test_fields();
	test_admin();
	as_nobody(nobody);
	return points_failed ? 1 : 0;
}
