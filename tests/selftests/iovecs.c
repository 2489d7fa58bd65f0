// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct I/O from and to memory in pieces: pwritev from one layout, preadv into another,
 * the bytes compared, and the memory between the pieces too.
 *
 *   iovecs DISK BYTES ALIGN ROUNDS
 *
 * Each round writes and reads up to 1 MiB somewhere in the first BYTES of DISK, in 1 to 64
 * pieces of whole blocks; each begins at a multiple of ALIGN bytes, not of a page. They lie
 * apart in memory, so that an I/O has gaps and segments that cross pages.
 *
 * Exit status: 0; 1 an I/O failed; 2 cannot run; 3 a byte is wrong.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST		(1 << 20)
#define PIECES		64
#define ARENA		(MOST + PIECES * 3 * 4096)
#define BETWEEN		0xa5

static unsigned long seed = 1;

/* The same each time. */
static size_t below(size_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

/* Pieces for @bytes in @arena, which is filled with what must stay between them. */
static int layout(struct iovec *pieces, unsigned char *arena, size_t bytes, size_t block, size_t align)
{
	unsigned char *at = arena;
	size_t left = bytes / block;
	int n = 0;

	memset(arena, BETWEEN, ARENA);
	while (left) {
		size_t blocks = n == PIECES - 1 ? left : 1 + below(left < 40 ? left : 40);

		at += align * (1 + below(4096 / align));
		pieces[n++] = (struct iovec){ at, blocks * block };
		at += blocks * block;
		left -= blocks;
	}
	return n;
}

/* Does the memory hold @data in the pieces, and nothing else changed? */
static int holds(const struct iovec *pieces, int n, const unsigned char *arena, const unsigned char *data)
{
	const unsigned char *at = arena;

	for (int i = 0; i <= n; i++) {
		const unsigned char *end = i < n ? pieces[i].iov_base : arena + ARENA;

		for (; at < end; at++)
			if (*at != BETWEEN)
				return 0;
		if (i == n)
			return 1;
		if (memcmp(at, data, pieces[i].iov_len))
			return 0;
		at += pieces[i].iov_len;
		data += pieces[i].iov_len;
	}
	return 1;
}

static void gather(unsigned char *data, const struct iovec *pieces, int n)
{
	for (int i = 0; i < n; i++) {
		unsigned char *piece = pieces[i].iov_base;

		for (size_t j = 0; j < pieces[i].iov_len; j++)
			piece[j] = below(256);
		memcpy(data, piece, pieces[i].iov_len);
		data += pieces[i].iov_len;
	}
}

static int round_of(int disk, size_t size, size_t block, size_t align, unsigned char *arena,
		    unsigned char *data)
{
	size_t bytes = block * (1 + below(MOST / block));
	off_t where = block * below((size - bytes) / block + 1);
	struct iovec pieces[PIECES];
	ssize_t done;
	int n;

	n = layout(pieces, arena, bytes, block, align);
	gather(data, pieces, n);
	done = pwritev(disk, pieces, n, where);
	if (done != (ssize_t)bytes) {
		printf("writing %zu bytes in %d pieces: %s\n", bytes, n, done < 0 ? strerror(errno) : "short");
		return 1;
	}
	if (!holds(pieces, n, arena, data)) {
		printf("writing %zu bytes in %d pieces changed the memory\n", bytes, n);
		return 3;
	}
	n = layout(pieces, arena, bytes, block, align);
	done = preadv(disk, pieces, n, where);
	if (done != (ssize_t)bytes) {
		printf("reading %zu bytes in %d pieces: %s\n", bytes, n, done < 0 ? strerror(errno) : "short");
		return 1;
	}
	if (!holds(pieces, n, arena, data)) {
		printf("reading %zu bytes at %lld in %d pieces: wrong bytes\n", bytes, (long long)where, n);
		return 3;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *arena, *data;
	size_t size, align;
	int disk, block, rc = 0;

	if (argc != 5)
		errx(2, "usage: iovecs DISK BYTES ALIGN ROUNDS");
	disk = open(argv[1], O_RDWR | O_DIRECT);
	if (disk < 0 || ioctl(disk, BLKSSZGET, &block))
		err(2, "%s", argv[1]);
	size = strtoul(argv[2], NULL, 0);
	align = strtoul(argv[3], NULL, 0);
	if (size < MOST || !align || align > 4096)
		errx(2, "BYTES from 1 MiB, ALIGN 1 to 4096");
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	data = malloc(MOST);
	if (arena == MAP_FAILED || !data)
		err(2, "memory");
	for (int i = atoi(argv[4]); i > 0 && !rc; i--)
		rc = round_of(disk, size, block, align, arena, data);
	return rc;
}
