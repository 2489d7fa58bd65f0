#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Passthrough by io_uring and with arrays of buffers, used rightly and wrongly, on rings of
# all kinds, on a controller without poll queues and on one that has them.
# timeout: 240
# quick: 6.12 6.1 uml uml-debug

. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stats.sh"

nqn=nqn.io.kdp:uring
rounds=48
((kdp_slowness == 1)) || rounds=12
[[ $MACHINE != uml* ]] || rounds=12

polled_by_rings() {
	local before
	look
	before=$(count poll commands)
	points_from "$programs/uring_abi" --rings "/dev/$ctrl" "$char" 1
	look
	polled=$(($(count poll commands) - before))
}

world_begin
ktap_check "target is up" target_up "$nqn" 16
connected "$KDP_ADDR" "$nqn"
points_from "$programs/uring_abi" "/dev/$ctrl" "$char" 1
points_from "$programs/uring_rights" "/dev/$ctrl" "$char" 1
points_from "$programs/vec_abi" "/dev/$ctrl" "$char" 1
points_from "$programs/uring_race" --rounds "$rounds" "/dev/$ctrl" "$char" 1
ktap_check "the connection has lived through it" test "$(json state)" = live
ktap_check "disconnect" disconnect "$ctrl"

connected "$KDP_ADDR" "$nqn" -P 1 --cq-mode event
polled_by_rings
# two kinds of rings: five writes, five reads, twice 128 reads
ktap_check "IOPOLL rings use the poll queues ($polled commands)" test "$polled" -ge 532
ktap_check "no ring has broken the connection" test "$(json state)" = live
world_end
