#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A peer that hangs up: at every step of a connect, and during I/O. A connect fails with
# ECONNRESET, I/O ends with an error, and nothing is left.
# timeout: 240
# quick: uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

reset='ECONNRESET|ECONNREFUSED|EPROTO|ETIMEDOUT'

# Many I/Os in flight; status of the last that failed.
many_reads() {
	local rc=0
	bounded fio --name=t --filename="$disk" --rw=randrw --bs=16k --direct=1 --ioengine=libaio --iodepth=16 \
		--size=4M --time_based --runtime=600 --minimal >"$tmp/fio" 2>&1 || rc=$?
	((rc != 0 && rc < 124)) || complain "fio's status is $rc"
}

reads_half() {
	io_gives 1 "$broken.memory unchanged" guarded_io "$disk" read "$place" 65536 300
}

peers_begin

# A retry that meets nobody takes the RDMA device's time: those begin now.
later "hang-up after accepting" "$reset" "at 1 accepted do disconnect" -i 1
later "hang-up after accepting an I/O queue" "$reset" "at 1 accepted queue 1 do disconnect" -i 1

# Each connect gets a step further than the one before: its n-th fault is the last thing
# that it meets. (Not so once established: Connect may overtake that.)
steps=("at Connect|connect queue 0"
	"at CAP|property-get property 0"
	"at CC|property-set"
	"at CSTS|property-get property 0x1c"
	"at Identify Controller|identify cns 1"
	"at Set Features|set-features"
	"at an I/O queue's Connect|connect queue 1"
	"at the list of namespaces|identify cns 2"
	"at Identify Namespace|identify cns 0")
script=
for step in "${steps[@]}"; do script+="at 1 ${step#*|} do disconnect"$'\n'; done
peer_start "$script"
for step in "${steps[@]}"; do
	ktap_check "hang-up ${step%%|*}" fails_with "$reset" peer_connect -i 1
done
peer_ends "all those were played"
for rule in "established queue 0 do disconnect" "established queue 1 do disconnect" \
	"connect queue 1 do disconnect-all"; do
	peer_start "at 1 $rule"
	ktap_check "hang-up: $rule" fails_with "$reset" peer_connect -i 1
	peer_ends "hang-up: $rule: played"
done
ktap_check "nothing left after those" nothing_left

if with_peer "hang-up at the first read of a disk" "at 1 read do disconnect" -i 1; then
	ktap_check "hang-up at the first read of a disk: failed" becomes failed
	peer_end "hang-up at the first read of a disk"
fi
if with_peer "hang-up in the middle of the data" "at 1 read lba $lba do half-data, disconnect" -i 1; then
	at_place 0
	ktap_check "hang-up in the middle of the data: the read fails" reads_half
	ktap_check "hang-up in the middle of the data: failed" becomes failed
	peer_end "hang-up in the middle of the data"
fi
if with_peer "hang-up at the 100th I/O" "at 100 io do disconnect"; then
	ktap_check "hang-up at the 100th I/O: all end" many_reads
	ktap_check "hang-up at the 100th I/O: failed" becomes failed
	peer_end "hang-up at the 100th I/O"
fi
if with_peer "the peer dies at the 100th I/O" "at 100 io do exit"; then
	ktap_check "the peer dies at the 100th I/O: all end" many_reads
	ktap_check "the peer dies at the 100th I/O: failed" becomes failed
	peer_end "the peer dies at the 100th I/O"
fi
if with_peer "hang-up of the admin queue alone" "at 1 get-features do disconnect"; then
	ktap_check "hang-up of the admin queue alone: the command fails" fails nvme get-feature -f 7 "/dev/$ctrl"
	ktap_check "hang-up of the admin queue alone: failed" becomes failed
	ktap_check "hang-up of the admin queue alone: I/O fails" io_gives 1 "$broken" guarded_io "$disk" read 0 4096 0
	peer_end "hang-up of the admin queue alone"
fi
those_later
world_end
