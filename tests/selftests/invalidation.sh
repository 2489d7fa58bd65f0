#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The end of the target's access to data: asked for, it comes with the response; not asked
# for, the host invalidates the key itself. Counted either way, once a registration, with
# the data verified. Changed while I/O runs, nothing is lost.
# timeout: 120

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:invalidation
parameter=/sys/module/kdp_host/parameters/remote_invalidation

# I/O that must not be torn: 16 KiB goes through MRs both ways.
verified_io() {
	bounded fio --name=t --filename="$disk" --rw=randrw --bs=16k --direct=1 --ioengine=libaio \
		--iodepth=8 --size=4M --verify=crc32c --verify_fatal=1 --minimal "$@"
}

# snapshot: where the counters stand; invalidated_by tells how they moved since.
snapshot() {
	reg=$(json wr_reg) remote=$(json remote_inv) local_=$(json wr_local_inv)
}

invalidated_by() {
	local who=$1 r re lo
	r=$(($(json wr_reg) - reg)) re=$(($(json remote_inv) - remote))
	lo=$(($(json wr_local_inv) - local_))
	echo "$r registrations, $re invalidated by the target, $lo by the host"
	((r >= 256)) && case $who in
	target) ((re == r && lo == 0)) ;;
	host) ((lo == r && re == 0)) ;;
	both) ((re + lo == r && re > 0 && lo > 0)) ;;
	esac
}

# I/O while the parameter changes; again where it was over before each had its turn.
flip_while() {
	local pid n=0 round
	for round in {1..20}; do
		verified_io --loops=2 &
		pid=$!
		while kill -0 "$pid" 2>/dev/null; do
			echo $((n++ % 2)) >"$parameter"
			sleep 0.05
		done
		wait "$pid" || return
		! invalidated_by both >/dev/null || return 0
	done
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
connected "$KDP_ADDR" "$nqn"
ktap_check "targets are asked to, unless told otherwise" grep -q Y "$parameter"

snapshot
ktap_check "I/O, the target invalidates" verified_io
ktap_check "each key, and the host none" invalidated_by target
echo 0 >"$parameter"
snapshot
ktap_check "I/O, the host invalidates" verified_io
ktap_check "each key, and the target none" invalidated_by host
snapshot
ktap_check "I/O, changed all the while" flip_while
ktap_check "each key by either" invalidated_by both
world_end
