#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-host`: the block device beside the in-tree nvme-rdma driver, time per I/O at
# depth 1 and 16, in two machines: QEMU with instruction-counted time, and User-Mode
# Linux pinned to one CPU. Beside them the bound: what the messages alone cost, and the
# same job on a local disk.
#
# Environment: BENCH_MACHINES="stock uml", ROUNDS=3, IOS=4000, CQ_MODE=event|thread.
# Leave the machine alone meanwhile: icount does not mind, User-Mode Linux does.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

logs=build/bench-host
mkdir -p "$logs"

step() {
	local name=$1 log=$logs/$2
	shift 2
	printf '[%4d s] %s\n' "$SECONDS" "$name"
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 30 "$log" >&2
		echo "bench-host: failed: $name (log: $log)" >&2
		exit 1
	}
}

step "Debian packages" deps.log scripts/deps.sh
step "library and tool" user.log make tools
for machine in ${BENCH_MACHINES:-stock uml}; do
	if [[ $machine == stock ]]; then
		kver=$(scripts/kernel.sh --version 6.12)
		kdir=/lib/modules/$kver/build arch=()
		step "kernel 6.12 for the VM" kernel.log scripts/kernel.sh 6.12
		step "modules" modules-stock.log scripts/build-modules.sh "$kver"
	else
		step "$machine: kernel" "kernel-$machine.log" scripts/build-kernel.sh "$machine"
		step "$machine: modules" "modules-$machine.log" scripts/build-modules.sh "$machine"
		kver=$(scripts/build-kernel.sh --release "$machine")
		kdir=$(scripts/build-kernel.sh --path "$machine")/build arch=(ARCH=um)
	fi
	step "the bound's module" "bound-$machine.log" tests/bench/bound/build.sh "$kver" "$kdir" "${arch[@]}"
	printf '[%4d s] %s\n' "$SECONDS" "$machine: measuring, some minutes"
		tests/vm/run --machine "$machine" --accel icount --timeout 1500 --out "$logs/$machine" -- \
		tests/bench/guest/host.sh "${ROUNDS:-3}" "${IOS:-4000}" "${CQ_MODE:-event}"
done
