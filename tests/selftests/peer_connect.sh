#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Connects to a peer that refuses, lies or says nothing on the way: CM private data,
# rejects, properties. Each fails with its errno, in time, and leaves nothing.
# timeout: 240
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

peers_begin

# What is waited for takes its time: all of them at once, while the others go on.
later "the request is never answered" ETIMEDOUT "at 1 cm-request do ignore"
later "Connect is never answered" 'ETIMEDOUT|ECONNRESET' "at 1 connect do no-response"
later "a property is never answered" 'ETIMEDOUT|ECONNRESET' "at 1 property-get do no-response"
later "Identify is never answered" 'ETIMEDOUT|ECONNRESET' "at 1 identify do no-response"
later "an I/O queue's Connect is never answered" 'ETIMEDOUT|ECONNRESET' \
	"at 1 connect queue 1 do no-response" -i 1
later "never ready" ETIMEDOUT "set ready 0; set to 1; at 2+ property-get property 0x1c do status 0"
later "never ready, and CAP.TO 0" ETIMEDOUT "set ready 0; set to 0; at 1 property-get property 0 do status 0"

each_refused "cm-request" \
	"accept without private data|EPROTO|private nothing" \
	"accept with garbage|EPROTO|private garbage" \
	"accept with 2 bytes|EPROTO|private short" \
	"accept with record format 1|EPROTO|recfmt 1" \
	"accept with a receive queue of 0|EPROTO|crqsize 0" \
	"accept with a receive queue of 1|EPROTO|crqsize 1" \
	"reject without private data|ECONNREFUSED|reject nothing" \
	"reject with 2 bytes|ECONNREFUSED|reject short" \
	"reject with garbage|ECONNREFUSED|reject garbage" \
	"the request is dropped|ECONNREFUSED|ECONNRESET|drop"
each_refused "cm-request queue 1" \
	"an I/O queue's receive queue of 0|EPROTO|crqsize 0" \
	"an I/O queue's receive queue of 1|EPROTO|crqsize 1"

# soft-iWARP tells the host of a refusal, not of its words.
if [[ $KDP_RDMA == siw ]]; then
	ktap_skip "why the target refuses" "soft-iWARP does not pass a refusal's private data on"
else
	each_refused "cm-request" \
		"reject with status 6, no resources|EBUSY|reject 6" \
		"reject with status 1|EPROTO|reject 1" \
		"reject with status 2|EPROTO|reject 2" \
		"reject with status 3|EPROTO|reject 3" \
		"reject with status 4|EPROTO|reject 4" \
		"reject with status 5|EPROTO|reject 5" \
		"reject with status 7|EPROTO|reject 7" \
		"reject with status 8|EPROTO|reject 8" \
		"reject with status 9|EPROTO|reject 9" \
		"reject with a status that does not exist|EPROTO|reject 0x77"
	each_refused "cm-request queue 1" "an I/O queue rejected|EBUSY|reject 6"
fi

if with_peer "a receive queue larger than asked for" "at every cm-request do crqsize 65535" -i 1; then
	ktap_check "a receive queue larger than asked for: it reads" read_here 0 'all 0x00'
	peer_end "a receive queue larger than asked for"
fi

# Fewer queues are no failure; the first one would be.
if (($(nproc) < 2)); then
	ktap_skip "no second I/O queue" "needs two CPUs: MACHINE=stock or debug"
elif with_peer "no second I/O queue" "at 1 cm-request queue 2 do reject 6" -i 2; then
	ktap_check "no second I/O queue: one is there" test "$(json nr_io_queues)" = 1
	ktap_check "no second I/O queue: it reads" read_here 0 'all 0x00'
	peer_end "no second I/O queue"
fi
if with_peer "a small receive queue" "at every cm-request queue 1 do crqsize 4" -i 1; then
	ktap_check "a small receive queue: it reads" read_here 0 'all 0x00'
	ktap_check "a small receive queue: no more in flight than it holds" test "$(json queue_size)" -le 4
	peer_end "a small receive queue"
fi

those_later
world_end
