#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-char`: the char device, by every way in, with and without a registered region,
# beside the in-tree driver's passthrough, the block device, and userspace-direct verbs. The
# ways that do not spin in QEMU with instruction-counted time (icount), with the bound beside
# them; those that spin with two CPUs that run at the same time (multi).
#
# Environment: BENCH_CLOCKS="icount multi", ROUNDS=3 (multi: 5), IOS=4000 a turn (multi: 12000).
# Leave the machine alone meanwhile: icount does not mind, multi does.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench=bench-char
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

bench_tool
bench_machine stock
bench_bound stock
for clock in ${BENCH_CLOCKS:-icount multi}; do
	case $clock in
	icount) accel=icount rounds=3 ios=4000 ;;
	multi) accel=tcg rounds=5 ios=12000 ;;
	*) echo "bench-char: no clock is called '$clock': icount or multi" >&2; exit 1 ;;
	esac
	printf '[%4d s] %s\n' "$SECONDS" "$clock: measuring, some minutes"
	tests/vm/run --machine stock --accel "$accel" --timeout 3000 --out "$logs/$clock" -- \
		tests/bench/guest/char.sh "$clock" "${ROUNDS:-$rounds}" "${IOS:-$ios}"
done
