#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Controllers that say absurd things of themselves: properties, Identify Controller,
# features, answers to Connect. What cannot be used is refused, the rest is bounded.
# timeout: 240
# quick: uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

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

# By field: CAP, SQES, CQES, MAXCMD, SGLS, IOCCSZ, CNTLID.
each_refused "property-get property 0" \
	"CAP.MQES 0|EPROTO|result 0x00f0002002010000" \
	"CAP.MQES 1|EPROTO|result 0x00f0002002010001" \
	"pages of 8 KiB at least|EOPNOTSUPP|result 0x00f100200201007f" \
	"CAP that cannot be read|EIO|status 6"
each_refused "identify cns 1" \
	"IOCCSZ 0|EPROTO|patch 1792 00000000" \
	"IOCCSZ 1|EPROTO|patch 1792 01000000" \
	"IOCCSZ 3|EPROTO|patch 1792 03000000" \
	"IOCCSZ of 64 GiB|EPROTO|patch 1792 ffffffff" \
	"SQES 0|EPROTO|patch 512 00" \
	"CQES 0xff|EPROTO|patch 513 ff" \
	"MAXCMD 1|EPROTO|patch 514 0100" \
	"another controller's identifier|EPROTO|patch 78 7700" \
	"SGLS 0|EOPNOTSUPP|patch 536 00000000" \
	"SGLS without keyed ones|EOPNOTSUPP|patch 536 01001000" \
	"no data|EPROTO|no-data" \
	"an error|EIO|status 6"
each_refused "connect queue 0" \
	"a controller's identifier of 0xffff|EPROTO|result 0xffff" \
	"Connect: host not admitted|EACCES|status 0x184" \
	"Connect: busy|EBUSY|status 0x181" \
	"Connect: another format|EPROTO|status 0x180" \
	"Connect: an error|EIO|status 6"
each_refused "connect queue 1" \
	"an I/O queue of another controller|EPROTO|result 77" \
	"an I/O queue of no controller|EPROTO|result 0xffff"
each_refused "set-features" "no I/O queues|EIO|status 0x4002"
peer_start "set cfs 1"
ktap_check "CSTS.CFS: EPROTO" fails_with EPROTO peer_connect -i 1
peer_ends "CSTS.CFS: the peer ends"

works "MDTS 0, CAP.MQES 65535, CAP.TO 0, NN 0, KAS 0" \
	"set mdts 0; set mqes 65535; set to 0; set nn 0; set kas 0"
works "MDTS 255, MAXCMD 65535, NN 0xffffffff, no IORCSZ, no MSDBD" \
	"set mdts 255; set maxcmd 65535; set nn 0xffffffff; set iorcsz 0; set msdbd 0"
works "MDTS 1, IOCCSZ 4, CAP.MQES 2, IORCSZ of 64 GiB" \
	"set mdts 1; set ioccsz 4; set mqes 2; set iorcsz 0xffffffff"
works "ICDOFF 4, every SGL, 65536 queues, CAP.TO 255" \
	"set icdoff 4; set sgls 0xffffffff; set to 255; at 1 set-features do result 0xffffffffffffffff"
ktap_check "nothing left after those" nothing_left

no_keep_alive_failed() {
	local text
	text=$(dmesg | sed -n '/peer_controller: shutdown$/,$p')
	[[ -n $text ]] && ! grep 'keep-alive failed' <<<"$text"
}

if with_peer "a shutdown that does not end" "set shutdown 0" -i 1 -k 1000; then
	echo "peer_controller: shutdown" >/dev/kmsg
	ktap_check "a shutdown that does not end: disconnects all the same" disconnect "$ctrl"
	ktap_check "a shutdown that does not end: no Keep Alive comes meanwhile" no_keep_alive_failed
	peer_ends "a shutdown that does not end: the peer ends"
fi
if with_peer "no answer to Keep Alive" "at every keep-alive do no-response" -i 1 -k 1000; then
	ktap_check "no answer to Keep Alive: the controller has failed" becomes failed
	ktap_check "no answer to Keep Alive: the read fails" io_gives 1 "$broken" guarded_io "$disk" read 0 4096 0
	peer_end "no answer to Keep Alive"
fi
world_end
