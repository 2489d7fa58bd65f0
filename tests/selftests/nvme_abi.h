/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the char devices share: NVMe commands as <linux/nvme_ioctl.h> has
 * them, the size of the namespace, who may do what, and an end to our patience.
 */
#ifndef KDP_NVME_ABI_H
#define KDP_NVME_ABI_H

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffers.h"
#include "points.h"

#define IO_FLUSH	0x00
#define IO_WRITE	0x01
#define IO_READ		0x02
#define IO_COMPARE	0x05
#define ADM_GET_LOG	0x02
#define ADM_IDENTIFY	0x06
#define ADM_SET_FEAT	0x09
#define ADM_GET_FEAT	0x0a
#define OPC_FABRICS	0x7f

#define NOBODY		65534

/* <linux/nvme_ioctl.h> of Debian 12 may lack it. */
#ifndef NVME_IOCTL_IO64_CMD_VEC
#define NVME_IOCTL_IO64_CMD_VEC	_IOWR('N', 0x49, struct nvme_passthru_cmd64)
#endif

/* What a command may come back with. */
#define NVME_STATUS	0x10000		/* any NVMe status */

/* The device that is tested; with stock it is the in-tree driver's. */
static const char *ctrl_path, *ns_path;
static int ctrl_fd = -1, ns_fd = -1;
static uint32_t nsid, block = 512;
static uint64_t blocks;
static bool stock __attribute__((unused));

/* No single step may take longer, on the slowest machine. */
#define PATIENCE_S	100

/* What is being done; said when it does not end. */
static char step[200] __attribute__((unused));

static inline void out_of_patience(int sig __attribute__((unused)))
{
	static const char text[] = "\nnot ok - each step ends in time\n";
	ssize_t n = write(STDOUT_FILENO, "# ", 2);

	n += write(STDOUT_FILENO, step, strlen(step));
	n += write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(n > 0 ? 1 : 2);
}

/* The next step has as long as the one before. */
static inline void patience(void)
{
	signal(SIGALRM, out_of_patience);
	alarm(PATIENCE_S);
}

static inline struct nvme_passthru_cmd64 rw64(uint8_t opcode, uint64_t slba, uint32_t nlb,
					      const void *buf, uint32_t len)
{
	return (struct nvme_passthru_cmd64){
		.opcode = opcode,
		.nsid = nsid,
		.addr = (uintptr_t)buf,
		.data_len = len,
		.cdw10 = (uint32_t)slba,
		.cdw11 = slba >> 32,
		.cdw12 = nlb - 1,
	};
}

static inline struct nvme_passthru_cmd64 identify64(uint32_t cns, uint32_t id, void *buf)
{
	return (struct nvme_passthru_cmd64){
		.opcode = ADM_IDENTIFY, .nsid = id, .addr = (uintptr_t)buf, .data_len = 4096,
		.cdw10 = cns,
	};
}

/* Returns 0, an NVMe status (positive) or a negative errno. */
static inline int by_ioctl(int fd, unsigned long request, void *cmd)
{
	int rc;

	patience();
	rc = ioctl(fd, request, cmd);
	return rc < 0 ? -errno : rc;
}

static inline int io64(int fd, struct nvme_passthru_cmd64 c)
{
	return by_ioctl(fd, NVME_IOCTL_IO64_CMD, &c);
}

static inline void say_result(const char *name, int rc)
{
	if (rc < 0)
		say("%s: %s", name, strerror(-rc));
	else
		say("%s: NVMe status 0x%x", name, rc);
}

static inline bool comes_back(const char *name, int rc, int want)
{
	bool good = want == NVME_STATUS ? rc > 0 : rc == want;

	if (!good) {
		say_result(name, rc);
		if (want < 0)
			say("expected: %s", strerror(-want));
	}
	return point(good, name);
}

/* A command that reached the target and was refused there, or did not get so far. */
static inline bool refused(int rc)
{
	return rc > 0 || rc == -EINVAL || rc == -EACCES || rc == -EOPNOTSUPP;
}

static inline void open_devices(char **argv)
{
	ctrl_path = argv[0];
	ns_path = argv[1];
	nsid = strtoul(argv[2], NULL, 0);
	ctrl_fd = open(ctrl_path, O_RDWR);
	ns_fd = open(ns_path, O_RDWR);
	if (ctrl_fd < 0 || ns_fd < 0)
		die("open %s", ctrl_fd < 0 ? ctrl_path : ns_path);
}

/* open_arguments: [--stock] CONTROLLER NAMESPACE NSID of the program @name. */
static inline void open_arguments(const char *name, int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--stock")) {
		stock = true;
		argc--;
		argv++;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: %s [--stock] CONTROLLER NAMESPACE NSID\n", name);
		exit(2);
	}
	open_devices(argv + 1);
}

static inline void learn_geometry(void)
{
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd64 c = identify64(0, nsid, buf);
	uint32_t lbaf;

	if (by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN64_CMD, &c))
		die("Identify Namespace on %s", ctrl_path);
	memcpy(&blocks, buf, sizeof(blocks));
	memcpy(&lbaf, buf + 128 + 4 * (buf[26] & 0xf), sizeof(lbaf));
	block = 1U << (lbaf >> 16 & 0xff);
	if (block < 512 || block > 4096 || blocks * block < 1 << 20)
		die("%llu blocks of %u bytes", (unsigned long long)blocks, block);
}

/* Both nodes by nobody's rights in a child; its points are ours. */
static inline void as_nobody(void (*test)(void))
{
	const char *paths[] = { ctrl_path, ns_path };
	mode_t modes[2];
	struct stat st;
	int status;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		if (stat(paths[i], &st) || chmod(paths[i], 0666))
			die("chmod %s", paths[i]);
		modes[i] = st.st_mode & 07777;
	}
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		points_failed = 0;
		if (setgid(NOBODY) || setuid(NOBODY))
			die("setuid nobody");
		test();
		exit(points_failed ? 1 : 0);
	}
	alarm(0);	/* it has its own */
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 2)
			point(false, "what nobody does runs to its end");
		points_failed++;
	}
	for (int i = 0; i < 2; i++)
		chmod(paths[i], modes[i]);
}

#endif /* KDP_NVME_ABI_H */
