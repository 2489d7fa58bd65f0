#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: what is said of RDMA beside TCP, measured for each path: latency, I/Os, CPU time,
# system calls, copies (Documentation/benchmarking/claims.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"
# shellcheck source=tests/bench/guest/beside.sh
. "$KDP_REPO/tests/bench/guest/beside.sh"

per_turn 5 1
depths=(1 16)
((!quick)) || depths=(1)

take_down() {
	counters_down && beside_down
}

# --- bytes that a CPU copies ------------------------------------------------------------
#
# Every function of 6.12 that copies data of an I/O on its way: soft-RoCE's, between a registered
# region and a packet, and those of an iov_iter, by which TCP receives and whoever bounces copies.
# The third or fourth argument is how many bytes. The disk's own copies are none of the way.

tracing=/sys/kernel/tracing
copiers=(
	"provider rxe_mr_copy \$arg4:u32"
	"out _copy_to_iter \$arg2:u64"
	"in _copy_from_iter \$arg2:u64"
	"in_nocache _copy_from_iter_nocache \$arg2:u64"
)

counters_up() {
	local copier name function bytes
	mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" || return
	for copier in "${copiers[@]}"; do
		read -r name function bytes <<<"$copier"
		echo "p:copies/$name $function bytes=$bytes" >>"$tracing/kprobe_events" &&
			echo 'hist:keys=common_pid:vals=bytes' >"$tracing/events/copies/$name/trigger" ||
			complain "cannot count what $function copies" || return
	done
}

counters_down() {
	local copier name
	for copier in "${copiers[@]}"; do
		name=${copier%% *}
		echo '!hist:keys=common_pid:vals=bytes' >"$tracing/events/copies/$name/trigger" &&
			echo "-:copies/$name" >>"$tracing/kprobe_events" || return
	done
}

# copied NAME...: bytes since counters_up.
copied() {
	local name
	for name; do cat "$tracing/events/copies/$name/hist"; done |
		awk '/bytes:/ && /^\{/ { for (i = 1; i < NF; i++) if ($i == "bytes:") n += $(i + 1) } /Dropped: [1-9]/ { lost = 1 }
			END { if (lost) exit 1; printf "%.0f\n", n }'
}

# moved URI IOS: so many reads of 64 KiB; sets $moved, bytes, and what was copied meanwhile: $by_provider, $elsewhere.
moved() {
	local provider elsewhere_before
	provider=$(copied provider) && elsewhere_before=$(copied out in in_nocache) || return
	kdp bench --json --rounds 1 --warmup 0 --ios "$2" --rw randread --bs 64k --depth 1 --size 16m "$1" >"$cell" 2>"$cell.errors" \
		</dev/null || complain "kdp bench $1: $(<"$cell.errors")" || return
	by_provider=$(($(copied provider) - provider)) elsewhere=$(($(copied out in in_nocache) - elsewhere_before))
	moved=$(jq '[.points[].results[].rounds[] | (.ios + .totals.counted_ios) * 65536] | add' "$cell")
}

# copies NAME URI: what a process copies at its begin and end is in both runs, and drops out.
copies() {
	local few_moved few_provider few_elsewhere
	moved "$2" 100 || return
	few_moved=$moved few_provider=$by_provider few_elsewhere=$elsewhere
	moved "$2" "$many" || return
	observe "bytes copied per byte moved, by soft-RoCE" "depth 1" "$1" "$(ratio $((by_provider - few_provider)) $((moved - few_moved)))"
	observe "bytes copied per byte moved, elsewhere" "depth 1" "$1" "$(ratio $((elsewhere - few_elsewhere)) $((moved - few_moved)))"
}

ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'
}

# ----------------------------------------------------------------------------------------

rdma_up && kdp_load || exit
watch_begin
beside_up claims --cq-mode event || exit
paths=(
	"kdp, kernel|kernel:$char?mode=uring&buffers=region"
	"kdp, kernel, SQPOLL|kernel:$char?mode=uring&buffers=region&sqpoll=1"
	"kdp, block|block:$disk"
	"kdp, verbs|$verbs"
	"kdp, tcp|$our_tcp"
	"nvme-rdma, block|block:$rdma"
	"nvme-tcp, block|block:$tcp"
)
many=600
((!quick)) || many=300

experiment_begin claims "What is said of RDMA beside TCP" "path" - false || exit
chart "latency, mean" µs false lat_mean_us
chart "I/Os per second" 1/s false iops
chart "CPU time per I/O, the process" µs false cpu_process_us_per_io
chart "CPU time per I/O, whole machine" µs false cpu_machine_us_per_io
chart "system calls per I/O" "" false system_calls_per_io
chart "context switches per I/O, the process" "" false context_switches_per_io
chart "bytes copied per byte moved, by soft-RoCE" "" false
chart "bytes copied per byte moved, elsewhere" "" false
note "4 KiB random reads, $rounds rounds; kdp by events; copies: of 64 KiB random reads, on the way from the target's memory to the application's, its disk's own not counted"
for ((round = 0; round < rounds; round++)); do
	for depth in "${depths[@]}"; do
		for ((i = 0; i < ${#paths[@]}; i++)); do
			IFS='|' read -r label uri <<<"${paths[(round + i) % ${#paths[@]}]}"
			cell "$label" --bs 4k --depth "$depth" --rw randread --rounds 1 -- "depth $depth=$uri" || exit
		done
	done
done
counters_up || exit
for path in "${paths[@]}"; do
	progress "copies: ${path%%|*}"
	copies "${path%%|*}" "${path#*|}" || exit
done
experiment_end && experiment_over take_down
