#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Responses that are none: wrong identifiers, wrong lengths, one too many, none at all. None
# may index anything, complete a foreign command or leave somebody waiting.
# timeout: 240
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

# A command has 2 s on this disk from now on.
short_timeout() {
	echo 2000 >"/sys/block/${disk#/dev/}/queue/io_timeout"
}

io_ends() {
	read_here 0 'all 0x00' >/dev/null || read_here 1 "$broken"
}

reads_on() {
	local i
	for i in 1 2 3 4; do
		read_here 0 'all 0x00' >/dev/null || return
	done
}

peers_begin

each_breaks "wrong generation|cid generation" \
	"identifier of a slot that is free|cid 0x1005" \
	"identifier out of range|cid 4095" \
	"identifier 0xffff|cid 0xffff" \
	"response of 15 bytes|length 15" \
	"response of no bytes|length 0" \
	"response of 17 bytes|length 17"

if peer_cases read "repeated response|repeat 1" \
	"another's identifier, our key invalidated|cid other" \
	"another's identifier, no key|cid other, key none" \
	"no response|no-response" \
	"late response|delay 1500" \
	"response after its time|delay 4000" \
	"SEND of zeroes before the response|send 16"; then

	# The read may be through before the fault is seen.
	for number in 1 7; do
		name="a response too many, $number" && at_place "$number"
		connected_to_peer "$name" -i 1
		ktap_check "$name: the read ends" bounded io_ends
		ktap_check "$name: the controller has failed" becomes failed
		ktap_check "$name: disconnects" disconnect "$ctrl"
	done

	for number in 2 3; do
		name="another's identifier, $number" && at_place "$number"
		connected_to_peer "$name" -i 1
		ktap_check "$name: both reads end, their memory is left alone" two_reads
		ktap_check "$name: the controller has failed" becomes failed
		ktap_check "$name: disconnects" disconnect "$ctrl"
	done

	name="no response" && at_place 4
	connected_to_peer "$name" -i 1
	ktap_check "$name: 2 s for a command" short_timeout
	ktap_check "$name: the read fails" read_here 1 "$broken"
	ktap_check "$name: the controller has failed" becomes failed
	ktap_check "$name: disconnects" disconnect "$ctrl"

	name="response after its time" && at_place 6
	connected_to_peer "$name" -i 1
	ktap_check "$name: 2 s for a command" short_timeout
	ktap_check "$name: the read fails, its memory is left alone" read_here 1 "$broken.memory unchanged" 3000
	ktap_check "$name: disconnects" disconnect "$ctrl"

	name="late response" && at_place 5
	connected_to_peer "$name" -i 1
	ktap_check "$name: the read is right" read_here 0 'all 0x00'
	ktap_check "$name: the controller lives" state_is live
	ktap_check "$name: disconnects" disconnect "$ctrl"
	cases_end
fi

# A status is no fault: the command fails, the connection does not. Without "do not retry" it
# is sent again, five times.
here="read lba $lba do"
if with_peer "error statuses" "at 1 $here status 0x4281; at 2 $here status 0x4002
		at 3 $here status 0x7fff; at 4 $here status 0x4370; at 5 $here status 0x281
		at 7 $here status 0x281; at 8 $here status 0x281; at 9 $here status 0x281
		at 10 $here status 0x281; at 11 $here status 0x281; at 12 $here status 0x281" -i 1; then
	place=$((lba * 512))
	ktap_check "status Unrecovered Read Error, do not retry" read_here 1 'result E(IO|NODATA)'
	ktap_check "status Invalid Field, do not retry" read_here 1 'result E'
	ktap_check "a status that does not exist" read_here 1 'result E'
	ktap_check "status Host Path Error, from the other side" read_here 1 'result E'
	ktap_check "a status that allows another try: it is tried" read_here 0 'all 0x00'
	ktap_check "the same six times: the read fails" read_here 1 'result E(IO|NODATA)'
	ktap_check "error statuses: all is well with the next" reads_on
	ktap_check "error statuses: the controller lives" state_is live
	peer_end "error statuses"
fi
world_end
