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
# By whatever copies data of an I/O on its way, in 6.12: soft-RoCE between registered memory and a
# packet; sockets what they receive; and what they send, unless it goes by its pages
# (MSG_SPLICE_PAGES, 0x8000000). The disk's own copies are none of the way. Each: event, function,
# what to note, when to count.

tracing=/sys/kernel/tracing
copiers=(
	'by_provider|rxe_mr_copy|bytes=$arg4:u32|'
	'received|skb_copy_datagram_iter|bytes=$arg4:u32|'
	'sent|tcp_sendmsg_locked|bytes=$arg3:u64 flags=msg->msg_flags| if !(flags & 0x8000000)'
)
sum='hist:keys=common_pid:vals=bytes'

counters_up() {
	local copier event function what when
	mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" || return
	for copier in "${copiers[@]}"; do
		IFS='|' read -r event function what when <<<"$copier"
		echo "p:copies/$event $function $what" >>"$tracing/kprobe_events" &&
			echo "$sum$when" >"$tracing/events/copies/$event/trigger" ||
			complain "cannot count what $function copies" || return
	done
}

counters_down() {
	local copier event function what when
	for copier in "${copiers[@]}"; do
		IFS='|' read -r event function what when <<<"$copier"
		echo "!$sum$when" >"$tracing/events/copies/$event/trigger" &&
			echo "-:copies/$event" >>"$tracing/kprobe_events" || return
	done
}

# copied EVENT...: bytes since counters_up.
copied() {
	local event
	for event; do cat "$tracing/events/copies/$event/hist"; done |
		awk '/bytes:/ && /^\{/ { for (i = 1; i < NF; i++) if ($i == "bytes:") n += $(i + 1) } /Dropped: [1-9]/ { lost = 1 }
			END { if (lost) exit 1; printf "%.0f\n", n }'
}

# moved URI IOS: so many reads of 64 KiB; sets $moved, bytes, and what was copied meanwhile: $by_provider, $by_sockets.
moved() {
	local provider sockets
	provider=$(copied by_provider) && sockets=$(copied received sent) || return
	kdp bench --json --rounds 1 --warmup 0 --ios "$2" --rw randread --bs 64k --depth 1 --size 16m "$1" >"$cell" 2>"$cell.errors" \
		</dev/null || complain "kdp bench $1: $(<"$cell.errors")" || return
	by_provider=$(($(copied by_provider) - provider)) by_sockets=$(($(copied received sent) - sockets))
	moved=$(jq '[.points[].results[].rounds[] | (.ios + .totals.counted_ios) * 65536] | add' "$cell")
}

# copies NAME URI: what a process copies at its begin and end is in both runs, and drops out.
copies() {
	local few_moved few_provider few_sockets
	moved "$2" 100 || return
	few_moved=$moved few_provider=$by_provider few_sockets=$by_sockets
	moved "$2" "$many" || return
	observe "bytes copied per byte moved, by soft-RoCE" "depth 1" "$1" "$(ratio $((by_provider - few_provider)) $((moved - few_moved)))"
	observe "bytes copied per byte moved, by sockets" "depth 1" "$1" "$(ratio $((by_sockets - few_sockets)) $((moved - few_moved)))"
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
chart "bytes copied per byte moved, by sockets" "" false
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
