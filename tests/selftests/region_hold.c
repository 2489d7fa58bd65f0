// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds a registered region while a script does something to the controller.
 *
 *   region_hold CONTROLLER NAMESPACE NSID BYTES
 *
 * Reads words from stdin, and answers each with a line:
 *
 *   add		the region: "0", or the errno's name
 *   io N		N writes and N reads of 4 KiB, and their bytes looked at: "0 USES", or what the
 *			first that failed came back with
 *   list		"REGIONS MRS", of all together
 *   del
 *   flood		128 reads at a time, by io_uring, until one fails or `ended`: "begun"
 *   ended		the flood comes to its end: "COMMANDS RESULT", of the first that failed
 *   flood-and-hang	128 reads at a time, for ever, the script kills: "begun"
 *
 * Ends with stdin. Writes to the first MiB of the namespace.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "region.h"
#include "uring.h"

#define DEPTH		128

static unsigned char *memory;
static size_t len;
static struct io_uring ring;
static pthread_t flooder;
static bool for_ever;
static atomic_bool enough;
static atomic_ulong ended;
static int result;

/* In words: 0, an errno's name, or a status. */
static const char *words(int rc)
{
	static char text[32];

	if (rc < 0)
		return strerrorname_np(-rc) ?: "?";
	snprintf(text, sizeof(text), rc ? "status 0x%x" : "%d", rc);
	return text;
}

static uint64_t place(unsigned long n)
{
	return n * 4096 % len;
}

static void io(unsigned long n)
{
	uint64_t before = region_uses(ns_fd, (uintptr_t)memory);
	unsigned char expected[4096];
	int rc = 0;

	for (unsigned long i = 0; i < n && !rc; i++) {
		unsigned char *p = memory + place(i);
		uint64_t slba = i * 4096 / block % (1048576 / block);

		fill(expected, sizeof(expected), i);
		memcpy(p, expected, sizeof(expected));
		rc = io64(ns_fd, rw64(IO_WRITE, slba, 4096 / block, p, 4096));
		memset(p, GUARD, 4096);
		if (!rc)
			rc = io64(ns_fd, rw64(IO_READ, slba, 4096 / block, p, 4096));
		if (!rc && memcmp(p, expected, sizeof(expected)))
			rc = -EBADE;
	}
	if (rc)
		printf("%s\n", words(rc));
	else
		printf("0 %llu\n", (unsigned long long)(region_uses(ns_fd, (uintptr_t)memory) - before));
}

static void list(void)
{
	static struct kdp_region_info infos[16];
	struct kdp_region_list l = { .infos = (uintptr_t)infos, .nr = ARRAY_SIZE(infos) };
	int rc = region_call(ns_fd, KDP_IOC_REGION_LIST, &l);
	unsigned int mrs = 0;

	if (rc) {
		printf("%s\n", words(rc));
		return;
	}
	for (uint32_t i = 0; i < l.nr && i < ARRAY_SIZE(infos); i++)
		mrs += infos[i].mrs;
	printf("%u %u\n", l.nr, mrs);
}

static void add_read(unsigned long n)
{
	struct nvme_passthru_cmd64 c = rw64(IO_READ, 0, 4096 / block, memory + place(n), 4096);
	struct nvme_uring_cmd u = uring_cmd(&c);

	ring_add(&ring, ns_fd, NVME_URING_CMD_IO, &u, n);
}

static void *flood(void *unused)
{
	unsigned long begun = 0, n = 0;
	struct io_uring_cqe *cqe;

	while (begun < DEPTH)
		add_read(begun++);
	ring_submit(&ring);
	for (; n < begun; n++) {
		if (io_uring_wait_cqe(&ring, &cqe))
			break;
		if (cqe->res && !result)
			result = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
		atomic_store(&ended, n + 1);
		if ((!result && !atomic_load(&enough)) || for_ever) {
			add_read(begun++);
			io_uring_submit(&ring);
		}
	}
	return unused;
}

static void begin_flood(bool hang)
{
	for_ever = hang;
	result = 0;
	atomic_store(&ended, 0);
	atomic_store(&enough, false);
	if (pthread_create(&flooder, NULL, flood, NULL))
		die("pthread_create");
	while (atomic_load(&ended) < DEPTH)
		usleep(1000);
	printf("begun\n");
}

int main(int argc, char **argv)
{
	char line[80];

	if (argc != 5) {
		fprintf(stderr, "usage: region_hold CONTROLLER NAMESPACE NSID BYTES\n");
		return 2;
	}
	open_devices(argv + 1);
	learn_geometry();
	len = strtoul(argv[4], NULL, 0);
	memory = pages(len);
	ring_make(&ring, DEPTH, BIG_RING);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long n = 1;
		char word[32];

		if (sscanf(line, "%31s %lu", word, &n) < 1)
			continue;
		if (!strcmp(word, "add"))
			printf("%s\n", words(region_add(ns_fd, memory, len, BOTH_WAYS)));
		else if (!strcmp(word, "del"))
			printf("%s\n", words(region_drop(ns_fd, memory)));
		else if (!strcmp(word, "io"))
			io(n);
		else if (!strcmp(word, "list"))
			list();
		else if (!strcmp(word, "flood") || !strcmp(word, "flood-and-hang"))
			begin_flood(word[5]);
		else if (!strcmp(word, "ended")) {
			patience();
			atomic_store(&enough, true);
			pthread_join(flooder, NULL);
			printf("%lu %s\n", atomic_load(&ended), words(result));
		} else {
			printf("what is '%s'?\n", word);
		}
		alarm(0);
	}
	return 0;
}
