#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Namespaces of a target that tells of no changes, and whose identifiers make no sense: what a
# rescan finds, and that one namespace is never taken for another.
# timeout: 150
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

not_there() {
	[[ ! -e /dev/${ctrl}n$1 && ! -e /dev/kdpg${ctrl#kdp}n$1 ]] || complain "namespace $1 is there"
}

size_is() {
	local bytes
	bytes=$(blockdev --getsize64 "/dev/${ctrl}n$1")
	[[ $bytes == "$2" ]] || complain "namespace $1 has $bytes bytes, not $2"
}

kernel_said() {
	dmesg | grep -q "$1" || complain "the kernel did not say: $1"
}

# Not as peer_connect: with recovery.
connect_for_long() {
	timeout -k 5 $((patience + 30)) kdp connect -a "$KDP_ADDR" -s "$peer_port" -n "$peer_nqn" \
		-q "$kdp_hostnqn" -I "$kdp_hostid" -i 1
}

rescan() {
	bounded kdp rescan "$ctrl"
}

disk_number() {
	cat "/sys/block/${ctrl}n$1/diskseq"
}

# remember NSID...: the disks that are there now.
declare -A were
remember() {
	local id
	for id; do were[$id]=$(disk_number "$id"); done
}

same_disks() {
	local id
	for id; do
		[[ $(disk_number "$id") == "${were[$id]}" ]] || complain "namespace $id has another disk" || return
	done
}

new_disks() {
	local id
	for id; do
		[[ $(disk_number "$id") != "${were[$id]}" ]] || complain "namespace $id has its old disk" || return
	done
}

reads() {
	io_gives 0 'result 4096, all 0x00' guarded_io "/dev/${ctrl}n$1" read "$place" 4096 0
}

reads_nothing() {
	local bytes
	bytes=$(dd bs=4k count=1 status=none <&"$held" 2>/dev/null | wc -c)
	[[ $bytes == 0 ]] || complain "$bytes bytes"
}

# ids NSID...: as the list of active namespaces has them, and its end.
ids() {
	local id
	for id in "$@" 0; do
		printf '%02x000000' "$id"
	done
}

# -- what came, went and changed

peers_begin
if with_peer "a rescan" "set namespaces 5
at 1 identify cns 2 do patch 0 $(ids 1 3 4 5)
at 2 identify cns 2 do patch 0 $(ids 1 2 4 5)
at 3 identify cns 2 do status 6
at 4 identify cns 2 do patch 0 $(ids 4 3 2)
at 2+ identify cns 0 nsid 1 do patch 0 0000010000000000
at 2+ identify cns 0 nsid 4 do patch 99 01" -i 1; then
	ktap_check "at first four" nodes_of "$ctrl" 1 3 4 5
	ktap_check "the second is not there" not_there 2
	ktap_check "the fourth may be written" test "$(blockdev --getro "/dev/${ctrl}n4")" = 0
	remember 1 3 4 5
	exec {held}<"/dev/${ctrl}n3"
	ktap_check "rescan" rescan
	ktap_check "one came" nodes_of "$ctrl" 1 2 4 5
	ktap_check "one went" not_there 3
	ktap_check "one grew" size_is 1 $((65536 * 512))
	ktap_check "one is write-protected" test "$(blockdev --getro "/dev/${ctrl}n4")" = 1
	ktap_check "the others kept their disks" same_disks 1 4 5
	ktap_check "they can be read" eval 'reads 1 && reads 2 && reads 4'
	ktap_check "who had the third open reads nothing" reads_nothing
	exec {held}<&-
	remember 1 2 4 5
	ktap_check "a list that fails: EIO" fails_with EIO kdp rescan "$ctrl"
	ktap_check "takes nothing away" same_disks 1 2 4 5
	ktap_check "a list out of order" rescan
	ktap_check "takes away what it tells of, no more" eval 'not_there 1 && not_there 2 && same_disks 4 5'
	ktap_check "the log says so" kernel_said "the list of namespaces is out of order"
	ktap_check "nvme ns-rescan" bounded nvme ns-rescan "/dev/$ctrl"
	ktap_check "all are there" nodes_of "$ctrl" 1 2 3 4 5
	peer_end "a rescan"
fi

# -- the same number, another namespace: EUI64, block size, size where there is nothing else

other=$(printf '%016x' 0x1122334455667788)
if with_peer "others" "set namespaces 5
patch 4 104 $(printf '%048d' 0)
patch 5 104 $(printf '%048d' 0)
at every identify cns 3 nsid 4 do patch 0 00000000
at every identify cns 3 nsid 5 do patch 0 00000000
at 2+ identify cns 0 nsid 1 do patch 120 $other
at 2+ identify cns 3 nsid 1 do patch 4 $other
at 2+ identify cns 0 nsid 2 do patch 130 0c
at 2+ identify cns 0 nsid 3 do patch 0 0000010000000000
at 2+ identify cns 0 nsid 4 do patch 0 0000010000000000" -i 1; then
	remember 1 2 3 4 5
	exec {held}<"/dev/${ctrl}n1"
	ktap_check "a wwid by the EUI64" grep -qx 'eui\.[0-9a-f]*' "/sys/block/${ctrl}n2/wwid"
	ktap_check "none without identifiers" test ! -e "/sys/block/${ctrl}n4/wwid"
	ktap_check "others: rescan" rescan
	ktap_check "another EUI64: another disk" new_disks 1
	ktap_check "another block size: another disk" eval \
		'new_disks 2 && test "$(blockdev --getss "/dev/${ctrl}n2")" = 4096'
	ktap_check "another size: the same disk" eval 'same_disks 3 && size_is 3 $((65536 * 512))'
	ktap_check "another size, but no identifier: another disk" eval \
		'new_disks 4 && size_is 4 $((65536 * 512))'
	ktap_check "no identifier, nothing changed: the same disk" same_disks 5
	ktap_check "who had the first open reads nothing" reads_nothing
	exec {held}<&-
	ktap_check "the new one reads" reads 1
	ktap_check "the log says so" kernel_said "namespace 1 is another one now"
	peer_end "others"
fi

# -- identifiers that make no sense

if with_peer "garbage" "set namespaces 9
at every identify cns 3 nsid 1 do patch 0 0307
at every identify cns 3 nsid 2 do no-data
at every identify cns 3 nsid 3 do half-data
at every identify cns 3 nsid 4 do status 0x4002
at every identify cns 3 nsid 5 do patch 4 99
at every identify cns 3 nsid 6 do patch 0 0401000002
at 1 identify cns 3 nsid 7 do status 6
at every identify cns 3 nsid 8 do patch 0 eeff0000
at every identify cns 3 nsid 9 do patch 12 0110000011223344556677881122334455667788" -i 1; then
	ktap_check "garbage: those come up" nodes_of "$ctrl" 1 2 3 4 5 8 9
	ktap_check "one of another command set does not" not_there 6
	ktap_check "one that cannot say now does not" not_there 7
	ktap_check "the log says so" kernel_said "namespace 1: its identifiers make no sense"
	ktap_check "they can be read" eval 'reads 1 && reads 5 && reads 9'
	remember 1 2 3 4 5 8 9
	ktap_check "garbage: rescan" rescan
	ktap_check "the same garbage: the same disks" same_disks 1 2 3 4 5 8 9
	ktap_check "the one that could not say comes up" nodes_of "$ctrl" 7
	peer_end "garbage"
fi

# -- a reconnect: nothing that waited reaches another namespace

# writes NSID: how many the peer has had.
writes() {
	grep -c "^command .*opcode=0x01 .*nsid=$1 " "$peer_log"
}

both_arrived() {
	(($(writes 1) == 1 && $(writes 2) == 1))
}

appear() {
	wait_until "$patience" nodes_of "$ctrl" "$@" 2>/dev/null || nodes_of "$ctrl" "$@"
}

became_new() {
	wait_until "$patience" new_disks "$@" 2>/dev/null || new_disks "$@"
}

goes() {
	wait_until "$patience" not_there "$1" 2>/dev/null || not_there "$1"
}

size_becomes() {
	wait_until "$patience" size_is "$@" 2>/dev/null || size_is "$@"
}

# write_waits NSID: a write whose answer comes when it is sent again, in the background.
write_waits() {
	bounded guarded_io "/dev/${ctrl}n$1" write "$place" 4096 0 >"$tmp/write$1" 2>&1 &
	pids[$1]=$!
}

# write_gave NSID STATUS PATTERN: what came of it, with guarded_io's status.
write_gave() {
	cat "$tmp/write$1"
	[[ $2 == "${statuses[$1]}" && $(<"$tmp/write$1") =~ $3 ]] || complain "status ${statuses[$1]}"
}

writes_end() {
	local id
	for id in "${!pids[@]}"; do
		statuses[$id]=0
		wait "${pids[$id]}" || statuses[$id]=$?
	done
}

declare -A pids statuses
if peer_start "set namespaces 5
at 1 write nsid 1 do no-response
at 1 write nsid 2 do no-response
at 2+ identify cns 0 nsid 2 do patch 120 $other
at 2+ identify cns 3 nsid 2 do patch 4 $other
at 2+ identify cns 0 nsid 3 do status 0x400b
at 2+ identify cns 0 nsid 4 do patch 0 0000010000000000
at 2 identify cns 0 nsid 5 do status 0x82
at 3 identify cns 0 nsid 5 do status 0x82
at 4 identify cns 0 nsid 5 do status 0x82" --trace &&
	ctrl=$(connect_for_long 2>&1); then
	remember 1 2 3 4 5
	write_waits 1
	write_waits 2
	ktap_check "a reconnect: two writes are at the target" wait_until "$patience" both_arrived
	ktap_check "the connection is made anew" bounded kdp reset "$ctrl"
	writes_end
	ktap_check "the first write succeeds" write_gave 1 0 'result 4096'
	ktap_check "the second, to another one by now, fails" write_gave 2 1 'result EIO'
	ktap_check "it is live again" becomes live
	ktap_check "another EUI64: another disk" became_new 2
	ktap_check "invalid namespace: gone" goes 3
	ktap_check "resized: the same disk" eval 'size_becomes 4 $((65536 * 512)) && same_disks 4'
	ktap_check "not ready, three times: another disk" eval 'appear 5 && became_new 5'
	ktap_check "unchanged: the same disk" same_disks 1
	ktap_check "the first got its write again" test "$(writes 1)" = 2
	ktap_check "the second did not" test "$(writes 2)" = 1
	ktap_check "the new one reads" io_gives 0 'result 4096' \
		guarded_io "/dev/${ctrl}n2" read "$place" 4096 0
	peer_end "a reconnect"
else
	ktap_not_ok "a reconnect: the peer starts, connect" "${ctrl:-}"
fi
world_end
