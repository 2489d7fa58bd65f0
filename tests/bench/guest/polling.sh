#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: to poll or to be told, latency and CPU time together (Documentation/benchmarking/polling.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"

nqn=nqn.io.kdp:polling stock_nqn=nqn.io.kdp:polling-stock
per_turn 3 1
depths=(1 16)
((!quick)) || depths=(1)

# Each row: how kdp's controller is set meanwhile, the path, and its name.
rows_of_depth() {
	cat <<-END
		event 0|kernel:$char?mode=uring&buffers=region|kdp, event
		thread 0|kernel:$char?mode=uring&buffers=region|kdp, thread, spin 0
		thread 50|kernel:$char?mode=uring&buffers=region|kdp, thread, spin 50
		thread 1000|kernel:$char?mode=uring&buffers=region|kdp, thread, spin 1000
		thread -1|kernel:$char?mode=uring&buffers=region|kdp, thread, spins always
		event 0|kernel:$char?mode=uring-poll&buffers=region|kdp, poll queue
		event 0|$verbs&wait=event|verbs, event
		event 0|$verbs&wait=adaptive|verbs, adaptive
		event 0|$verbs&wait=poll|verbs, poll
		event 0|kernel:$stock_char?mode=uring&buffers=fixed|nvme-rdma, event
		event 0|kernel:$stock_char?mode=uring-poll&buffers=fixed|nvme-rdma, poll queue
	END
	(($1 > 1)) || cat <<-END
		caller 0|kernel:$char?mode=ioctl&buffers=region|kdp, caller, spin 0
		caller 50|kernel:$char?mode=ioctl&buffers=region|kdp, caller, spin 50
		caller -1|kernel:$char?mode=ioctl&buffers=region|kdp, caller, spins always
	END
}

# row DEPTH SET URI NAME
row() {
	# shellcheck disable=SC2086 # two words
	kdp set "$name" --cq-mode ${2% *} --spin-us ${2#* } &&
		cell "$4" --bs 4k --depth "$1" --rw randread --rounds 1 -- "depth $1=$3"
}

take_down() {
	kdp disconnect --all && nvme_disconnect_stock && kdp_unload && target_down
}

rdma_up && kdp_load || exit
watch_begin
target_up "$nqn" 64 && target_up "$stock_nqn" 64 || exit
cpus=$(nproc)
name=$(kdp connect -a "$KDP_ADDR" -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid" -i "$cpus" -P "$cpus") || exit
stock=$(nvme_connect_stock "$stock_nqn" "$KDP_ADDR" 4420 --nr-poll-queues="$cpus") || exit
char=/dev/kdpg${name#kdp}n1 stock_char=/dev/ng${stock#/dev/nvme} verbs="verbs://$KDP_ADDR:4420/$nqn?nsid=1"
for node in "/dev/${name}n1" "$stock"; do
	dd if=/dev/zero of="$node" bs=1M count=16 oflag=direct status=none || exit
done

experiment_begin polling "Polling and events: latency and CPU time together" "who takes completions" - false || exit
chart "latency, mean" µs false lat_mean_us
chart "latency, 99th percentile" µs false lat_p99_us
chart "CPU time per I/O, whole machine" µs false cpu_machine_us_per_io
chart "context switches per I/O, the process" "" false context_switches_per_io
chart "system calls per I/O" "" false system_calls_per_io
note "4 KiB random reads, $rounds rounds, $cpus CPUs; the spin time is in microseconds; target, provider and host share the machine"
# each round begins with another row, so that none always follows the same
for ((round = 0; round < rounds; round++)); do
	for depth in "${depths[@]}"; do
		mapfile -t all < <(rows_of_depth "$depth")
		for ((i = 0; i < ${#all[@]}; i++)); do
			IFS='|' read -r set uri label <<<"${all[(round + i) % ${#all[@]}]}"
			row "$depth" "$set" "$uri" "$label" || exit
		done
	done
done
experiment_end && experiment_over take_down
