// SPDX-License-Identifier: GPL-2.0-only
/*
 * Was a write ever reported written when it was not?
 *
 *   ledger write DISK OFFSET BOOK STOP [--errors]   until the file STOP is there
 *   ledger check DISK OFFSET BOOK                   is everything there?
 *   ledger count BOOK                               writes acknowledged, I/Os failed
 *
 * 64 blocks of 4096 bytes from OFFSET on are written over and over, by eight threads,
 * directly, each time with the next number. BOOK, a file elsewhere, has of each block the
 * number last given to a write, and the last one whose write was acknowledged. What stands in
 * the block must lie between the two and be whole: an older number means that a write was
 * reported and is lost, or that an old one was carried out late, over a newer. A writer
 * looks at a block before it writes there again: nothing that came late goes unseen.
 *
 * Without --errors a failed read or write is an error, with it only counted; whether a
 * failed write was carried out, nobody knows.
 *
 * Exit status: 0; 1 an I/O failed that should not, or nothing was ever acknowledged; 2 cannot run;
 * 3 a block does not hold what was acknowledged.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "ledger.h"

#define THREADS		8
#define EACH		8		/* blocks of a thread */
#define BLOCKS		(THREADS * EACH)
#define BLOCK		4096
#define WORDS		(BLOCK / sizeof(uint64_t))

struct entry {
	uint64_t issued, acked, failed;
};

static struct {
	uint64_t run;		/* sets our blocks apart from what stood there before */
	struct entry entries[BLOCKS];
} *book;
static int disk, errors_allowed;
static off_t offset;
static const char *stop;
static atomic_int ended, status;

static void verdict(int what)
{
	int now = atomic_load(&status);

	while (now < what && !atomic_compare_exchange_weak(&status, &now, what))
		;
	atomic_store(&ended, 1);
}

static void fill(uint64_t *data, unsigned int block, uint64_t number)
{
	data[0] = book->run + block;
	data[1] = number;
	for (size_t i = 2; i < WORDS; i++)
		data[i] = book_word(book->run + block, number, i);
}

/* Does @data hold one of the numbers that block @block may have? */
static int holds(const uint64_t *data, unsigned int block)
{
	const struct entry *e = &book->entries[block];
	uint64_t id = book->run + block, number = data[1];

	if (!e->acked && data[0] != id)	/* nothing was promised */
		return 1;
	if (data[0] != id || number > e->issued) {
		printf("block %u: holds what was never written there (%#llx, %llu)\n", block,
		       (unsigned long long)data[0], (unsigned long long)number);
		return 0;
	}
	for (size_t i = 2; i < WORDS; i++) {
		if (data[i] != book_word(id, number, i)) {
			printf("block %u: number %llu is torn at byte %zu\n", block,
			       (unsigned long long)number, i * sizeof(*data));
			return 0;
		}
	}
	if (number < e->acked) {
		printf("block %u: holds number %llu, but %llu was acknowledged\n", block,
		       (unsigned long long)number, (unsigned long long)e->acked);
		return 0;
	}
	return 1;
}

static void failed(const char *what, unsigned int block, ssize_t n)
{
	const struct timespec nap = { 0, 10000000 };

	book->entries[block].failed++;
	if (!errors_allowed) {
		if (atomic_load(&status) < LEDGER_ERRORS)	/* one of them says it */
			printf("block %u: %s failed: %s\n", block, what, n < 0 ? strerror(errno) : "short");
		verdict(LEDGER_ERRORS);
	}
	nanosleep(&nap, NULL);
}

static void look(unsigned int block, uint64_t *data)
{
	ssize_t n = pread(disk, data, BLOCK, offset + (off_t)block * BLOCK);

	if (n != BLOCK)
		failed("read", block, n);
	else if (!holds(data, block))
		verdict(LEDGER_LIES);
}

static void *writer(void *arg)
{
	unsigned int first = (uintptr_t)arg * EACH;
	uint64_t *data = aligned_alloc(BLOCK, BLOCK);

	if (!data)
		err(LEDGER_CANNOT, "memory");
	for (unsigned long turn = 0; !atomic_load(&ended); turn++) {
		unsigned int block = first + turn % EACH;
		struct entry *e = &book->entries[block];
		uint64_t number = e->issued + 1;
		ssize_t n;

		look(block, data);
		fill(data, block, number);
		e->issued = number;
		atomic_signal_fence(memory_order_seq_cst);	/* before it may be on its way */
		n = pwrite(disk, data, BLOCK, offset + (off_t)block * BLOCK);
		if (n == BLOCK)
			e->acked = number;
		else
			failed("write", block, n);
	}
	free(data);
	return NULL;
}

static struct entry totals(void)
{
	struct entry sum = { 0 };

	for (unsigned int i = 0; i < BLOCKS; i++) {
		sum.acked += book->entries[i].acked;
		sum.failed += book->entries[i].failed;
	}
	return sum;
}

static void check(void)
{
	uint64_t *data = aligned_alloc(BLOCK, BLOCK);

	if (!data)
		err(LEDGER_CANNOT, "memory");
	errors_allowed = 0;
	for (unsigned int i = 0; i < BLOCKS; i++)
		look(i, data);
	free(data);
	if (!totals().acked) {
		printf("no write was ever acknowledged\n");
		verdict(LEDGER_ERRORS);
	}
}

int main(int argc, char **argv)
{
	int writes = argc >= 6 && !strcmp(argv[1], "write");
	size_t size = sizeof(*book);

	if (argc == 3 && !strcmp(argv[1], "count")) {
		book = book_map(argv[2], size, 0);
		printf("%llu %llu\n", (unsigned long long)totals().acked,
		       (unsigned long long)totals().failed);
		return LEDGER_GOOD;
	}
	if (!writes && (argc != 5 || strcmp(argv[1], "check")))
		errx(LEDGER_CANNOT, "usage: ledger write DISK OFFSET BOOK STOP [--errors] | check DISK OFFSET BOOK | count BOOK");
	disk = open(argv[2], (writes ? O_RDWR : O_RDONLY) | O_DIRECT);
	if (disk < 0)
		err(LEDGER_CANNOT, "%s", argv[2]);
	offset = strtoll(argv[3], NULL, 0);
	book = book_map(argv[4], size, writes);
	if (writes) {
		book->run = book_word(time(NULL), getpid(), 0);
		stop = argv[5];
		errors_allowed = argc > 6 && !strcmp(argv[6], "--errors");
		work_until(stop, &ended, THREADS, writer);
	} else {
		check();
	}
	printf("%llu writes acknowledged, %llu reads and writes failed\n",
	       (unsigned long long)totals().acked, (unsigned long long)totals().failed);
	return atomic_load(&status);
}
