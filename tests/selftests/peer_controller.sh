#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Controllers that say absurd things of themselves: properties, Identify Controller,
# features, answers to Connect. What cannot be used is refused, the rest is bounded.
# timeout: 240

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

# refused_all ERRNO "NAME|SCRIPT"...: values, not events: there is nothing to be played.
refused_all() {
	local want=$1 case
	shift
	for case; do
		peer_start "${case#*|}" || { ktap_not_ok "${case%%|*}: the peer starts"; continue; }
		ktap_check "${case%%|*}: $want" fails_with "$want" bash -c 'peer_connect -i 1'
		peer_stop 2>/dev/null
	done
	ktap_check "nothing left after those" nothing_left
}

# works NAME SCRIPT: it can be used all the same: a read, a write, large ones too.
works() {
	with_peer "$1" "$2" -i 1 || return
	ktap_check "$1: it reads and writes" large_io
	ktap_check "$1: disconnects" disconnect "$ctrl"
	peer_ends "$1: the peer ends"
}

large_io() {
	io_gives 0 'result 1048576, all 0x00' guarded_io "$disk" read 0 1048576 0 &&
		io_gives 0 'result 2048' guarded_io "$disk" write 4096 2048 0 &&
		io_gives 0 'result 1048576' guarded_io "$disk" write 0 1048576 0 &&
		io_gives 0 'result 1048576, all 0x3c' guarded_io "$disk" read 0 1048576 0 && state_is live
}

peers_begin

refused_all EPROTO "CSTS.CFS|set cfs 1" \
	"CAP.MQES 0|set mqes 0" \
	"MAXCMD 1|set maxcmd 1" \
	"IOCCSZ 0|set ioccsz 0" \
	"IOCCSZ 1|set ioccsz 1" \
	"IOCCSZ 3|set ioccsz 3" \
	"IOCCSZ of 64 GiB|set ioccsz 0xffffffff" \
	"SQES 0|set sqes 0" \
	"CQES 0xff|set cqes 0xff" \
	"Identify with another controller's identifier|set identify-cntlid 77" \
	"an I/O queue of another controller|set io-cntlid 77"
refused_all EOPNOTSUPP "SGLS 0|set sgls 0" \
	"SGLS without keyed ones|set sgls 0x00100001" \
	"pages of 8 KiB at least|set mpsmin 1"
refused_all 'E[A-Z]*' "Identify Controller fails|at 1 identify cns 1 do status 6" \
	"no I/O queues|at 1 set-features do status 0x4002" \
	"Connect refused|at 1 connect do status 0x184" \
	"a controller's identifier of 0xffff|set cntlid 0xffff; set identify-cntlid 1"

works "MDTS 0, CAP.MQES 65535, CAP.TO 0, NN 0, KAS 0" \
	"set mdts 0; set mqes 65535; set to 0; set nn 0; set kas 0"
works "MDTS 255, MAXCMD 65535, NN 0xffffffff, no IORCSZ, no MSDBD" \
	"set mdts 255; set maxcmd 65535; set nn 0xffffffff; set iorcsz 0; set msdbd 0"
works "MDTS 1, IOCCSZ 4, CAP.MQES 2, IORCSZ of 64 GiB" \
	"set mdts 1; set ioccsz 4; set mqes 2; set iorcsz 0xffffffff"
works "ICDOFF 4, every SGL, 65536 queues, CAP.TO 255" \
	"set icdoff 4; set sgls 0xffffffff; set to 255; at 1 set-features do result 0xffffffffffffffff"
ktap_check "nothing left after those" nothing_left

if with_peer "a shutdown that does not end" "set shutdown 0" -i 1; then
	ktap_check "a shutdown that does not end: disconnects all the same" disconnect "$ctrl"
	peer_ends "a shutdown that does not end: the peer ends"
fi
if with_peer "no answer to Keep Alive" "at every keep-alive do no-response" -i 1 -k 1000; then
	ktap_check "no answer to Keep Alive: the controller has failed" becomes failed
	ktap_check "no answer to Keep Alive: the read fails" io_gives 1 "$broken" guarded_io "$disk" read 0 4096 0
	peer_end "no answer to Keep Alive"
fi
world_end
