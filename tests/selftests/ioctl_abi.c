// SPDX-License-Identifier: GPL-2.0-only
/*
 * The passthrough ioctls of <linux/nvme_ioctl.h>, used rightly and wrongly.
 *
 *   ioctl_abi [--stock] CONTROLLER NAMESPACE NSID
 *
 * CONTROLLER and NAMESPACE are char devices (/dev/kdp0, /dev/kdpg0n1), NAMESPACE may also
 * be the disk. With --stock they are those of the in-tree driver (/dev/nvme0, /dev/ng0n1), and what kdp checks
 * beyond it is left out. Needs root. Writes to the first 64 KiB of the namespace.
 */
#include <stddef.h>

#include "nvme_abi.h"

/* --- commands ---------------------------------------------------------------- */

static struct nvme_passthru_cmd rw_cmd(uint8_t opcode, uint64_t slba, uint32_t nlb, void *buf,
				       uint32_t len)
{
	return (struct nvme_passthru_cmd){
		.opcode = opcode,
		.nsid = nsid,
		.addr = (uintptr_t)buf,
		.data_len = len,
		.cdw10 = (uint32_t)slba,
		.cdw11 = slba >> 32,
		.cdw12 = nlb - 1,
	};
}

static struct nvme_passthru_cmd64 to_cmd64(const struct nvme_passthru_cmd *c)
{
	return (struct nvme_passthru_cmd64){
		.opcode = c->opcode, .flags = c->flags, .rsvd1 = c->rsvd1, .nsid = c->nsid,
		.cdw2 = c->cdw2, .cdw3 = c->cdw3, .metadata = c->metadata, .addr = c->addr,
		.metadata_len = c->metadata_len, .data_len = c->data_len,
		.cdw10 = c->cdw10, .cdw11 = c->cdw11, .cdw12 = c->cdw12, .cdw13 = c->cdw13,
		.cdw14 = c->cdw14, .cdw15 = c->cdw15, .timeout_ms = c->timeout_ms,
	};
}

/* The same by IO_CMD and IO64_CMD. */
static void io(const char *name, int fd, struct nvme_passthru_cmd c, int want)
{
	struct nvme_passthru_cmd64 c64 = to_cmd64(&c);
	char text[160];

	snprintf(text, sizeof(text), "IO_CMD: %s", name);
	comes_back(text, by_ioctl(fd, NVME_IOCTL_IO_CMD, &c), want);
	snprintf(text, sizeof(text), "IO64_CMD: %s", name);
	comes_back(text, by_ioctl(fd, NVME_IOCTL_IO64_CMD, &c64), want);
}

/* A refused read leaves the buffer as it was. */
static void refused_read(const char *name, struct nvme_passthru_cmd c, unsigned char *buf,
			 size_t len, int want)
{
	io(name, ns_fd, c, want);
	if (!all_bytes(buf, len, GUARD)) {
		say("%s: the buffer was written to", name);
		point(false, "a refused read leaves the buffer alone");
		memset(buf, GUARD, len);
	}
}

static struct nvme_passthru_cmd identify(uint32_t cns, uint32_t id, void *buf)
{
	return (struct nvme_passthru_cmd){
		.opcode = ADM_IDENTIFY, .nsid = id, .addr = (uintptr_t)buf, .data_len = 4096,
		.cdw10 = cns,
	};
}

/* --- what works ------------------------------------------------------------- */

static void test_admin(void)
{
	unsigned char *buf = guarded(4096), *again = guarded(4096);
	struct nvme_passthru_cmd c = identify(1, 0, buf);
	struct nvme_passthru_cmd on_ns = identify(1, 0, again);

	say("%llu blocks of %u bytes", (unsigned long long)blocks, block);
	comes_back("ADMIN_CMD: Identify Controller on the controller",
		   by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN_CMD, &c), 0);
	point(buf[512] == 0x66 && buf[513] == 0x44, "Identify Controller holds entry sizes 66h and 44h");
	comes_back("ADMIN_CMD: Identify Controller on the namespace",
		   by_ioctl(ns_fd, NVME_IOCTL_ADMIN_CMD, &on_ns), 0);
	point(!memcmp(buf, again, 4096), "both give the same bytes");

	memset(buf, GUARD, 4096);
	c = identify(2, 0, buf);
	comes_back("ADMIN_CMD: active namespaces", by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN_CMD, &c), 0);
	point(!memcmp(buf, "\1\0\0\0", 4), "the list begins with namespace 1");

	c = (struct nvme_passthru_cmd){ .opcode = ADM_GET_FEAT, .cdw10 = 7, .result = 0xdeadbeef };
	comes_back("ADMIN_CMD: Get Features, number of queues",
		   by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN_CMD, &c), 0);
	point(c.result != 0xdeadbeef, "the result comes back");
}

static void test_data(void)
{
	static const uint32_t sizes[] = { 512, 4096, 8192, 65536 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t len = sizes[i] < block ? block : sizes[i];
		unsigned char *out = guarded(len), *in = guarded(len), *in64 = guarded(len);
		struct nvme_passthru_cmd w = rw_cmd(IO_WRITE, 0, len / block, out, len);
		struct nvme_passthru_cmd r = rw_cmd(IO_READ, 0, len / block, in, len);
		struct nvme_passthru_cmd64 r64, w64;
		char text[80];
		int rc;

		fill(out, len, len);
		rc = by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &w);
		if (!rc)
			rc = by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &r);
		snprintf(text, sizeof(text), "IO_CMD: write and read %u bytes", len);
		if (comes_back(text, rc, 0))
			point(!memcmp(out, in, len), "they are the same");

		fill(out, len, ~len);
		w64 = to_cmd64(&w);
		r = rw_cmd(IO_READ, 0, len / block, in64, len);
		r64 = to_cmd64(&r);
		rc = by_ioctl(ns_fd, NVME_IOCTL_IO64_CMD, &w64);
		if (!rc)
			rc = by_ioctl(ns_fd, NVME_IOCTL_IO64_CMD, &r64);
		snprintf(text, sizeof(text), "IO64_CMD: write and read %u bytes", len);
		if (comes_back(text, rc, 0))
			point(!memcmp(out, in64, len), "they are the same");
	}
	io("Flush", ns_fd, (struct nvme_passthru_cmd){ .opcode = IO_FLUSH, .nsid = nsid }, 0);
	io("a time limit of its own", ns_fd,
	   (struct nvme_passthru_cmd){ .opcode = IO_FLUSH, .nsid = nsid, .timeout_ms = 60000 }, 0);
}

/* A buffer that begins in the middle of a dword is served or refused, never garbled. */
static void test_alignment(void)
{
	static const unsigned int shifts[] = { 4, 1, 4092 };
	unsigned char *out = guarded(8192), *space = guarded(16384);

	fill(out, 8192, 77);
	if (by_ioctl(ns_fd, NVME_IOCTL_IO_CMD,
		    &(struct nvme_passthru_cmd[]){ rw_cmd(IO_WRITE, 0, 8192 / block, out, 8192) }))
		die("write for the alignment test");
	for (size_t i = 0; i < 3; i++) {
		unsigned char *in = space + shifts[i];
		struct nvme_passthru_cmd r = rw_cmd(IO_READ, 0, 8192 / block, in, 8192);
		int rc;
		char text[80];

		memset(space, GUARD, 16384);
		rc = by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &r);
		snprintf(text, sizeof(text), "read to a buffer %u bytes off", shifts[i]);
		say("%s: %s", text, rc ? strerror(-rc) : "served");
		point((rc == -EINVAL && all_bytes(space, 16384, GUARD)) ||
		      (!rc && !memcmp(in, out, 8192) && all_bytes(space, shifts[i], GUARD) &&
		       all_bytes(in + 8192, 16384 - 8192 - shifts[i], GUARD)), text);
	}
}

/* --- what is refused --------------------------------------------------------- */

static void test_requests(void)
{
	struct nvme_passthru_cmd c = { 0 };

	comes_back("NVME_IOCTL_ID gives the namespace",
		   by_ioctl(ns_fd, NVME_IOCTL_ID, NULL) == (int)nsid ? 0 : -EBADE, 0);
	comes_back("NVME_IOCTL_ID on the controller", by_ioctl(ctrl_fd, NVME_IOCTL_ID, NULL), -ENOTTY);
	comes_back("NVME_IOCTL_RESCAN on the controller",
		   by_ioctl(ctrl_fd, NVME_IOCTL_RESCAN, NULL), 0);
	comes_back("NVME_IOCTL_RESCAN on the namespace",
		   by_ioctl(ns_fd, NVME_IOCTL_RESCAN, NULL), -ENOTTY);
	comes_back("NVME_IOCTL_RESET on the namespace",
		   by_ioctl(ns_fd, NVME_IOCTL_RESET, NULL), -ENOTTY);
	comes_back("NVME_IOCTL_SUBSYS_RESET on the controller",
		   by_ioctl(ctrl_fd, NVME_IOCTL_SUBSYS_RESET, NULL), -ENOTTY);
	comes_back("NVME_IOCTL_SUBSYS_RESET on the namespace",
		   by_ioctl(ns_fd, NVME_IOCTL_SUBSYS_RESET, NULL), -ENOTTY);
	comes_back("unknown ioctl on the namespace", by_ioctl(ns_fd, _IO('N', 0x7f), &c), -ENOTTY);
	comes_back("unknown ioctl on the controller", by_ioctl(ctrl_fd, _IO('N', 0x7f), &c), -ENOTTY);
	comes_back("ioctl of another type", by_ioctl(ns_fd, _IO('T', 0x01), &c), -ENOTTY);
	comes_back("IO_CMD with another size in its number",
		   by_ioctl(ns_fd, _IOWR('N', 0x43, char[16]), &c), -ENOTTY);
}

static void test_fields(void)
{
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd good = rw_cmd(IO_READ, 0, 4096 / block, buf, 4096), c;

	for (unsigned int bit = 0; bit < 8; bit++) {
		char text[40];

		c = good;
		c.flags = 1U << bit;
		snprintf(text, sizeof(text), "flags 0x%02x", 1U << bit);
		refused_read(text, c, buf, 4096, -EINVAL);
	}
	c = good;
	c.nsid = nsid + 1;
	refused_read("another namespace's number", c, buf, 4096, -EINVAL);
	c.nsid = 0;
	refused_read("namespace 0", c, buf, 4096, -EINVAL);
	c.nsid = 0xffffffff;
	refused_read("namespace ffffffffh", c, buf, 4096, -EINVAL);
	if (stock)
		return;

	c = good;
	c.rsvd1 = 1;
	refused_read("reserved field not 0", c, buf, 4096, -EINVAL);
	c = good;
	c.metadata = (uintptr_t)buf;
	c.metadata_len = 64;
	refused_read("metadata", c, buf, 4096, -EINVAL);
	c = good;
	c.metadata_len = 64;
	refused_read("length of metadata without an address", c, buf, 4096, -EINVAL);
}

static void test_lengths(void)
{
	unsigned char *buf = guarded(4096);
	struct {
		const char *name;
		uint32_t nlb, len;
	} cases[] = {
		{ "length 0 for one block", 1, 0 },
		{ "one byte short", 4096 / block, 4095 },
		{ "one byte long", 4096 / block, 4097 },
		{ "a block for eight", 8 * 4096 / block, 4096 },
		{ "a page for the most blocks", 65536, 4096 },
		{ "half a block", 1, block / 2 },
		{ "one byte", 1, 1 },
		{ "length ffffffffh", 4096 / block, 0xffffffff },
		{ "length 80000000h", 4096 / block, 0x80000000 },
		{ "length fffff000h", 4096 / block, 0xfffff000 },
	};

	if (stock)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nvme_passthru_cmd c = rw_cmd(IO_READ, 0, cases[i].nlb, buf, cases[i].len);
		char text[80];

		snprintf(text, sizeof(text), "read, %s", cases[i].name);
		refused_read(text, c, buf, 4096, -EINVAL);
		c.opcode = IO_WRITE;
		snprintf(text, sizeof(text), "write, %s", cases[i].name);
		io(text, ns_fd, c, -EINVAL);
	}
	io("Flush with data", ns_fd,
	   (struct nvme_passthru_cmd){ .opcode = IO_FLUSH, .nsid = nsid, .addr = (uintptr_t)buf,
				       .data_len = 4096 }, -EINVAL);
}

static void test_opcodes(void)
{
	static const uint8_t unknown[] = { 0x54, 0x70, 0x80, 0xc0, 0xfc };
	static const uint8_t with_data[] = { 0x56, 0xc2 };
	unsigned char *buf = guarded(4096);
	struct nvme_passthru_cmd c;
	char text[80];
	int rc;

	for (size_t i = 0; i < sizeof(unknown); i++) {
		c = (struct nvme_passthru_cmd){ .opcode = unknown[i], .nsid = nsid };
		rc = by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &c);
		snprintf(text, sizeof(text), "unknown I/O opcode %02xh is refused", unknown[i]);
		say("%02xh: %d", unknown[i], rc);
		point(refused(rc), text);

		c = (struct nvme_passthru_cmd){ .opcode = unknown[i] };
		rc = by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN_CMD, &c);
		snprintf(text, sizeof(text), "unknown admin opcode %02xh is refused", unknown[i]);
		point(refused(rc), text);
	}
	for (size_t i = 0; i < sizeof(with_data); i++) {
		c = rw_cmd(with_data[i], 0, 4096 / block, buf, 4096);
		rc = by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &c);
		snprintf(text, sizeof(text), "unknown I/O opcode %02xh with data is refused",
			 with_data[i]);
		point(refused(rc), text);
	}
	point(all_bytes(buf, 4096, GUARD), "and writes nothing");

	if (stock)
		return;
	/* Connect, Property Set: the driver's own */
	c = (struct nvme_passthru_cmd){ .opcode = OPC_FABRICS, .nsid = 1 };
	rc = by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN_CMD, &c);
	point(refused(rc), "a fabrics command by ADMIN_CMD is refused");
	c = (struct nvme_passthru_cmd){ .opcode = OPC_FABRICS, .nsid = nsid };
	rc = by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &c);
	point(refused(rc), "a fabrics command by IO_CMD is refused");
}

/*
 * Many pages of which none can be had, or only the last not: what was taken meanwhile is given
 * back each time. Whether it was, kmemleak (uml-debug) and the guest's watch over its memory say.
 */
static void test_missing_pages(void)
{
	const size_t len = 65536;
	const uint32_t nlb = len / block;
	unsigned int i, wrong = 0;

	for (i = 0; i < 64; i++) {
		unsigned char *buf = guarded(len - 4096);
		struct nvme_passthru_cmd cmds[] = {
			rw_cmd(IO_READ, 0, nlb, (void *)4096, len),
			rw_cmd(IO_WRITE, 0, nlb, (void *)4096, len),
			rw_cmd(IO_READ, 0, nlb, buf, len),
			rw_cmd(IO_WRITE, 0, nlb, buf, len),
		};

		for (size_t j = 0; j < ARRAY_SIZE(cmds); j++)
			wrong += by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &cmds[j]) != -EFAULT;
		munmap(buf - 4096, len + 4096);
	}
	say("%u commands of %zu bytes, %u did not end by EFAULT", 4 * i, len, wrong);
	point(!wrong, "many pages, all or the last of them missing: EFAULT");
}

static void test_addresses(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *buf = guarded(4096);
	unsigned char *ro = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t nlb = 4096 / block;
	struct nvme_passthru_cmd *ro_cmd;

	io("read to a page that is not there", ns_fd,
	   rw_cmd(IO_READ, 0, nlb, (void *)16, 4096), -EFAULT);
	io("write from a page that is not there", ns_fd,
	   rw_cmd(IO_WRITE, 0, nlb, (void *)16, 4096), -EFAULT);
	io("read to a kernel address", ns_fd,
	   rw_cmd(IO_READ, 0, nlb, (void *)0xffff888000000000UL, 4096), -EFAULT);
	io("read to a page that is read-only", ns_fd, rw_cmd(IO_READ, 0, nlb, ro, 4096), -EFAULT);
	io("read over the end of a mapping", ns_fd,
	   rw_cmd(IO_READ, 0, 2 * nlb, buf, 8192), -EFAULT);
	io("write over the end of a mapping", ns_fd,
	   rw_cmd(IO_WRITE, 0, 2 * nlb, buf, 8192), -EFAULT);

	test_missing_pages();

	comes_back("IO_CMD at address 0", by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, NULL), -EFAULT);
	comes_back("IO64_CMD at address 0", by_ioctl(ns_fd, NVME_IOCTL_IO64_CMD, NULL), -EFAULT);
	comes_back("ADMIN_CMD at address 0", by_ioctl(ctrl_fd, NVME_IOCTL_ADMIN_CMD, NULL), -EFAULT);
	comes_back("IO_CMD half behind a mapping",
		   by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, buf + 4096 - 16), -EFAULT);

	ro_cmd = (void *)guarded(page);
	*ro_cmd = (struct nvme_passthru_cmd){ .opcode = IO_FLUSH, .nsid = nsid };
	mprotect(ro_cmd, page, PROT_READ);
	comes_back("IO_CMD whose result cannot be stored",
		   by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, ro_cmd), -EFAULT);
}

static void test_range(void)
{
	unsigned char *buf = guarded(4096);
	uint32_t nlb = 4096 / block;
	struct nvme_passthru_cmd c = rw_cmd(IO_READ, blocks, nlb, buf, 4096);

	say("status beyond the end: 0x%x", by_ioctl(ns_fd, NVME_IOCTL_IO_CMD, &c));
	refused_read("read just beyond the end", c, buf, 4096, NVME_STATUS);
	io("write just beyond the end", ns_fd, rw_cmd(IO_WRITE, blocks, nlb, buf, 4096), NVME_STATUS);
	refused_read("read across the end", rw_cmd(IO_READ, blocks - 1, nlb < 2 ? 2 : nlb, buf,
						   nlb < 2 ? 2 * block : 4096),
		     buf, 4096, NVME_STATUS);
	refused_read("read at the last LBA there can be", rw_cmd(IO_READ, ~0ULL, nlb, buf, 4096),
		     buf, 4096, NVME_STATUS);
}

/* --- rights ------------------------------------------------------------------ */

static void test_read_only_fd(void)
{
	unsigned char *buf = guarded(4096);
	int fd = open(ns_path, O_RDONLY);
	uint32_t nlb = 4096 / block;

	if (fd < 0)
		die("open %s read-only", ns_path);
	io("read by a read-only descriptor", fd, rw_cmd(IO_READ, 0, nlb, buf, 4096), 0);
	/* nvme-cli opens read-only and writes: with CAP_SYS_ADMIN that goes */
	io("root writes by a read-only descriptor", fd, rw_cmd(IO_WRITE, 0, nlb, buf, 4096), 0);
	close(fd);
}

static void test_as_nobody(void)
{
	unsigned char *buf = guarded(4096);
	uint32_t nlb = 4096 / block;
	struct nvme_passthru_cmd c;
	int ctrl, ns, ro, rc;

	ctrl = open(ctrl_path, O_RDWR);
	ns = open(ns_path, O_RDWR);
	ro = open(ns_path, O_RDONLY);
	if (ctrl < 0 || ns < 0 || ro < 0)
		die("open the nodes as nobody");

	c = identify(1, 0, buf);
	comes_back("nobody: Identify Controller", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), 0);
	c = identify(0, nsid, buf);
	comes_back("nobody: Identify Namespace", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), 0);
	c = (struct nvme_passthru_cmd){ .opcode = ADM_GET_LOG, .nsid = 0xffffffff,
					.addr = (uintptr_t)buf, .data_len = 512,
					.cdw10 = 127U << 16 | 2 };
	comes_back("nobody: Get Log Page", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), -EACCES);
	comes_back("nobody: Get Log Page by the namespace",
		   by_ioctl(ns, NVME_IOCTL_ADMIN_CMD, &c), -EACCES);
	c = (struct nvme_passthru_cmd){ .opcode = ADM_GET_FEAT, .cdw10 = 7 };
	comes_back("nobody: Get Features", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), -EACCES);
	c = (struct nvme_passthru_cmd){ .opcode = ADM_SET_FEAT, .cdw10 = 7, .cdw11 = 0x10001 };
	comes_back("nobody: Set Features", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), -EACCES);
	comes_back("nobody: NVME_IOCTL_RESCAN", by_ioctl(ctrl, NVME_IOCTL_RESCAN, NULL), -EACCES);
	comes_back("nobody: NVME_IOCTL_RESET", by_ioctl(ctrl, NVME_IOCTL_RESET, NULL), -EACCES);
	c = (struct nvme_passthru_cmd){ .opcode = 0xc0 };
	comes_back("nobody: vendor admin opcode", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), -EACCES);
	c = (struct nvme_passthru_cmd){ .opcode = OPC_FABRICS, .nsid = 4 };
	comes_back("nobody: fabrics opcode", by_ioctl(ctrl, NVME_IOCTL_ADMIN_CMD, &c), -EACCES);

	io("nobody: vendor opcode", ns, (struct nvme_passthru_cmd){ .opcode = 0x80, .nsid = nsid },
	   -EACCES);
	c = (struct nvme_passthru_cmd){ .opcode = OPC_FABRICS, .nsid = nsid };
	rc = by_ioctl(ns, NVME_IOCTL_IO_CMD, &c);
	point(rc == -EACCES || rc == -EOPNOTSUPP, "nobody: fabrics opcode by IO_CMD");
	io("nobody: read", ns, rw_cmd(IO_READ, 0, nlb, buf, 4096), 0);
	io("nobody: write back what was read", ns, rw_cmd(IO_WRITE, 0, nlb, buf, 4096), 0);
	io("nobody: read by a read-only descriptor", ro, rw_cmd(IO_READ, 0, nlb, buf, 4096), 0);
	io("nobody: write by a read-only descriptor", ro, rw_cmd(IO_WRITE, 0, nlb, buf, 4096),
	   -EACCES);
}

static void test_unprivileged(void)
{
	struct stat ctrl, ns;

	if (stat(ctrl_path, &ctrl) || stat(ns_path, &ns))
		die("stat %s and %s", ctrl_path, ns_path);
	point(!(ctrl.st_mode & 077), "the controller's node is for root only");
	point(!(ns.st_mode & 077), "the namespace's node is for root only");
	as_nobody(test_as_nobody);
}

int main(int argc, char **argv)
{
	open_arguments("ioctl_abi", argc, argv);
	learn_geometry();
	test_requests();
	test_admin();
	test_data();
	test_alignment();
	test_fields();
	test_lengths();
	test_opcodes();
	test_addresses();
	test_range();
	test_read_only_fd();
	test_unprivileged();
	return points_failed ? 1 : 0;
}
