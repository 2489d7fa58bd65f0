#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# `make bench-char`: the char device, by every way in, with and without a registered region,
# beside the in-tree driver's passthrough, the block device, and userspace-direct verbs. The
# ways that do not spin in QEMU with instruction-counted time (icount), with the bound beside
# them; those that spin with two CPUs that run at the same time (multi).
#
# Environment: BENCH_CLOCKS="icount multi", ROUNDS=3 (multi: 20), IOS=4000 a turn (multi: 1000); at
# depth 16 four times that: how many are taken together differs from one turn to the next, and
# evens out. Leave the machine alone meanwhile: icount does not mind, multi does.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench=bench-char
# shellcheck source=tests/bench/lib.sh
. tests/bench/lib.sh

# report RESULTS: compared is with the in-tree driver's passthrough with fixed buffers. Beside the
# mean stand the least and the most of the rounds, and the half of the mean's 95 % interval (Student's t).
report() {
	awk -F '|' '
		BEGIN {
			split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 " \
				"2.12 2.11 2.10 2.09 2.09 2.08 2.07 2.07 2.06 2.06 2.06 2.05 2.05 2.05 2.04", student, " ")
		}
		{
			cell = $1 ", depth " $2; k = cell SUBSEP $3
			if (!(cell in seen)) { seen[cell]; cells[++ncells] = cell }
			if (!(k in n)) rows[cell, ++nrows[cell]] = $3
			n[k]++; sum[k] += $4; squares[k] += $4 * $4; calls[k] = $5
			if (n[k] == 1 || $4 < lo[k]) lo[k] = $4
			if ($4 > hi[k]) hi[k] = $4
		}
		$3 ~ /^nvme-rdma, uring.*fixed/ && !(cell in reference) { reference[cell] = $3 }
		function mean(cell, name) { return sum[cell, name] / n[cell, name] }
		function half(k,  m, f) {
			f = n[k] - 1
			if (f < 1) return "-"
			m = sum[k] / n[k]
			return sprintf("%.2f", (f in student ? student[f] : 1.96) * sqrt((squares[k] / n[k] - m * m) / f))
		}
		END {
			for (c = 1; c <= ncells; c++) {
				cell = cells[c]
				printf "\n%-40s%-25s%8s%8s%10s%10s\n", cell ", 4 KiB", "us per I/O (least-most)", "+- 95 %", "ratio", "IOPS", "calls"
				for (r = 1; r <= nrows[cell]; r++) {
					name = rows[cell, r]; k = cell SUBSEP name
					printf "%-40s%-25s%8s%8.3f%10.0f%10s\n", name, sprintf("%7.2f (%.2f-%.2f)", mean(cell, name), lo[k], hi[k]),
						half(k), mean(cell, name) / mean(cell, reference[cell]), 1e6 / mean(cell, name), calls[k]
				}
				if ((cell, "floor: the messages alone") in n) {
					b = mean(cell, "floor: the messages alone") + mean(cell, "local: a null_blk of this machine")
					d = mean(cell, reference[cell]) - b
					printf "bound (floor + local) %.2f; kdp, uring, region stands at %.0f %% of the distance of %s\n", b,
						100 * (mean(cell, "kdp, uring, region") - b) / d, reference[cell]
				}
			}
		}' "$1"
}


bench_tool
bench_machine stock
bench_bound stock
for clock in ${BENCH_CLOCKS:-icount multi}; do
	case $clock in
	icount) accel=icount rounds=3 ios=4000 ;;
	multi) accel=tcg rounds=20 ios=1000 ;;
	*) echo "bench-char: no clock is called '$clock': icount or multi" >&2; exit 1 ;;
	esac
	: >"$logs/$clock.results"
	# a machine for each: QEMU may trip, and not all is lost then
	for cell in 'randread 1' 'randread 16' 'randwrite 1' 'randwrite 16'; do
		printf '[%4d s] %s\n' "$SECONDS" "$clock: $cell: measuring, some minutes"
		# shellcheck disable=SC2086 # two words
		bench_run "$logs/$clock" --machine stock --accel "$accel" --timeout 1500 -- \
			tests/bench/guest/char.sh "$clock" "${ROUNDS:-$rounds}" "${IOS:-$ios}" $cell
		cat "$logs/$clock/results" >>"$logs/$clock.results"
	done
	report "$logs/$clock.results"
done
