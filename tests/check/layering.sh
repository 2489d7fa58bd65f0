#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# includes point downward only: core <- host, core <- target, uapi <- lib <- tools

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rc=0

# forbid WHERE PATTERN WHY: no #include below WHERE may match.
forbid() {
	local hits
	[[ -e $1 ]] || return 0
	hits=$(grep -rnE --include='*.[ch]' --include='*.[ch]pp' \
		"^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1") || return 0
	printf '%s\n%s\n' "$3:" "$hits"
	rc=1
}

forbid kernel/core '(.*/)?(host|target)/|(\.\./)*(include/)?nvmf/|linux/nvme|uapi/kdp' \
	"kernel/core knows RDMA only: no host, no target, no NVMe"
forbid kernel/compat '(.*/)?(host|target)/' "kernel/compat knows kernels only"
forbid kernel/host '(.*/)?target/' "kernel/host does not know the target"
forbid kernel/target '(.*/)?host/' "kernel/target does not know the host"
forbid include '(.*/)?(kernel|lib|tools|tests)/' "include/ stands below everything"
forbid include/nvmf '(.*/)?(kdp|uapi)/' "the wire format depends on nothing"
forbid include/uapi '.*\.hpp|(.*/)?nvmf/' "the interface to the kernel depends on nothing"
forbid lib '(.*/)?tools/|CLI/' "lib does not know the tools, nor argument parsing"
forbid tools 'infiniband/|rdma/|linux/nvme_ioctl' "tools know neither verbs nor ioctls"

# One place knows kernel versions.
if hits=$(grep -rnE --include='*.[ch]' 'LINUX_VERSION_CODE|KERNEL_VERSION\(|#[[:space:]]*if.*\bHAVE_' \
	kernel 2>/dev/null | grep -v '^kernel/compat/'); then
	printf 'kernel versions and features are known to kernel/compat only:\n%s\n' "$hits"
	rc=1
fi
exit "$rc"
