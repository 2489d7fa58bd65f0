// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filesystem under a load that waits for its disk all the time: files are written, fsynced,
 * renamed over others and removed, and each directory is fsynced after that.
 *
 *   fsync_files write DIR BOOK STOP    until the file STOP is there
 *   fsync_files check DIR BOOK         is every file as it was left?
 *
 * Four threads, each with a directory and 12 names of its own. BOOK, a file elsewhere, has the
 * version in which each name was left, 0 if removed. Between write and check the filesystem
 * is unmounted, so that check sees the disk.
 *
 * Exit status: 0; 1 an operation failed, or no file was ever written; 2 cannot run; 3 a file is not as
 * it was left.
 */
#include <errno.h>
#include <stdio.h>

#include "ledger.h"

#define THREADS		4
#define NAMES		12
#define MOST		(40 << 10)	/* bytes of a file */

struct book {
	uint64_t left[THREADS][NAMES];	/* the version */
	uint64_t operations;
};

static struct book *book;
static const char *dir, *stop;
static atomic_int ended, status;
static atomic_ullong operations;

static void failed(const char *what, const char *name)
{
	printf("%s %s: %s\n", what, name, strerror(errno));
	atomic_store(&status, LEDGER_ERRORS);
	atomic_store(&ended, 1);
}

static unsigned int thing(unsigned int thread, unsigned int name)
{
	return thread * NAMES + name;
}

/* Bytes of that version: not a multiple of anything. */
static size_t bytes_of(unsigned int id, uint64_t version)
{
	return 8 + book_word(id, version, ~0ull) % (MOST - 8);
}

static void fill(char *data, unsigned int id, uint64_t version)
{
	for (size_t i = 0; i < MOST / sizeof(uint64_t); i++) {
		uint64_t word = book_word(id, version, i);

		memcpy(data + i * sizeof(word), &word, sizeof(word));
	}
}

/* All of it, to the disk. */
static int write_file(int at, const char *name, const char *data, size_t bytes)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	int good;

	if (fd < 0)
		return 0;
	good = write(fd, data, bytes) == (ssize_t)bytes && !fsync(fd);
	return !close(fd) && good;
}

static void *worker(void *arg)
{
	unsigned int me = (uintptr_t)arg;
	char path[4096], name[16], *data = malloc(MOST);
	uint64_t version = 0;
	int at;

	snprintf(path, sizeof(path), "%s/%u", dir, me);
	mkdir(path, 0755);
	at = open(path, O_RDONLY | O_DIRECTORY);
	if (at < 0 || !data)
		err(LEDGER_CANNOT, "%s", path);
	while (!atomic_load(&ended)) {
		uint64_t r = book_word(me, ++version, 0);
		unsigned int i = r % NAMES, id = thing(me, i);
		int removes = book->left[me][i] && (r >> 32) % 4 == 0;

		snprintf(name, sizeof(name), "file%u", i);
		if (removes) {
			if (unlinkat(at, name, 0))
				failed("unlink", name);
		} else {
			fill(data, id, version);
			if (!write_file(at, "new", data, bytes_of(id, version)))
				failed("write and fsync", name);
			else if (renameat(at, "new", at, name))
				failed("rename", name);
		}
		if (fsync(at))
			failed("fsync of the directory of", name);
		book->left[me][i] = removes ? 0 : version;
		book->operations = atomic_fetch_add(&operations, 1) + 1;
	}
	close(at);
	free(data);
	return NULL;
}

static int as_left(unsigned int thread, unsigned int i)
{
	static char want[MOST], got[MOST + 1];
	uint64_t version = book->left[thread][i];
	unsigned int id = thing(thread, i);
	char path[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/file%u", dir, thread, i);
	fd = open(path, O_RDONLY);
	if (!version) {
		if (fd < 0 && errno == ENOENT)
			return 1;
		printf("%s was removed and is there\n", path);
		return 0;
	}
	if (fd < 0) {
		printf("%s: %s\n", path, strerror(errno));
		return 0;
	}
	n = read(fd, got, sizeof(got));
	close(fd);
	fill(want, id, version);
	if (n == (ssize_t)bytes_of(id, version) && !memcmp(want, got, n))
		return 1;
	printf("%s is not version %llu (%zd bytes)\n", path, (unsigned long long)version, n);
	return 0;
}

int main(int argc, char **argv)
{
	int writes = argc == 5 && !strcmp(argv[1], "write");

	if (!writes && (argc != 4 || strcmp(argv[1], "check")))
		errx(LEDGER_CANNOT, "usage: fsync_files write DIR BOOK STOP | check DIR BOOK");
	dir = argv[2];
	book = book_map(argv[3], sizeof(*book), writes);
	if (writes) {
		stop = argv[4];
		work_until(stop, &ended, THREADS, worker);
	} else {
		for (unsigned int t = 0; t < THREADS; t++)
			for (unsigned int i = 0; i < NAMES; i++)
				if (!as_left(t, i))
					atomic_store(&status, LEDGER_LIES);
		if (!book->operations && !atomic_load(&status)) {
			printf("no file was ever written\n");
			atomic_store(&status, LEDGER_ERRORS);
		}
	}
	printf("%llu operations\n", (unsigned long long)book->operations);
	return atomic_load(&status);
}
