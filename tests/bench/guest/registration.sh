#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# In the guest: what it costs to let the other end reach memory (Documentation/benchmarking/registration.md).

set -uo pipefail
# shellcheck source=tests/bench/guest/experiment.sh
. "$(dirname "$0")/experiment.sh"

nqn=nqn.io.kdp:registration
per_turn 3 1.2
# a passthrough command has 256 pages, one of which is left for memory that does not begin at a page
sizes=(4 16 64 256 1020)
((!quick)) || sizes=(4 64)

take_down() {
	kdp disconnect --all && kdp_unload && target_down
}

rdma_up && kdp_load || exit
watch_begin
target_up "$nqn" 64 || exit
name=$(kdp connect -a "$KDP_ADDR" -n "$nqn" -q "$kdp_hostnqn" -I "$kdp_hostid" --cq-mode event) || exit
char=/dev/kdpg${name#kdp}n1 verbs="verbs://$KDP_ADDR:4420/$nqn?nsid=1"
# the backend has memory for what was written once: not at the first one's expense
dd if=/dev/zero of="/dev/${name}n1" bs=1M count=16 oflag=direct status=none || exit

experiment_begin registration "Registration: per I/O, from a pool, once" "size of an I/O" KiB true || exit
chart "latency, mean" µs true lat_mean_us
chart "CPU time per I/O, whole machine" µs true cpu_machine_us_per_io
chart "CPU time per I/O, the process" µs true cpu_process_us_per_io
chart "registrations per I/O" "" false registrations_per_io
note "4 KiB to 1020 KiB random reads at depth 1, $rounds rounds; kdp by events; target, provider and host share the machine"
for size in "${sizes[@]}"; do
	cell "$size" --bs "${size}k" --depth 1 --rw randread --rounds "$rounds" -- \
		"verbs, per I/O=$verbs&buffers=plain" \
		"verbs, once=$verbs&buffers=region" \
		"kernel, pool=kernel:$char?mode=uring" \
		"kernel, pool, pinned once=kernel:$char?mode=uring&buffers=fixed" \
		"kernel, once=kernel:$char?mode=uring&buffers=region" \
		"block, pool=block:/dev/${name}n1" || exit
done
experiment_end && experiment_over take_down
