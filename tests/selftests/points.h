/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a helper program of a selftest prints: "ok - NAME" or "not ok - NAME", and
 * "# why" before a failed one. The script that runs it numbers the points
 * (points_from in common.sh).
 */
#ifndef KDP_POINTS_H
#define KDP_POINTS_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static int points_failed;

static inline bool point(bool good, const char *name)
{
	printf("%s - %s\n", good ? "ok" : "not ok", name);
	fflush(stdout);
	points_failed += !good;
	return good;
}

__attribute__((format(printf, 1, 2)))
static inline void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* The program itself cannot go on: nothing was tested. */
__attribute__((format(printf, 1, 2), noreturn))
static inline void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf(": %s\nnot ok - the test can run\n", strerror(errno));
	va_end(args);
	exit(2);
}

#endif /* KDP_POINTS_H */
