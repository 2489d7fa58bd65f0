#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The key that a response invalidates: a wrong one, another command's, none, one twice.
# timeout: 180
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

parameter=/sys/module/kdp_host/parameters/remote_invalidation

# all_by target|host: who ended the access to the data, once a registration.
all_by() {
	local reg remote lo
	reg=$(json wr_reg) remote=$(json remote_inv) lo=$(json wr_local_inv)
	echo "$reg registrations, $remote invalidated by the peer, $lo by us"
	((reg > 0)) && case $1 in
	target) ((remote == reg && lo == 0)) ;;
	host) ((lo == reg && remote == 0)) ;;
	esac
}

# More than a capsule holds: by keyed SGL.
write_here() {
	io_gives 0 'result 16384' guarded_io "$disk" write "$place" 16384 0
}

sync_disk() {
	blockdev --flushbufs "$disk" && dd if=/dev/null of="$disk" conv=notrunc,fsync status=none
}

peers_begin

each_breaks "a key that never was|key wrong" "key 0|key 0" "the slot's key before|key stale"

if peer_cases read "another command's key|key other" "the key twice|repeat-invalidation 1"; then
	name="another command's key" && at_place 1
	connected_to_peer "$name" -i 1
	ktap_check "$name: both reads end, their memory is left alone" two_reads
	ktap_check "$name: the controller has failed" becomes failed
	ktap_check "$name: disconnects" disconnect "$ctrl"

	name="the key twice" && at_place 2
	connected_to_peer "$name" -i 1
	ktap_check "$name: the read ends" bounded guarded_io "$disk" read "$place" 4096 300
	ktap_check "$name: the controller has failed" becomes failed
	ktap_check "$name: disconnects" disconnect "$ctrl"
	cases_end
fi

if with_peer "no key though asked" "at every io do key none" -i 1; then
	ktap_check "no key though asked: the read is right" read_here 0 'all 0x00'
	ktap_check "no key though asked: the write too" write_here
	ktap_check "no key though asked: the host does it" all_by host
	ktap_check "no key though asked: the controller lives" state_is live
	peer_end "no key though asked"
fi

echo 0 >"$parameter"
if with_peer "a key unasked" "at every read do key own" -i 1; then
	ktap_check "a key unasked, the right one: the read is right" read_here 0 'all 0x00'
	ktap_check "a key unasked: it is taken for what it is" all_by target
	ktap_check "a key unasked: the controller lives" state_is live
	peer_end "a key unasked"
fi
echo 1 >"$parameter"

if with_peer "a key where there is none" "at 1 flush do key 0x1234" -i 1; then
	ktap_check "a key where there is none: the flush fails" fails sync_disk
	ktap_check "a key where there is none: the controller has failed" becomes failed
	peer_end "a key where there is none"
fi
world_end
