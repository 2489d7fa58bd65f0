#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMA where it has no business: outside of what a command opened, in the wrong direction,
# after the command's end. The memory must be as the command left it, and the peer must
# have met an error.
# timeout: 240
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

# More than a capsule holds: by keyed SGL.
write_here() {
	io_gives "$1" "$2" guarded_io "$disk" write "$place" 16384 "$3"
}

# each_meets WHAT COMMAND STATUS PATTERN LINGER CASE...: the I/O ends so; the peer has met
# an error, the connection is broken.
each_meets() {
	local what=$1 command=$2 status=$3 pattern=$4 linger=$5 case n=0 name
	shift 5
	peer_cases "$command" "$@" || { ktap_not_ok "the peer starts"; return; }
	for case; do
		name=${case%%|*}
		at_place $((++n))
		connected_to_peer "$name" -i 1 || continue
		ktap_check "$name: $what" "${command}_here" "$status" "$pattern" "$linger"
		ktap_check "$name: the peer met an error" peer_refused "$n"
		ktap_check "$name: the controller has failed" becomes failed
		ktap_check "$name: disconnects" disconnect "$ctrl"
	done
	cases_end
}

peers_begin

each_meets "the read fails, the memory around it is untouched" read 1 "$broken.memory unchanged" 300 \
	"WRITE past the end|write past bytes 8" \
	"WRITE before the start|write before bytes 8" \
	"WRITE across the end|write inside bytes 8192" \
	"WRITE with a key that never was|write wrong-key" \
	"WRITE with the slot's key before|write stale-key"

if [[ $KDP_RDMA == siw ]]; then
	ktap_skip "READ of a read's memory" "soft-iWARP refuses it, but the response may come before the refusal"
else
	each_meets "the read fails, the memory around it is untouched" read 1 "$broken.memory unchanged" 300 \
		"READ of a read's memory|fetch inside"
fi

each_meets "the write fails, its data are untouched" write 1 "$broken.memory unchanged" 300 \
	"WRITE to a write's memory|write inside"

each_meets "the read is right, and its memory stays so" read 0 'all 0x00.memory unchanged' 1500 \
	"WRITE after an invalidation by the peer|write inside after 300" \
	"WRITE after an invalidation by us|key none, write inside after 300"

each_meets "the write is right, its data stay" write 0 'result 16384.*memory unchanged' 1500 \
	"READ after an invalidation by us|key none, fetch inside after 300"

if with_peer "data after the response" "at 1 read lba $lba do data-late 300" -i 1; then
	at_place 0
	ktap_check "data after the response: they never arrive" read_here 0 'all 0x5a.memory unchanged' 1500
	ktap_check "data after the response: the controller has failed" becomes failed
	peer_end "data after the response"
fi
world_end
