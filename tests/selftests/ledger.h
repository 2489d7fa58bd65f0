/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The book that ledger and fsync_files keep: a file outside of what is tested, mapped, so
 * that each entry stands there once it is made, whatever becomes of the program.
 */
#ifndef KDP_LEDGER_H
#define KDP_LEDGER_H

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses. */
enum {
	LEDGER_GOOD,
	LEDGER_ERRORS,		/* something failed that should not */
	LEDGER_CANNOT,		/* the program cannot run */
	LEDGER_LIES,		/* what was acknowledged is not there */
};

/* book_map: @size bytes of @path, made anew or as they stand there. */
static inline void *book_map(const char *path, size_t size, int anew)
{
	int fd = open(path, anew ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR, 0644);
	struct stat st;
	void *book;

	if (fd < 0 || (anew && ftruncate(fd, size)) || fstat(fd, &st))
		err(LEDGER_CANNOT, "%s", path);
	if ((size_t)st.st_size != size)
		errx(LEDGER_CANNOT, "%s: is no book of this program", path);
	book = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (book == MAP_FAILED)
		err(LEDGER_CANNOT, "%s: mmap", path);
	close(fd);
	return book;
}

/* Word @i of version @version of thing @thing: no two have a word in common by chance. */
static inline uint64_t book_word(uint64_t thing, uint64_t version, uint64_t i)
{
	uint64_t x = thing * 0x9e3779b97f4a7c15 + version * 0xbf58476d1ce4e5b9 + i;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/*
 * work_until: @count threads of @work, each with its number, until the file @stop is there or
 * one of them has set @ended.
 */
static inline void work_until(const char *stop, atomic_int *ended, unsigned int count,
			      void *(*work)(void *number))
{
	const struct timespec nap = { 0, 50000000 };
	pthread_t threads[count];

	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			errx(LEDGER_CANNOT, "threads");
	while (!atomic_load(ended)) {
		if (!access(stop, F_OK))
			atomic_store(ended, 1);
		nanosleep(&nap, NULL);
	}
	for (unsigned int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

#endif /* KDP_LEDGER_H */
