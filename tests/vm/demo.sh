#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make demo`: build, boot a VM, put a filesystem on a remote namespace, compare it
# file by file, lay the data paths side by side, and write the comparison to report.html.
# Status 0 only if all of it held.
#
# Environment: KERNEL=6.12|6.1, ACCEL=auto|kvm|tcg|icount; see tests/vm/run.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

kernel=${KERNEL:-6.12}
logs=build/demo
mkdir -p "$logs"

# shellcheck source=tests/vm/host/step.sh
. tests/vm/host/step.sh

step "Debian packages" deps.log scripts/deps.sh
step "kernel $kernel for the VM" kernel.log scripts/kernel.sh "$kernel"
step "library and tool" user.log make tools
step "kernel modules" modules.log make modules "KERNEL=$kernel"
printf '[%4d s] booting\n' "$SECONDS"
status=0
tests/vm/run --kernel "$kernel" --timeout 900 --out "$logs/vm" -- tests/vm/guest/demo.sh || status=$?
if ((status)); then
	printf '[%4d s] demo: FAILED (status %d); logs in %s\n' "$SECONDS" "$status" "$logs/vm" >&2
else
	cp "$logs/vm/report.html" report.html
	printf '[%4d s] demo: all of it held; the comparison as a page with charts: report.html\n' "$SECONDS"
fi
exit "$status"
