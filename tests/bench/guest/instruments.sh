#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: kdp bench beside fio and perftest (tests/bench/instruments.sh).
#
#   tests/bench/guest/instruments.sh icount|multi ROUNDS IOS

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make bench-instruments}/tests/vm/guest/lib.sh"

clock=$1 rounds=$2 ios=$3
nqn=nqn.io.kdp:instruments
results=$KDP_OUT/results
: >"$results"

# by_fio RW DEPTH: IOPS and p99 in us, from submission to completion as kdp bench has it. What is there is
# taken together, and replaced together: kdp bench does so, fio does it one by one unless it is told.
by_fio() {
	fio --name=b --filename="$disk" --ioengine=io_uring --fixedbufs=1 --registerfiles=1 --direct=1 --bs=4k \
		--rw="$1" --iodepth="$2" --iodepth_batch="$2" --iodepth_batch_complete_min=1 \
		--iodepth_batch_complete_max="$2" --number_ios="$ios" --size=16m --norandommap --randseed=7 \
		--lat_percentiles=1 --clat_percentiles=0 --output-format=json |
		awk -v want="\"${1#rand}\"" '
			$1 ~ /^"(read|write|trim)"$/ && $3 == "{" { at = $1 }
			at == want && $1 == "\"iops\"" { iops = $3 + 0 }
			at == want && $1 == "\"99.000000\"" && !p99 { p99 = $3 / 1000 }
			END { if (iops && p99) print iops, p99; else exit 1 }'
}

# by_kdp RW DEPTH URI: the same.
by_kdp() {
	local write=()
	[[ $1 != *write* ]] || write=(--allow-write)
	kdp bench "$3" --csv "$KDP_OUT/csv" --rounds 1 --rw "$1" --depth "$2" --bs 4k --size 16m --ios "$ios" \
		--warmup 0 "${write[@]}" >"$KDP_OUT/table" 2>"$KDP_OUT/errors" </dev/null ||
		complain "$(<"$KDP_OUT/errors")" || return
	awk -F, '$10 == "iops" { iops = $11 } $10 == "lat_p99_us" { p99 = $11 } END { print iops, p99 }' "$KDP_OUT/csv"
}

cell() {
	local rw=$1 depth=$2 round line
	by_fio "$rw" "$depth" >/dev/null && by_kdp "$rw" "$depth" "block:$disk" >/dev/null || return
	for ((round = 0; round < rounds; round++)); do
		line=$(by_fio "$rw" "$depth") || return
		echo "$rw $depth fio $line" >>"$results"
		line=$(by_kdp "$rw" "$depth" "block:$disk") || return
		echo "$rw $depth kdp $line" >>"$results"
	done
	printf '  measured: %s, depth %s\n' "$rw" "$depth"
}

# The table. What the two say different things of goes to $KDP_OUT/apart, a line each.
report() {
	: >"$KDP_OUT/apart"
	awk -v clock="$clock" -v apart_file="$KDP_OUT/apart" '
		BEGIN {
			split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
			printf "%-22s%-10s%-24s%-24s%8s  %s\n", "4 KiB", "", "fio", "kdp bench", "ratio", ""
		}
		{
			if (!(($1, $2) in seen)) { seen[$1, $2]; order[++rows] = $1 SUBSEP $2 }
			for (f = 4; f <= 5; f++) {
				k = $1 SUBSEP $2 SUBSEP $3 SUBSEP f
				n[k]++; sum[k] += $f; square[k] += $f * $f
			}
		}
		function mean(k) { return sum[k] / n[k] }
		function half(k,   v) {
			if (n[k] < 2) return 0
			v = (square[k] - sum[k] * sum[k] / n[k]) / (n[k] - 1)
			return (n[k] - 1 in t ? t[n[k] - 1] : 2.2) * sqrt((v > 0 ? v : 0) / n[k])
		}
		END {
			for (r = 1; r <= rows; r++) for (f = 4; f <= 5; f++) {
				split(order[r], w, SUBSEP)
				a = order[r] SUBSEP "fio" SUBSEP f; b = order[r] SUBSEP "kdp" SUBSEP f
				ratio = mean(b) / mean(a)
				apart = mean(a) - mean(b); if (apart < 0) apart = -apart
				near = clock == "icount" && ratio > 0.95 && ratio < 1.05
				same = near || apart <= half(a) + half(b)
				if (!same) print w[1] ", depth " w[2] ": " (f == 4 ? "IOPS" : "p99") >>apart_file
				printf "%-22s%-10s%-24s%-24s%8.3f  %s\n", f == 4 ? w[1] ", depth " w[2] : "", f == 4 ? "IOPS" : "p99, us",
					sprintf("%.1f +- %.1f", mean(a), half(a)), sprintf("%.1f +- %.1f", mean(b), half(b)), ratio,
					near ? "within 5 %" : same ? "intervals overlap" : "APART"
			}
		}' "$results"
}

# perftest PROGRAM: raw verbs between two QPs of this device; the line of figures.
perftest() {
	local server
	timeout 60 "$1" -d "$KDP_RDMA_DEV" -R -s 4096 -n 1000 >"$KDP_OUT/$1.server" 2>&1 &
	server=$!
	sleep 2
	timeout 60 "$1" -d "$KDP_RDMA_DEV" -R -s 4096 -n 1000 "$KDP_ADDR" >"$KDP_OUT/$1" 2>&1
	wait "$server"
	awk '/^ *#bytes/ { heading = $0 } /^ *4096 / { print heading; print $0; found = 1 } END { exit !found }' "$KDP_OUT/$1" ||
		echo "  $1 said: $(tail -n 1 "$KDP_OUT/$1")"
}

# Not where time counts instructions: perftest spins, and a CPU that spins burns its turn.
plausible() {
	local line program depth
	[[ $clock == multi ]] || return 0
	echo "raw verbs by perftest, 4 KiB, for comparison with the verbs path (which adds a SEND each way, NVMe and the target):"
	for program in ib_write_lat ib_send_bw; do
		echo "$program"
		perftest "$program"
	done
	for depth in 1 16; do
		line=$(by_kdp randread "$depth" "verbs://$KDP_ADDR:4420/$nqn") || return
		echo "kdp bench, verbs path, randread, depth $depth: ${line% *} IOPS, p99 ${line#* } us"
	done
}

rdma_up && target_up "$nqn" 64 && kdp_load || exit
name=$(kdp connect -a "$KDP_ADDR" -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid" --cq-mode event) || exit
disk=/dev/${name}n1
echo "fabric: $KDP_RDMA_DEV on $KDP_NETDEV, MTU $KDP_MTU, in software; kernel $KVER on $MACHINE, $ACCEL; $(nproc) CPUs, mitigations off"
echo "jobs: io_uring, direct, registered buffers, $ios I/Os, $rounds rounds, alternating; mean +- half of its 95 % interval"
# the backend has memory for what was written once: not at the first one's expense
dd if=/dev/zero of="$disk" bs=1M count=16 oflag=direct status=none || exit
for rw in randread randwrite; do
	for depth in 1 16; do cell "$rw" "$depth" || exit; done
done
status=0
report || status=1
plausible || status=1
kdp disconnect --all && kdp_unload || status=1
exit "$status"
