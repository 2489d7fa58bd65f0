#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A peer and the key of a registered region: it invalidates the key with a response, right or
# wrong in other ways, and writes by it when the region has gone.
# timeout: 180
# quick: 6.12 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/peers.sh"
. "$(dirname "$0")/hold.sh"

# Of 8 I/Os of 4 KiB the last is at LBA 56: nobody else reads from there on.
fault_at=56

# What may come of a command that is on its way when the controller fails.
broken='ENOTCONN|EAGAIN|EIO|status 0x370'

# breaks_and_recovers NAME: the peer invalidates the key at the next eighth read.
breaks_and_recovers() {
	ktap_check "$1: the command fails, the connection with it" hold_says "$broken" io 8
	ktap_check "$1: the controller recovers" becomes live
	ktap_check "$1: the region has a key that is valid" hold_says '0 14' io 7
}

peers_begin
script="at 1 read lba $fault_at do key own
at 2 read lba $fault_at do key own, cid 4095
at 3 read lba $fault_at do key own, length 8
at 4 read lba $fault_at do write inside after 1000"
peer_start "$script" || { ktap_not_ok "the peer starts"; world_end; }
peer_loss=600
connected_to_peer "a region" --reconnect-delay 1 || world_end
char=/dev/kdpg${ctrl#kdp}n1

hold_begin 262144
ktap_check "ADD" hold_says 0 add
ktap_check "I/O uses it" hold_says '0 14' io 7
breaks_and_recovers "with the command's response"
breaks_and_recovers "with a response to no command"
breaks_and_recovers "with half a response"

ktap_check "the peer keeps the key" hold_says '0 16' io 8
ktap_check "DEL" hold_says 0 del
ktap_check "what it writes by the key later is refused" peer_refused 4
ktap_check "I/O without a region" hold_says '(0 0|'"$broken"')' io 1
ktap_check "the controller lives" becomes live
hold_ends 0 "the holder ends"
peer_end "regions"
world_end
