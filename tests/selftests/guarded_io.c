// SPDX-License-Identifier: GPL-2.0-only
/*
 * One direct read or write, and a watch over the memory around and behind it.
 *
 *   guarded_io DISK read|write OFFSET BYTES LINGER_MS
 *
 * The buffer lies between two guard pages filled with 0xa5; a read's buffer is filled
 * with 0x5a before, a write's with 0x3c. After the I/O has ended the memory is looked at
 * once, and again after LINGER_MS: nobody has any business there any more.
 *
 * Prints what came of the I/O ("result 4096, all 0x00", "result EIO") and of the memory
 * ("memory unchanged", "memory CHANGED ..."). Exit status: 0; 1 when the I/O failed and
 * the memory is unchanged; 2 when it cannot run; 3 when the memory changed.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define GUARD		4096
#define GUARD_BYTE	0xa5
#define READ_BYTE	0x5a
#define WRITE_BYTE	0x3c

static void print_result(const unsigned char *data, ssize_t n, int error, int reads)
{
	if (n < 0) {
		printf("result %s\n", strerrorname_np(error));
		return;
	}
	for (ssize_t i = 1; reads && i < n; i++) {
		if (data[i] != data[0]) {
			printf("result %zd, mixed\n", n);
			return;
		}
	}
	printf("result %zd, all 0x%02x\n", n, n ? data[0] : 0);
}

/* Where @now differs from @then, if it does. */
static int changed(const unsigned char *then, const unsigned char *now, size_t size,
		   const char *when)
{
	for (size_t i = 0; i < size; i++) {
		if (then[i] != now[i]) {
			printf("memory CHANGED %s at %+ld of the buffer: 0x%02x to 0x%02x\n", when,
			       (long)i - GUARD, then[i], now[i]);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 6 || (strcmp(argv[2], "read") && strcmp(argv[2], "write"))) {
		fprintf(stderr, "usage: guarded_io DISK read|write OFFSET BYTES LINGER_MS\n");
		return 2;
	}
	int reads = !strcmp(argv[2], "read");
	off_t offset = strtoll(argv[3], NULL, 0);
	size_t bytes = strtoul(argv[4], NULL, 0);
	long linger = strtol(argv[5], NULL, 0);
	size_t size = GUARD + bytes + GUARD;

	unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	unsigned char *copy = malloc(size);
	int fd = open(argv[1], (reads ? O_RDONLY : O_RDWR) | O_DIRECT);

	if (memory == MAP_FAILED || !copy || fd < 0)
		err(2, "%s", argv[1]);
	memset(memory, GUARD_BYTE, size);
	memset(memory + GUARD, reads ? READ_BYTE : WRITE_BYTE, bytes);
	memcpy(copy, memory, size);

	ssize_t n = reads ? pread(fd, memory + GUARD, bytes, offset) :
			    pwrite(fd, memory + GUARD, bytes, offset);
	int error = errno;

	print_result(memory + GUARD, n, error, reads);
	if (reads)	/* the buffer may be anything; what lies around it may not */
		memcpy(copy + GUARD, memory + GUARD, bytes);
	int bad = changed(copy, memory, size, "during the I/O");

	struct timespec nap = { linger / 1000, linger % 1000 * 1000000 };

	nanosleep(&nap, NULL);
	bad = bad || changed(copy, memory, size, "after its end");
	if (bad)
		return 3;
	printf("memory unchanged\n");
	return n != (ssize_t)bytes;
}
