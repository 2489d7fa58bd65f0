#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-modes`: what each way of taking completions costs: latency, CPU time, sleeps and
# events per I/O, side by side and beside the in-tree nvme-rdma driver and the bound. In QEMU,
# with two CPUs that run at the same time: modes that spin need that (Documentation/tuning.md).
#
# Environment: ROUNDS=3, IOS=3000 a turn, ACCEL.
# Leave the machine alone meanwhile.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench=bench-modes
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

bench_tool
bench_machine stock
bench_bound stock
printf '[%4d s] %s\n' "$SECONDS" "measuring, some minutes"
tests/vm/run --machine stock --timeout 1500 --out "$logs/stock" -- \
	tests/bench/guest/modes.sh "${ROUNDS:-3}" "${IOS:-3000}"
