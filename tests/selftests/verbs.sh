#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The userspace-direct path: kdp bench over verbs:// with verification, none of our
# modules involved. Nothing may be left in the RDMA device or the target.
# timeout: 150
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"

nqn=nqn.io.kdp:verbs
uri="verbs://$KDP_ADDR:4420/$nqn?nsid=1"
uri6="verbs://[$KDP_ADDR6]:4420/$nqn?nsid=1"

# bench NAME URI OPTION...
bench() {
	local name=$1 uri=$2
	shift 2
	ktap_check "$name" bounded kdp bench "$uri" --verify --allow-write --rounds 1 "$@"
	ktap_check "$name: nothing left" nothing_left
}

fails_to_open() {
	fails_with "$1" kdp bench "$2" --rw randread --ios 1 --rounds 1
}

# The kernel cleans up after a process that dies with I/O in flight.
killed_with_io() {
	local pid
	kdp bench "$uri" --rw randread --bs 4k --depth 16 --size 8m --runtime 60 --rounds 1 >/dev/null 2>&1 &
	pid=$!
	sleep 3
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	nothing_left
}

rdma_there || rdma_up || ktap_done
ktap_check "target is up" target_up "$nqn" 32
calm

bench "4k random reads, depth 1" "$uri" --rw randread --bs 4k --depth 1 --size 1m --ios 200
bench "4k random reads, depth 16" "$uri" --rw randread --bs 4k --depth 16 --size 4m --ios 500
bench "4k random writes, depth 1" "$uri" --rw randwrite --bs 4k --depth 1 --size 1m --ios 200
bench "4k random writes, depth 16" "$uri" --rw randwrite --bs 4k --depth 16 --size 4m --ios 500
bench "512-byte reads, depth 4" "$uri" --rw read --bs 512 --depth 4 --size 256k --ios 200
bench "64k reads, depth 8" "$uri" --rw read --bs 64k --depth 8 --size 8m --ios 100
bench "64k writes, depth 8" "$uri" --rw write --bs 64k --depth 8 --size 8m --ios 100
bench "64k random reads, depth 1, over IPv6" "$uri6" --rw randread --bs 64k --depth 1 --size 4m --ios 50

ktap_check "answers that waited for longer than io_timeout= are taken" \
	bounded path_io --late 4 "$uri&io_timeout=2" read 0 65536 "$tmp/back" 4096
ktap_check "nothing left after that" nothing_left

ktap_check "a namespace that is not there" fails_to_open 'E[A-Z]*' "verbs://$KDP_ADDR:4420/$nqn?nsid=9"
ktap_check "a subsystem that is not there" fails_to_open 'E[A-Z]*' "verbs://$KDP_ADDR:4420/$nqn-none?nsid=1"
ktap_check "a port where nobody listens" fails_to_open ECONNREFUSED "verbs://$KDP_ADDR:4421/$nqn?nsid=1"
ktap_check "an address that is not there" fails_to_open 'E[A-Z]*' "verbs://192.0.2.1:4420/$nqn?nsid=1"
ktap_check "nothing left after those" nothing_left
ktap_check "killed with I/O in flight, nothing left" killed_with_io
ktap_check "and it works again" bounded kdp bench "$uri" --rw randread --ios 10 --size 1m --rounds 1
world_end
