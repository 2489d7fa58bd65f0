#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Asynchronous events as no decent target tells them: without end, of unknown kinds, with an error.
# Each costs bounded work and does not keep anything from ending.
# timeout: 150
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

kernel_said() {
	dmesg | grep -q "$1" || complain "the kernel did not say: $1"
}

says_at_last() {
	wait_until "$patience" kernel_said "$1" 2>/dev/null || kernel_said "$1"
}

appear() {
	wait_until "$patience" nodes_of "$ctrl" "$@" 2>/dev/null || nodes_of "$ctrl" "$@"
}

# How many event requests the peer has had: it traces its commands.
requests() {
	grep -c '^command .*opcode=0x0c' "$peer_log"
}

log_reads() {
	grep -c '^command .*opcode=0x02 .*nsid=4294967295' "$peer_log"
}

many_events() {
	(($(log_reads) >= 4))
}

# traced NAME SCRIPT: like with_peer, with every command in the log.
traced() {
	peer_start "$2" --trace || { ktap_not_ok "$1: the peer starts"; return 1; }
	connected_to_peer "$1" -i 1 || { peer_stop; return 1; }
}

# Only the first namespace is listed at first, then both.
grows='set oaes 0x100; set namespaces 2
at 1 identify cns 2 do patch 0 0100000000000000'

peers_begin
if traced "an event" "$grows
at 1 async-event do delay 300, result 0x40002"; then
	ktap_check "an event: a namespace comes" appear 1 2
	ktap_check "its log page was read" test "$(log_reads)" = 1
	ktap_check "the request was sent again" wait_until "$patience" eval '(($(requests) == 2))'
	ktap_check "the disk reads" read_here 0 'all 0x00'
	peer_end "an event"
fi

# What is not of namespaces: error, health, firmware, access, I/O command set, vendor.
if traced "other events" "$grows
at 1 async-event do result 0x10300
at 2 async-event do result 0x20001
at 3 async-event do result 0x30102
at 4 async-event do result 0xc0302
at 5 async-event do result 0xfffffffffffffffe
at 6 async-event do result 0xff0a07
at 1 get-log-page lid 3 do no-data
at 7 async-event do result 0x40002"; then
	ktap_check "other events: a namespace comes after all" appear 1 2
	ktap_check "the log says what came" kernel_said "event of type 7: 0xa, log page 0xff"
	ktap_check "their log pages were read" test "$(log_reads)" = 7
	ktap_check "the disk reads" read_here 0 'all 0x00'
	peer_end "other events"
fi

# One at a time, with a pause of 250 ms after each: so many in so long at most.
if traced "events without end" "$grows
at every async-event do result 0x40002"; then
	begun=${EPOCHREALTIME/./}
	before=$(log_reads)
	ktap_check "events without end: several come" wait_until "$patience" many_events
	ktap_check "the disk reads" read_here 0 'all 0x00'
	ktap_check "the second namespace is there" nodes_of "$ctrl" 1 2
	came=$(($(log_reads) - before))
	((most = (${EPOCHREALTIME/./} - begun) / 250000 + 2))
	ktap_check "not more than one a quarter of a second ($came of $most)" test "$((came <= most))" = 1
	peer_end "events without end"
fi

if traced "an event request that fails" "$grows
at 1 async-event do status 6"; then
	ktap_check "an event request that fails: the log says so" \
		says_at_last "changes are told of no more: the event request ended with NVMe status 0x6"
	ktap_check "a rescan finds the namespace all the same" bounded kdp rescan "$ctrl"
	ktap_check "it is there" nodes_of "$ctrl" 1 2
	ktap_check "it is not sent again" test "$(requests)" = 1
	peer_end "an event request that fails"
fi

if traced "events that cannot be had" "$grows
at 2 set-features do status 0x4002"; then
	ktap_check "events that cannot be had: the log says so" kernel_said "changes will not be told of"
	ktap_check "no request for them" test "$(requests)" = 0
	ktap_check "the disk reads" read_here 0 'all 0x00'
	peer_end "events that cannot be had"
fi

if traced "a target that offers none" "set namespaces 2"; then
	ktap_check "a target that offers none is not asked" test "$(requests)" = 0
	ktap_check "disconnects" disconnect "$ctrl"
	peer_ends "the peer ends"
fi

# An answer that is wrong as any other may be.
peer_start "set oaes 0x100
at 1 async-event do delay 1000, result 0x40002, cid generation
at 2 async-event do delay 1000, result 0x40002, repeat 1
at 3 async-event do delay 1000, disconnect" || ktap_not_ok "the peer starts"
for name in "another identifier" "twice" "a hang-up"; do
	connected_to_peer "$name" -i 1 || continue
	ktap_check "$name: the connection breaks" becomes failed
	ktap_check "$name: disconnects" disconnect "$ctrl"
done
cases_end

# The log page is never given: a command like any other, and it times out.
if with_peer "no log page" "set oaes 0x100
at 1 async-event do result 0x40002
at 1 get-log-page do no-response" -i 1; then
	ktap_check "no log page: disconnects all the same" disconnect "$ctrl"
	peer_ends "no log page: the peer ends"
	ktap_check "no log page: nothing left" nothing_left
fi
world_end
