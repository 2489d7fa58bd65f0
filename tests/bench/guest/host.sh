#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: kdp beside nvme-rdma (tests/bench/host.sh).
#
#   tests/bench/guest/host.sh ROUNDS IOS CQ_MODE

set -uo pipefail
# shellcheck source=tests/vm/guest/lib.sh
. "${KDP_REPO:?run it by make bench-host}/tests/vm/guest/lib.sh"
# shellcheck source=tests/bench/guest/bound.sh
. "$KDP_REPO/tests/bench/guest/bound.sh"

rounds=$1 ios=$2 mode=$3
results=$KDP_OUT/results
: >"$results"

# us_per_io DISK RW DEPTH[/BATCH] [IOS]: fio's own clock, from the first I/O to the last. BATCH:
# so many are submitted together, and waited for.
us_per_io() {
	local batch=()
	[[ $3 != */* ]] || batch=("--iodepth_batch=${3#*/}" "--iodepth_batch_complete_min=${3#*/}")
	fio --name=b --filename="$1" --ioengine=io_uring --direct=1 --bs=4k --rw="$2" --iodepth="${3%/*}" "${batch[@]}" \
		--number_ios="${4:-$ios}" --size=32m --norandommap --randseed=7 --output-format=json |
		awk -v want="\"${2#rand}\"" '
			$1 ~ /^"(read|write|trim)"$/ && $3 == "{" { at = $1 }
			at == want && $1 == "\"runtime\"" { ms = $3 + 0 }
			at == want && $1 == "\"total_ios\"" { n = $3 + 0 }
			END { if (n) printf "%.2f\n", ms * 1000 / n; else exit 1 }'
}

counters() {
	kdp list --json | awk -F '[":, ]+' '
		/"(commands|send_doorbells|recv_doorbells|wr_send|wr_reg|wr_local_inv|cqes|polls_full|events|sleeps|provider_ns)":/ { print $2, $3 }'
}

# counted BEFORE AFTER: per command.
counted() {
	awk 'NR == FNR { before[$1] = $2; next } { now[$1] = $2 - before[$1] }
		END {
			n = now["commands"]
			printf "doorbells %.3f, receive doorbells %.3f, WRs %.3f (SEND %.3f, REG_MR %.3f, LOCAL_INV %.3f), CQEs %.3f, polls %.3f, wake-ups %.3f",
				now["send_doorbells"] / n, now["recv_doorbells"] / n,
				(now["wr_send"] + now["wr_reg"] + now["wr_local_inv"]) / n, now["wr_send"] / n,
				now["wr_reg"] / n, now["wr_local_inv"] / n, now["cqes"] / n,
				now["polls_full"] / n, now["events"] / n
		}' "$1" "$2"
}

# provider RW DEPTH: microseconds per I/O inside the provider's calls, and all in all, with the
# clock reads that the measuring costs. Not in QEMU, which may go on running the old
# instruction when the kernel patches its text, as switching the measuring on does.
provider() {
	local us
	echo Y >/sys/module/kdp_core/parameters/time_provider
	counters >/tmp/before
	us=$(us_per_io "${disks[kdp]}" "$1" "$2")
	counters >/tmp/after
	echo N >/sys/module/kdp_core/parameters/time_provider
	awk -v us="$us" 'NR == FNR { before[$1] = $2; next } { now[$1] = $2 - before[$1] }
		END { p = now["provider_ns"] / now["commands"] / 1000; printf "%.2f us of %.2f (%.0f %%)", p, us, 100 * p / us }' \
		/tmp/before /tmp/after
}

cell() {
	local rw=$1 depth=$2 round path disk
	for path in kdp nvme local; do us_per_io "${disks[$path]}" "$rw" "$depth" 400 >/dev/null || return; done
	counters >/tmp/before
	for ((round = 0; round < rounds; round++)); do
		for path in kdp nvme local; do
			echo "$rw $depth $path $(us_per_io "${disks[$path]}" "$rw" "$depth")" >>"$results"
		done
		echo "$rw $depth floor $(floor "$rw" "${depth%/*}" "$ios")" >>"$results"
	done
	counters >/tmp/after
	echo "$rw $depth counts $(counted /tmp/before /tmp/after)" >>"$results"
	[[ $MACHINE != uml* ]] || echo "$rw $depth provider $(provider "$rw" "$depth")" >>"$results"
	printf '  measured: %s, depth %s\n' "$rw" "$depth"
}

report() {
	awk '
		$3 == "provider" { k = $1 " " $2; $1 = $2 = $3 = ""; sub(/^ +/, ""); inside[k] = $0; measured++; next }
		$3 == "counts" { k = $1 " " $2; $1 = $2 = $3 = ""; sub(/^ +/, ""); counts[k] = $0; next }
		{
			k = $1 " " $2; p = k SUBSEP $3; v = $4
			if (!(k in seen)) { seen[k]; order[++n] = k }
			sum[p] += v; cnt[p]++
			if (!(p in lo) || v < lo[p]) lo[p] = v
			if (v > hi[p]) hi[p] = v
		}
		function mean(k, path) { return sum[k, path] / cnt[k, path] }
		function span(k, path) { return sprintf("%6.2f (%.2f-%.2f)", mean(k, path), lo[k, path], hi[k, path]) }
		END {
			printf "%-24s%-23s%-23s%7s%9s%9s%9s%12s\n", "4 KiB, us per I/O", "kdp (min-max)", "nvme-rdma (min-max)",
				"ratio", "floor", "local", "bound", "kdp stands"
			for (i = 1; i <= n; i++) {
				k = order[i]; split(k, w, " ")
				b = mean(k, "floor") + mean(k, "local")
				d = mean(k, "nvme") - b
				where = d > 0 ? sprintf("%.0f %%", 100 * (mean(k, "kdp") - b) / d) : "-"
				printf "%-24s%-23s%-23s%7.3f%9.2f%9.2f%9.2f%12s\n", w[1] ", depth " w[2], span(k, "kdp"), span(k, "nvme"),
					mean(k, "kdp") / mean(k, "nvme"), mean(k, "floor"), mean(k, "local"), b, where
			}
			print "depth 16/8: 8 are submitted together"
			print "bound = floor (the messages alone, between two QPs) + local (the same job on a local null_blk);"
			print "kdp stands: its distance to the bound, as a share of that of nvme-rdma"
			print "kdp, per I/O:"
			for (i = 1; i <= n; i++) { k = order[i]; split(k, w, " "); printf "  %-22s%s\n", w[1] ", depth " w[2], counts[k] }
			if (!measured) exit
			print "kdp, inside the RDMA provider\047s calls (post, poll, arm), per I/O:"
			for (i = 1; i <= n; i++) { k = order[i]; split(k, w, " "); printf "  %-22s%s\n", w[1] ", depth " w[2], inside[k] }
		}' "$results"
}

rdma_up && target_up nqn.io.kdp:bench-kdp 64 && target_up nqn.io.kdp:bench-nvme 64 && kdp_load || exit
name=$(kdp connect -a "$KDP_ADDR" -n nqn.io.kdp:bench-kdp -q "$kdp_hostnqn" -I "$kdp_hostid" --cq-mode "$mode") || exit
stock=$(nvme_connect_stock nqn.io.kdp:bench-nvme) || exit
here=$(target_backend kdpt_local 64 512) || exit
declare -A disks=([kdp]=/dev/${name}n1 [nvme]=$stock [local]=$here)

echo "fabric: $KDP_RDMA_DEV on $KDP_NETDEV, MTU $KDP_MTU, in software; kernel $KVER on $MACHINE, $ACCEL; $(nproc) CPUs, mitigations off"
echo "jobs: fio io_uring, direct, $ios I/Os, $rounds rounds, alternating; kdp in $mode mode; backend null_blk in memory"
for rw in randread randwrite; do
	for depth in 1 16 16/8; do cell "$rw" "$depth" || exit; done
done
report
kdp disconnect --all && nvme_disconnect_stock && kdp_unload
