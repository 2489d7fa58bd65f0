#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-host`: the block device beside the in-tree nvme-rdma driver, time per I/O at
# depth 1 and 16, in two machines: QEMU with instruction-counted time, and User-Mode
# Linux pinned to one CPU. Beside them the bound: what the messages alone cost, and the
# same job on a local disk.
#
# Environment: BENCH_MACHINES="stock uml", ROUNDS=3, IOS=8000 (uml: 40000), CQ_MODE=event|thread.
# Leave the machine alone meanwhile: icount does not mind, User-Mode Linux does.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench=bench-host
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

bench_tool
for machine in ${BENCH_MACHINES:-stock uml}; do
	bench_machine "$machine"
	bench_bound "$machine"
	# fio's clock has milliseconds
	if [[ $machine == stock ]]; then ios=8000; else ios=40000; fi
	printf '[%4d s] %s\n' "$SECONDS" "$machine: measuring, some minutes"
	tests/vm/run --machine "$machine" --accel icount --timeout 1500 --out "$logs/$machine" -- \
		tests/bench/guest/host.sh "${ROUNDS:-3}" "${IOS:-$ios}" "${CQ_MODE:-event}"
done
