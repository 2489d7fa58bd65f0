#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The userspace-direct path against a peer that breaks the rules: an open that must fail
# does so with its errno, an I/O ends with an error in time, nothing is left.
# timeout: 180
# quick: uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

open_verbs() {
	timeout -k 5 $((patience + 30)) kdp bench "verbs://$KDP_ADDR:$peer_port/$peer_nqn?nsid=1" --rw randread \
		--ios 1 --rounds 1
}

read_verbs() {
	bounded path_io "verbs://$KDP_ADDR:$peer_port/$peer_nqn?nsid=1" read "$place" 4096 "$tmp/back"
}

# each_fails "NAME|FAULT"...: a read meets the fault and ends with an error.
each_fails() {
	local case n=0
	peer_cases read "$@" || { ktap_not_ok "the peer starts"; return; }
	for case; do
		at_place $((++n))
		ktap_check "${case%%|*}: the read fails" fails read_verbs
	done
	cases_end
}

# With time to connect again the same read finds its bytes: nobody wrote them, so zeroes.
read_again() {
	bounded path_io "verbs://$KDP_ADDR:$peer_port/$peer_nqn?nsid=1&ctrl_loss_tmo=$patience" read "$place" 4096 \
		"$tmp/back" && cmp -n 4096 "$tmp/back" /dev/zero
}

# each_survives "NAME|FAULT"...: a read meets the fault once, and is sent again.
each_survives() {
	local case n=0
	peer_cases read "$@" || { ktap_not_ok "the peer starts"; return; }
	for case; do
		at_place $((++n))
		ktap_check "${case%%|*}: the read is sent again" read_again
	done
	cases_end
}

# A controller that answers Keep Alive, and leaves an I/O unanswered: it is lost after io_timeout=.
never_answered() {
	local limit="verbs://$KDP_ADDR:$peer_port/$peer_nqn?nsid=1&io_timeout=2" text
	at_place 1
	! text=$(bounded path_io "$limit" read "$place" 4096 "$tmp/back" 2>&1) || complain "it ended well" || return
	[[ $text == *'not connected'* ]] || complain "it said: $text" || return
	at_place 2
	bounded path_io "$limit&ctrl_loss_tmo=$patience" read "$place" 4096 "$tmp/back" && cmp -n 4096 "$tmp/back" /dev/zero
}

an_io_is_never_answered() {
	peer_cases read "for good|no-response" "once|no-response" || { ktap_not_ok "the peer starts"; return; }
	ktap_check "an I/O that is never answered: it fails, or is sent again" never_answered
	cases_end
}

# survives_not NAME SCRIPT PATTERN: the read fails, with those words.
survives_not() {
	local text
	peer_start "$2" || { ktap_not_ok "$1: the peer starts"; return; }
	at_place 1
	if text=$(read_again 2>&1) || [[ ! $text =~ $3 ]]; then
		ktap_not_ok "$1" "$text"
	else
		ktap_ok "$1"
	fi
	peer_ends "$1: all of it was played"
	ktap_check "$1: nothing left" nothing_left
}

# Its first two tries to connect again come to nothing.
survives_refusals() {
	peer_start "at 1 read do disconnect-all
at 3 cm-request do reject 6
at 4 cm-request do private garbage" || { ktap_not_ok "the peer starts"; return; }
	at_place 1
	ktap_check "tries to connect that are refused: the read is sent again" read_again
	cases_end
}

peers_begin
attempt=(open_verbs)
each_refused "cm-request" \
	"accept with garbage|EPROTO|private garbage" \
	"accept with a receive queue of 0|EPROTO|crqsize 0" \
	"reject with garbage|ECONNREFUSED|reject garbage"
each_refused "identify cns 1" \
	"IOCCSZ 3|EPROTO|patch 1792 03000000" \
	"SGLS 0|EOPNOTSUPP|patch 536 00000000" \
	"another controller's identifier|EPROTO|patch 78 7700"
each_refused "connect queue 1" "an I/O queue of another controller|EPROTO|result 77"
each_refused "identify cns 0" \
	"capacity 0|ENODEV|patch 0 0000000000000000" \
	"blocks of 256 bytes|EPROTO|patch 130 08" \
	"metadata|EOPNOTSUPP|patch 128 08" \
	"hang-up|ECONNRESET|ENOTCONN|disconnect"
each_fails "wrong generation|cid generation" \
	"identifier out of range|cid 4000" \
	"identifier 0xffff|cid 0xffff" \
	"response of 15 bytes|length 15" \
	"response of no bytes|length 0" \
	"response of 17 bytes|length 17" \
	"a key that never was|key wrong" \
	"WRITE past the end|write past bytes 8" \
	"WRITE with a key that never was|write wrong-key" \
	"status Unrecovered Read Error|status 0x281" \
	"hang-up in the middle of the data|half-data, disconnect"
each_survives "again: wrong generation|cid generation" \
	"again: response of 15 bytes|length 15" \
	"again: hang-up in the middle of the data|half-data, disconnect" \
	"again: hang-up on every queue|disconnect-all"
survives_refusals
an_io_is_never_answered
survives_not "another namespace behind the number" "at 1 read do disconnect-all
at 2+ identify cns 0 do patch 0 0040000000000000" 'not connected'
survives_not "a read that breaks five connections" "at every read do cid generation" 'Input/output error'
if [[ $KDP_RDMA == siw ]]; then
	ktap_skip "why the target refuses" "soft-iWARP does not pass a refusal's private data on"
	ktap_skip "a key unasked" "libsiw does not tell of an invalidation"
else
	each_refused "cm-request" "reject with status 6, no resources|EBUSY|reject 6"
	each_fails "a key unasked|key own"
fi
world_end
