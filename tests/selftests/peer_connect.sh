#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Connects to a peer that refuses, lies or says nothing on the way: CM private data,
# rejects, properties. Each fails with its errno, in time, and leaves nothing.
# timeout: 240

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"

cm="at 1 cm-request do"
io="at 1 cm-request queue 1 do"

peers_begin

# What is waited for takes its time: all of them at once, while the others go on.
later "the request is never answered" ETIMEDOUT "$cm ignore"
later "Connect is never answered" 'ETIMEDOUT|ECONNRESET' "at 1 connect do no-response"
later "a property is never answered" 'ETIMEDOUT|ECONNRESET' "at 1 property-get do no-response"
later "Identify is never answered" 'ETIMEDOUT|ECONNRESET' "at 1 identify do no-response"
later "an I/O queue's Connect is never answered" 'ETIMEDOUT|ECONNRESET' \
	"at 1 connect queue 1 do no-response" -i 1
later "never ready" ETIMEDOUT "set ready 0; set to 1; at 2+ property-get property 0x1c do status 0"
later "never ready, and CAP.TO 0" ETIMEDOUT "set ready 0; set to 0; at 1 property-get property 0 do status 0"

# -- the answer to the CM's request

refused "accept without private data" EPROTO "$cm private nothing"
refused "accept with garbage" EPROTO "$cm private garbage"
refused "accept with 2 bytes" EPROTO "$cm private short"
refused "accept with record format 1" EPROTO "$cm recfmt 1"
refused "accept with a receive queue of 0" EPROTO "$cm crqsize 0"
refused "accept with a receive queue of 1" EPROTO "$cm crqsize 1"
refused "the same for an I/O queue" EPROTO "$io crqsize 0"

refused "reject without private data" ECONNREFUSED "$cm reject nothing"
refused "reject with 2 bytes" ECONNREFUSED "$cm reject short"
refused "reject with garbage" ECONNREFUSED "$cm reject garbage"
refused "reject: no resources" EBUSY "$cm reject 6"
for status in 1 5 9 0x77; do
	refused "reject with status $status" EPROTO "$cm reject $status"
done
refused "the request is dropped" 'ECONNREFUSED|ECONNRESET' "$cm drop"

if with_peer "a receive queue larger than asked for" "$cm crqsize 65535; $io crqsize 65535" -i 1; then
	ktap_check "a receive queue larger than asked for: it reads" read_here 0 'all 0x00'
	peer_end "a receive queue larger than asked for"
fi

# Fewer queues are no failure; the first one would be.
if with_peer "no second I/O queue" "at 1 cm-request queue 2 do reject 6" -i 2; then
	ktap_check "no second I/O queue: one is there" test "$(json nr_io_queues)" = 1
	ktap_check "no second I/O queue: it reads" read_here 0 'all 0x00'
	peer_end "no second I/O queue"
fi
if with_peer "a small receive queue" "at every cm-request queue 1 do crqsize 4" -i 1; then
	ktap_check "a small receive queue: it reads" read_here 0 'all 0x00'
	ktap_check "a small receive queue: no more in flight than it holds" test "$(json queue_depth)" -le 4
	peer_end "a small receive queue"
fi

those_later
world_end
