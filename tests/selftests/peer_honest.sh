#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kdp_peer without a script is a target like any other: for the module, for the
# userspace-direct path, for the stock driver. Otherwise its faults would show nothing.
# timeout: 180
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

wrong_scripts() {
	local script rc
	for script in bogus 'at 1 raed do status 1' 'set mqes 65536' 'at 1 read do reject 1'; do
		rc=0
		"$peer" --check -e "$script" || rc=$?
		[[ $rc == 2 ]] || complain "'$script': status $rc" || return
	done
	"$peer" --check -e 'at 1 read do status 1'
}

# A rule that nothing meets must not pass for one that was played.
tells_never_played() {
	local rc=0
	peer_start 'at 1 read do status 1' || return
	kill "$peer_pid"
	wait "$peer_pid" || rc=$?
	[[ $rc == 3 ]] && peer_said '^never-played line=1'
}

# copy_in DISK OFFSET_BLOCKS_OF_4K, copy_out the same: $tmp/data, in pieces of BS.
copy_in() {
	dd if="$tmp/data" of="$1" bs="$3" seek="$2" oflag=direct,seek_bytes conv=fsync status=none
}

copy_out() {
	dd if="$1" of="$tmp/back" bs="$3" skip="$2" count=524288 iflag=direct,skip_bytes,count_bytes status=none &&
		same_bytes "$tmp/data" "$tmp/back"
}

invalidated_all() {
	local reg remote lo
	reg=$(json wr_reg) remote=$(json remote_inv) lo=$(json wr_local_inv)
	echo "$reg registrations, $remote by the peer, $lo by us"
	((reg > 0 && remote == reg && lo == 0))
}

size_is() {
	local bytes
	bytes=$(blockdev --getsize64 "$1")
	[[ $bytes == "$2" ]] || complain "$1 has $bytes bytes, not $2"
}

verbs_io() {
	bounded kdp bench "verbs://$KDP_ADDR:$peer_port/$peer_nqn?nsid=1" --verify --allow-write --rounds 1 \
		--size 1m --ios 100 "$@"
}

path_reads() {
	bounded path_io "$1" read 0 524288 "$tmp/back" && same_bytes "$tmp/data" "$tmp/back"
}

stock_io() {
	local node
	node=$(nvme_connect_stock "$peer_nqn" "$KDP_ADDR" "$peer_port") || return
	dd if="$node" of="$tmp/back" bs=64k count=8 iflag=direct status=none &&
		same_bytes "$tmp/data" "$tmp/back" && copy_in "$node" 524288 16k && copy_out "$node" 524288 128k
}

# by_nvme COMMAND...: on the first 4 KiB, which hold the first of $tmp/data.
by_nvme() {
	bounded nvme "$1" "/dev/kdpg${ctrl#kdp}n1" -n 1 -s 0 -c 7 "${@:2}"
}

compare() {
	by_nvme compare -z 4096 -d "$tmp/data"
}

compare_differs() {
	local text rc=0
	random_file "$tmp/other" 4096
	text=$(by_nvme compare -z 4096 -d "$tmp/other" 2>&1) || rc=$?
	echo "$text"
	((rc != 0)) && [[ $text == *[Cc]ompare* ]]
}

peers_begin
ktap_check "a script that makes no sense is refused" wrong_scripts
ktap_check "a rule that was never played is told" tells_never_played
random_file "$tmp/data" 524288

if with_peer "three namespaces" "set namespaces 3; namespace 2 lbads 12 blocks 4096"; then
	ktap_check "their nodes are there" nodes_of "$ctrl" 1 2 3
	ktap_check "size of the first" size_is "$disk" 16777216
	ktap_check "size of the second, in blocks of 4096" size_is "/dev/${ctrl}n2" 16777216
	ktap_check "writes of 64 KiB, by keyed SGL" copy_in "$disk" 0 64k
	ktap_check "reads of 128 KiB" copy_out "$disk" 0 128k
	ktap_check "writes of 2 KiB, in the capsule" copy_in "$disk" 524288 2k
	ktap_check "reads of 512 KiB" copy_out "$disk" 524288 512k
	ktap_check "nvme compare, which the stock target has not: equal" compare
	ktap_check "nvme compare: not equal" compare_differs
	ktap_check "nvme verify, which it has not either" by_nvme verify
	ktap_check "blocks of 4096: writes" copy_in "/dev/${ctrl}n2" 4096 4k
	ktap_check "blocks of 4096: reads" copy_out "/dev/${ctrl}n2" 4096 256k
	ktap_check "each key was invalidated by the peer" invalidated_all
	ktap_check "a second controller at the same time" peer_connect -D --name kdp5
	ktap_check "reads what the first wrote" copy_out /dev/kdp5n1 0 64k
	ktap_check "the second disconnects" disconnect kdp5
	ktap_check "verbs: reads what the module wrote" path_reads "verbs://$KDP_ADDR:$peer_port/$peer_nqn?nsid=1"
	ktap_check "the stock driver: reads that, writes and reads" stock_io
	ktap_check "the module reads what the stock driver wrote" copy_out "$disk" 524288 64k
	ktap_check "the stock driver disconnects" nvme_disconnect_stock "$peer_nqn"
	ktap_check "verbs: random writes of 4 KiB" verbs_io --rw randwrite --bs 4k --depth 8
	ktap_check "verbs: random reads of 64 KiB" verbs_io --rw randread --bs 64k --depth 4
	peer_end "three namespaces"
fi

peer_start '' --nqn "$peer_nqn-other"
ktap_check "a name that is not its own: ENOENT" fails_with ENOENT peer_connect
peer_ends "and it ends"
ktap_check "nothing left" nothing_left
world_end
