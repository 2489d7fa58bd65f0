#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who takes completions: in each mode I/O is right, costs no more work requests, doorbells
# and completions than it should, and ends in order when something goes while it runs.
# timeout: 240
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/load.sh"

nqn=nqn.io.kdp:cq-modes

declare -A before now
counters() {
	local -n into=$1
	local key text
	text=$(bounded kdp list --json)
	for key in commands send_doorbells recv_doorbells wr_send wr_reg wr_local_inv remote_inv cqes \
		polls_full bytes_copied; do
		[[ $text =~ \"$key\":\ *([0-9]+) ]]
		into[$key]=${BASH_REMATCH[1]}
	done
}

# A checking kernel needs milliseconds for each I/O.
nr_ios=2000 verify_bytes=16M
((kdp_slowness == 1)) || nr_ios=400 verify_bytes=2M

# costs RW: of $nr_ios I/Os of 4 KiB, 16 at once. A point; the counters are in `now`.
costs() {
	local text
	counters before
	if text=$(counted_io "$1" 2>&1); then
		counters now
		for text in "${!now[@]}"; do ((now[$text] -= before[$text])); done
		ktap_ok "$mode: $nr_ios I/Os, $1"
		for text in "${!now[@]}"; do echo "$text ${now[$text]}"; done | sort | paste -sd ' ' | sed 's/^/# /'
	else
		ktap_not_ok "$mode: $nr_ios I/Os, $1" "$text"
	fi
}

counted_io() {
	bounded fio --name=t --filename="$disk" --rw="$1" --bs=4k --direct=1 --ioengine=libaio \
		--iodepth=16 --iodepth_batch=8 --iodepth_batch_complete_min=4 --size=8M --number_ios="$nr_ios" --minimal
}

# less A TIMES_PERCENT B: A counts less than that much of B.
less() {
	((now[$1] * 100 < now[$3] * $2)) || complain "$1 ${now[$1]}, $3 ${now[$3]}"
}

at_most() {
	((now[$1] <= $2)) || complain "$1 ${now[$1]}, more than $2"
}

uses_mode() {
	[[ $(json cq_mode) == "$1" ]] || complain "it is $(json cq_mode)"
}

verified() {
	bounded fio --name=t --filename="$disk" --rw=randrw --bsrange=512-64k --direct=1 --ioengine=libaio \
		--iodepth=16 --size=4M --io_size="$verify_bytes" --verify=crc32c --verify_fatal=1 --minimal >"$tmp/fio" 2>&1 || complain "$(<"$tmp/fio")"
}

# The queues' commands together are the controller's.
queues_add_up() {
	local sum
	sum=$(bounded kdp stats "$ctrl" --json | awk '/"qid": 0,/ { admin = 1 } /"qid": [1-9]/ { admin = 0 }
		/"commands":/ && !admin { gsub(/[^0-9]/, ""); sum += $0 } END { print sum + 0 }')
	((sum > 0 && sum == $(json commands))) || complain "queues $sum, controller $(json commands)"
}

time_is_measured() {
	local on=/sys/module/kdp_core/parameters/time_provider
	[[ $(json provider_ns) == 0 && $(<"$on") == N ]] || complain "it is on" || return
	echo Y >"$on"
	bounded dd if="$disk" of=/dev/null bs=4k count=20 iflag=direct status=none
	echo N >"$on"
	(($(json provider_ns) > 0)) || complain "no time in the provider"
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
ktap_check "a mode that does not exist is refused" fails kdp connect -a "$KDP_ADDR" -n "$nqn" \
	-q "$kdp_hostnqn" -I "$kdp_hostid" --cq-mode often

for mode in thread event caller; do
	connected "$KDP_ADDR" "$nqn" --cq-mode "$mode"
	ktap_check "$mode: as connected" uses_mode "$mode"
	ktap_check "$mode: I/O is right" verified

	costs randread
	ktap_check "$mode: each read is registered once" test "${now[wr_reg]}" = "${now[commands]}"
	ktap_check "$mode: and invalidated once" test "$((now[remote_inv] + now[wr_local_inv]))" = "${now[commands]}"
	ktap_check "$mode: a read costs one SEND" test "${now[wr_send]}" = "${now[commands]}"
	ktap_check "$mode: and less than one doorbell, in batches" less send_doorbells 100 commands
	ktap_check "$mode: less than 1.2 completions" less cqes 120 commands
	ktap_check "$mode: receives go back with one doorbell a batch" at_most recv_doorbells "$((now[polls_full] + now[cqes] / 16))"
	ktap_check "$mode: nothing is copied" test "${now[bytes_copied]}" = 0

	costs randwrite
	ktap_check "$mode: a write travels in its capsule" at_most wr_reg 50
	ktap_check "$mode: and costs less than two completions, in batches" less cqes 200 commands

	ktap_check "$mode: kdp stats tells each queue" queues_add_up
	ktap_check "$mode: time inside the provider, if wanted" time_is_measured

	ktap_check "$mode: disconnect under load" goes_under_load disconnect "$ctrl"
	ktap_check "$mode: nothing is left" no_nodes
	connected "$KDP_ADDR" "$nqn" --cq-mode "$mode"
	ktap_check "$mode: the RDMA device goes under load" goes_under_load device_goes
	ktap_check "$mode: and comes back" device_comes_back
done
world_end
